"""Two tools in front of any number of functions: `search` finds them, `execute` runs code that
calls them.

    registry = Registry()
    registry.register(list_tasks, "crm")
    search, execute = registry.tools()
    search.call({"query": "which tasks are late"}).text    # {"total_matches":1,"shown":1,"items":["crm.list_tasks: …"]}
    execute.call({"code": "crm.list_tasks(overdue=True)['total']"}).text

The tools' definitions say nothing of what is registered: they stay the same bytes, and a prompt
cache that begins with them holds.
"""

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Annotated, Literal, Self

from pydantic import Field

from ..results.budget import BudgetError
from ..tools import Tool, ToolResult
from . import found
from .execute import execute_tool, render
from .functions import HostFunction
from .hints import missing_functions
from .limits import Limits
from .sandbox import open_sandbox
from .search import SearchIndex

BUDGET = 2_000
"""Tokens that one result of either tool may take: ten functions in brief take some 300."""

LEAST_BUDGET = 300
"""Least budget, in tokens, in which any answer of `search` fits: two names of 63 characters are
part of every one.
"""

SHOWN = {"brief": 10, "full": 5}
"""Most functions that a query in words shows; a path or a namespace shows what fits."""

QUERY_CHARS = 20_000
"""Characters of a query in which paths are looked for: room for a list of 500."""

MOST_STUBS = 20
"""Most stubs of one answer, whatever its budget."""


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
        self._description = execute_tool(self._sandbox).description

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

    def search(self, query: str, detail: str = "brief") -> str:
        """The functions that fit `query`: words, a path, several paths, or a namespace. The text is
        a JSON object.

        A path that stands among words comes before what the words find.

        `detail` is "brief" (path and one line each) or "full" (typed stubs). Raises `ValueError`
        for another.
        """
        if detail not in SHOWN:
            raise ValueError(f"unknown detail {detail!r}: use {' or '.join(SHOWN)}")
        functions = self._functions.copy()
        paths = _named(query, functions)
        most = MOST_STUBS if detail == "full" else len(functions)
        if not paths:  # words; a path that stands among them comes first
            paths = [
                path for path in dict.fromkeys(re.findall(r"\w+\.\w+", query)) if path in functions
            ]
            most = max(SHOWN[detail], len(paths))
            paths = list(dict.fromkeys([*paths, *self._index.rank(query)]))
        matching = [
            functions[path] for path in paths if path in functions
        ]  # not what was registered meanwhile
        if not matching:
            return found.none(self.namespaces, self.budget, query)
        if detail == "full":
            return found.full(matching[:most], len(matching), self.budget, self.language)
        return found.brief(matching[:most], len(matching), self.budget)

    def execute(self, code: str) -> str:
        """Runs `code` in the sandbox, and answers with one JSON object within the budget (see
        `execute.render`).

        An error says which functions the code called that are not there, and which are nearest.
        """
        return self._run(code).text

    def _run(self, code: str) -> ToolResult:
        run = self._sandbox.run(code)
        if run.error and (hint := missing_functions(code, run.error, self._functions.copy())):
            run = replace(run, error=f"{run.error}\n{hint}")
        return ToolResult(render(run, self.budget), is_error=run.error is not None)

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

        def execute(
            code: Annotated[str, Field(description=f"{self.language} code.")],
        ) -> ToolResult:
            return self._run(code)

        execute.__doc__ = self._description
        return [Tool(search, budget=self.budget), Tool(execute, budget=self.budget)]

    def close(self) -> None:
        """Ends the sandbox. Safe to call twice."""
        self._sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ):
        self.close()


def _named(query: str, functions: Mapping[str, HostFunction]) -> list[str]:
    """The paths that `query` names outright: by path, by `crm.*`, or by one namespace alone; [] if
    a part does not.
    """
    parts = {
        part.removesuffix("()").lower(): None
        for part in re.split(r"[\s,;`'\"]+", query[:QUERY_CHARS])
        if part
    }
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
