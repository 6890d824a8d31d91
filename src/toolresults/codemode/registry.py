"""Two tools in front of any number of functions: `search` finds them, `execute` runs code that
calls them.

    registry = Registry()
    registry.register(list_tasks, "crm")
    search, execute = registry.tools()
    search.call({"query": "late tasks"}).text       # {…,"items":["crm.list_tasks: Lists tasks."]}
    execute.call({"code": "crm.list_tasks(overdue=True)['total']"}).text

The tools' definitions say nothing of what is registered: they stay the same bytes, and a prompt
cache that begins with them holds.

What `search` answers is names with one line each, or typed stubs, as one JSON object that is never
over its budget:

    {"total_matches":12,"shown":10,"items":["crm.list_tasks: Lists tasks, the earliest first.",…]}
    {"total_matches":12,"shown":2,"stubs":"…","note":"The 2000-token budget left out crm.get_task.…"}

Lines and stubs are texts and not objects, since keys and quotes cost tokens in every row and say
nothing here.
"""

import difflib
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field

from ..results.budget import BudgetError, longest_fit
from ..results.shape import TEXT_CAP, clean, cut
from ..tokens import count_tokens, to_json
from ..tools import Tool
from .execute import execute_tool, open_sandbox
from .functions import HostFunction
from .sandbox import Limits, Run
from .stubs import pyi, stubs

BUDGET = 2_000
"""Tokens that one result of either tool may take: ten functions in brief take some 300."""

LEAST_BUDGET = 300
"""Least budget, in tokens, in which any answer of `search` fits: two names of 63 characters are
part of every one.
"""

_SHOWN = {"brief": 10, "full": 5}
"""Most functions that a query in words shows; a path or a namespace shows what fits."""

_QUERY_CHARS = 20_000
"""Characters of a query in which paths are looked for: room for a list of 500."""

_MOST_STUBS = 20
"""Most stubs of one answer, whatever its budget."""

_NAMED = 20
"""Most namespaces that a note names."""

_MISSES = 3
"""Stubs that may fail to fit before no smaller one is looked for, and functions that a note names
as left out, or an error as missing.
"""


class Registry:
    """Functions, what finds them, and a sandbox that runs code with them. Any thread may register,
    search and execute.

    `language` is "python" or "javascript"; `budget` is in tokens for each result; `limits` and
    `files` are the sandbox's. Raises `BudgetError` for a budget under `LEAST_BUDGET`, `ValueError`
    for an unknown language, `RuntimeError` where Python's sqlite3 has no FTS5.
    """

    def __init__(
        self,
        *,
        language: str = "python",
        limits: Limits | None = None,
        budget: int = BUDGET,
        files: Path | None = None,
    ):
        if budget < LEAST_BUDGET:
            raise BudgetError(
                f"a registry needs a budget of {LEAST_BUDGET} tokens at least, got {budget}"
            )
        self.language = language
        self.budget = budget
        self._functions: dict[str, HostFunction] = {}
        self._index = SearchIndex()
        self._lock = threading.Lock()
        self._sandbox = open_sandbox(language, self._functions, limits=limits, files=files)
        self._execute = execute_tool(self._sandbox, budget=budget, explain=self._explained)

    def register(
        self,
        function: Callable[..., object],
        namespace: str,
        name: str | None = None,
        *,
        words: str | None = None,
    ) -> HostFunction:
        """Makes `function` callable from code as `namespace.name(...)`, from the next run and
        search on.

        `words` are what people call what it does: search finds them, and no answer or definition
        shows them. If left out they are the function's attribute `search_words`, where it has one.
        Raises `ValueError` for a path that is taken or that code could not write, `TypeError` for a
        parameter without a type hint.
        """
        added = HostFunction(function, namespace, name, words=words)
        with self._lock:
            if added.path in self._functions:
                raise ValueError(f"{added.path!r} is registered already")
            self._index.add(added)
            self._functions[added.path] = added
        return added

    @property
    def functions(self) -> Mapping[str, HostFunction]:
        """The functions by path, in the order in which they were registered; it grows as more
        are.
        """
        return self._functions

    @property
    def namespaces(self) -> dict[str, int]:
        """How many functions each namespace has."""
        return dict(Counter(function.namespace for function in self._functions.copy().values()))

    def tools(self) -> list[Tool]:
        """The two tools, `search` and `execute`."""

        def search(
            query: Annotated[
                str, Field(description="What to do, in words; or a path or namespace.")
            ],
            detail: Annotated[
                Literal["brief", "full"],
                Field(description="brief: a line each. full: typed stubs."),
            ] = "brief",
        ) -> str:
            """Finds the functions that code in execute can call, best first. Look at stubs before
            you write code.
            """
            return self.search(query, detail)

        return [Tool(search, budget=self.budget), self._execute]

    def execute(self, code: str) -> str:
        """Runs `code` in the sandbox, and answers with one JSON object within the budget (see
        `execute.render`).

        An error says which functions the code called that are not there, and which are nearest.
        """
        return self._execute.function(code).text

    def _explained(self, code: str, run: Run) -> Run:
        hint = run.error and _missing(code, run.error, self._functions.copy())
        return replace(run, error=f"{run.error}\n{hint}") if hint else run

    def search(self, query: str, detail: str = "brief") -> str:
        """The functions that fit `query`: words, a path, several paths, or a namespace. The text is
        a JSON object.

        A path that stands among words comes before what the words find.

        `detail` is "brief" (path and one line each) or "full" (typed stubs). Raises `ValueError`
        for another.
        """
        if detail not in _SHOWN:
            raise ValueError(f"unknown detail {detail!r}: use {' or '.join(_SHOWN)}")
        functions = self._functions.copy()
        paths = _named(query, functions)
        most = _MOST_STUBS if detail == "full" else len(functions)
        if not paths:
            among = [path for path in re.findall(r"\w+\.\w+", query) if path in functions]
            most = max(_SHOWN[detail], len(set(among)))
            paths = dict.fromkeys([*among, *self._index.rank(query)])
        # not what was registered meanwhile
        matching = [functions[path] for path in paths if path in functions]
        if not matching:
            return self._nothing(query)
        answer = self._full if detail == "full" else self._brief
        return answer(matching[:most], len(matching))

    def _brief(self, functions: Sequence[HostFunction], total: int, note: str = "") -> str:
        """One line each for as many of `functions`, the best first, as fit; `total` is how many
        match.

        At least one is shown, with its line cut if it must be.
        """

        def render(shown: int, max_chars: int = TEXT_CAP) -> str:
            lines = [cut(_line(one), len(one.path) + max_chars) for one in functions[:shown]]
            said = (
                f"The {self.budget}-token budget cut {len(functions)} functions to {shown}. "
                "Search in words for fewer."
            )
            left_out = shown < len(functions)
            return _answer(total, shown, items=lines, note=note or (said if left_out else ""))

        return longest_fit(render, self.budget, most=len(functions)) or longest_fit(
            lambda chars: render(1, chars), self.budget
        )

    def _full(self, functions: Sequence[HostFunction], total: int) -> str:
        """The stubs of as many of `functions`, the best first, as fit; `total` is how many match.

        A stub that does not fit is left out for smaller ones, and named. If none fits, none has its
        comments; if still none does, the answer is in brief.
        """

        def render(shown: Sequence[HostFunction], docs: bool) -> str:
            left = [function.path for function in functions if function not in shown]
            more = f" and {len(left) - _MISSES} more" if len(left) > _MISSES else ""
            named = ", ".join(left[:_MISSES])
            note = f"The {self.budget}-token budget left out {named}{more}. Ask for fewer."
            text = stubs(shown, self.language, docs=docs)
            return _answer(total, len(shown), stubs=text, note=note if left else "")

        for docs in (True, False):
            shown: list[HostFunction] = []
            misses = 0
            for function in functions:
                if count_tokens(render([*shown, function], docs)) <= self.budget:
                    shown.append(function)
                elif (misses := misses + 1) == _MISSES:
                    break
            if shown:
                return render(shown, docs)
        return self._brief(functions, total, f"No stub fits into {self.budget} tokens.")

    def _nothing(self, query: str) -> str:
        """What is said when nothing matches: which namespaces there are, with how many functions
        each.
        """
        names = [f"{name} ({count})" for name, count in sorted(self.namespaces.items())]
        if not names:
            return _answer(0, 0, items=[], note="There are no functions.")
        said = "No function matches. Use other words" if query.strip() else "Say what to do"

        def render(shown: int) -> str:
            more = f" and {len(names) - shown} more" if shown < len(names) else ""
            told = f"{said}, or a namespace: {', '.join(names[:shown])}{more}."
            return _answer(0, 0, items=[], note=told)

        return longest_fit(render, self.budget, most=min(len(names), _NAMED))

    def close(self) -> None:
        """Ends the sandbox. Safe to call twice."""
        self._sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _named(query: str, functions: Mapping[str, HostFunction]) -> list[str]:
    """The paths that `query` names outright: by path, by `crm.*`, or by one namespace alone; [] if
    a part does not.
    """
    split = re.split(r"[\s,;`'\"]+", query[:_QUERY_CHARS])
    parts = list(dict.fromkeys(part.removesuffix("()").lower() for part in split if part))
    named: dict[str, None] = {}
    for part in parts:
        whole = part.removesuffix(".*") if part.endswith(".*") or len(parts) == 1 else ""
        matching = [
            path
            for path in functions
            if path.lower() == part or functions[path].namespace.lower() == whole
        ]
        if not matching:
            return []
        named |= dict.fromkeys(matching)
    return list(named)


def _line(function: HostFunction) -> str:
    if summary := " ".join(clean(function.summary).split()):
        return f"{function.path}: {summary}"
    return f"{function.path}({', '.join(function.signature.parameters)})"


def _answer(total: int, shown: int, *, note: str, **content: object) -> str:
    said = {"note": note} if note else {}
    return to_json({"total_matches": total, "shown": shown, **content, **said})


def _missing(code: str, error: str, functions: Mapping[str, HostFunction]) -> str:
    """One sentence for each call in `code` of a function that is not there, with the nearest that
    is; "" if none.

    `error` is what the run ended with: only names that it mentions count. A name that is no
    namespace may be a variable of the code, so it counts only if some function's path is nearly the
    same.
    """
    namespaces = {function.namespace for function in functions.values()}
    mentioned = set(re.findall(r"\w+", error))
    told = []
    for path in dict.fromkeys(re.findall(r"(?<![\w.])([A-Za-z]\w*\.[A-Za-z]\w*)\s*\(", code)):
        namespace, name = path.split(".")
        if path in functions or not {namespace, name} <= mentioned:
            continue
        if near := difflib.get_close_matches(path, functions, 1, 0.8):
            # the type checker of Python says so itself
            if f"Did you mean {functions[near[0]].name}?" not in error:
                told.append(f"There is no {path}. Did you mean {near[0]}?")
        elif namespace in namespaces:
            told.append(f"There is no {path}. Find the function with search.")
    return " ".join(told[:_MISSES])


# ---- functions by relevance to a query in free words

_WEIGHTS = {"name": 8.0, "namespace": 2.0, "summary": 4.0, "words": 4.0, "rest": 2.0, "stub": 1.0}
"""How much a word counts by where it stands.

`words` are the function's search words (see `HostFunction`). They count like the summary, since
they too say what the function does, but in the words of those who ask ("late" for overdue). `rest`
is the docstring after its first line. Search shows neither. `stub` holds parameters, their values,
and the fields of the result.
"""

_MOST_WORDS = 64
"""Words of a query that are looked at: more is no question, but a document."""

_STOP_WORDS = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have her his how i if
    in into is it its me my no not of on or our out she he so some that the their them then there
    these they this those to us was we were what when where which who whom whose why will with would
    you your please want need
    """.split()
)
"""Words that say how a question is put and not what it is about."""

_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(text: str) -> list[str]:
    """The words of a text or an identifier, in lower case: `listOpenTasks`, `list_open_tasks` and
    prose alike.
    """
    return re.findall(r"[^\W_]+", _CASE.sub(" ", text).lower())


class SearchIndex:
    """Functions by relevance: BM25 over names, docstrings, search words and stubs (SQLite's FTS5).
    Any thread may add or ask.

    Raises `RuntimeError` where Python's sqlite3 was built without FTS5.
    """

    def __init__(self):
        self._lock = threading.Lock()
        # a connection belongs to the thread that made it unless told otherwise; the lock then keeps
        # order
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        columns = ", ".join(["path UNINDEXED", *_WEIGHTS])
        try:
            self._db.execute(
                f"CREATE VIRTUAL TABLE functions USING fts5({columns}, tokenize=porter)"
            )
        except sqlite3.OperationalError as error:
            raise RuntimeError(
                f"search needs SQLite's FTS5, which this Python's sqlite3 lacks ({error})"
            ) from None

    def add(self, function: HostFunction) -> None:
        """Makes `function` findable."""
        rest = function.doc.partition("\n")[2]
        texts = [function.name, function.namespace, function.summary, function.words, rest]
        texts.append(pyi([function], docs=True))
        row = [function.path, *(" ".join(words(text)) for text in texts)]
        with self._lock:
            self._db.execute(f"INSERT INTO functions VALUES ({', '.join('?' * len(row))})", row)

    def rank(self, query: str) -> list[str]:
        """The paths of all functions that share a word with `query`, the most relevant first; ties
        by path.

        A function whose name is the query comes before all others. Any text is a query: it has no
        operators.
        """
        asked = words(query)
        telling = [word for word in asked if word not in _STOP_WORDS] or asked
        telling = list(dict.fromkeys(telling))[:_MOST_WORDS]
        if not telling:
            return []
        match = " OR ".join(f'"{word}"' for word in telling)
        weights = ", ".join(map(str, (0.0, *_WEIGHTS.values())))  # path is a column too
        sql = f"SELECT name != ?, bm25(functions, {weights}), path FROM functions"
        with self._lock:
            found = self._db.execute(
                f"{sql} WHERE functions MATCH ?", (" ".join(asked), match)
            ).fetchall()
        return [path for *_, path in sorted(found)]
