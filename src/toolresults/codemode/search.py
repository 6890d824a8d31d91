"""Functions by relevance to a query in free words: BM25 over names, docstrings, search words, stubs
(SQLite's FTS5).

index = SearchIndex()
index.add(HostFunction(list_tasks, "crm"))
index.rank("which tasks are late")   # ["crm.list_tasks"]
"""

import re
import sqlite3
import threading

from .functions import HostFunction
from .stubs import pyi

WEIGHTS = {"name": 8.0, "namespace": 2.0, "summary": 4.0, "words": 4.0, "rest": 2.0, "stub": 1.0}
"""How much a word counts by where it stands.

`words` are the function's search words (see `HostFunction`). They count like the summary, since
they too say what the function does, but in the words of those who ask ("late" for overdue). `rest`
is the docstring after its first line. Search shows neither. `stub` holds parameters, their values,
and the fields of the result.
"""

MOST_WORDS = 64
"""Words of a query that are looked at: more is no question, but a document."""

STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have her his how i if in into is it its "
    "me my no not of on or our out she he so some that the their them then there these they this those to us was we "
    "were what when where which who whom whose why will with would you your please want need".split()
)
"""Words that say how a question is put and not what it is about."""

_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(text: str) -> list[str]:
    """The words of a text or an identifier, in lower case: `listOpenTasks`, `list_open_tasks` and
    prose alike.
    """
    return re.findall(r"[^\W_]+", _CASE.sub(" ", text).lower())


class SearchIndex:
    """Functions by relevance. Any thread may add or ask.

    Raises `RuntimeError` where Python's sqlite3 was built without FTS5.
    """

    def __init__(self):
        self._lock = threading.Lock()
        # a connection belongs to the thread that made it unless told otherwise; the lock then keeps
        # order
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        try:
            self._db.execute(
                f"CREATE VIRTUAL TABLE functions USING fts5(path UNINDEXED, {', '.join(WEIGHTS)}, tokenize=porter)"
            )
        except sqlite3.OperationalError as error:
            raise RuntimeError(
                f"search needs SQLite's FTS5, which this Python's sqlite3 lacks ({error})"
            ) from None

    def add(self, function: HostFunction) -> None:
        """Makes `function` findable."""
        rest = function.doc.partition("\n")[2]
        texts = (
            function.name,
            function.namespace,
            function.summary,
            function.words,
            rest,
            pyi([function], docs=True),
        )
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
        telling = [word for word in asked if word not in STOP_WORDS] or asked
        telling = list(dict.fromkeys(telling))[:MOST_WORDS]
        if not telling:
            return []
        match = " OR ".join(f'"{word}"' for word in telling)
        weights = ", ".join(
            str(weight) for weight in (0.0, *WEIGHTS.values())
        )  # path is a column too
        with self._lock:
            found = self._db.execute(
                f"SELECT name != ?, bm25(functions, {weights}), path FROM functions WHERE functions MATCH ?",
                (" ".join(asked), match),
            ).fetchall()
        return [path for *_, path in sorted(found)]
