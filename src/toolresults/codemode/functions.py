"""Host functions: what a model's code may call, and the only thing that it may call.

    function = HostFunction(list_tasks, namespace="crm")
    function.call([], {"owner": "ana"})   # plain JSON values cross the border, in both languages

The sandbox grants nothing. A function checks its caller itself, whom the host bound to it and who
is never an argument. Arguments are checked before the function runs, and what it raises is cleaned
before the code sees it.
"""

import builtins
import inspect
import keyword
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..results.cursor import CursorError
from ..results.redact import redact
from ..results.shape import clean, cut
from ..tokens import plain
from ..tools import Arguments, ToolError

log = logging.getLogger(__name__)

MESSAGE_CHARS = 300
"""Longest message of an error of a host function, or of the code, in characters."""

_RESERVED = frozenset(
    """
    abc array asyncio atexit base64 binascii bisect builtins cmath collections copy csv
    dataclasses datetime decimal enum errno faulthandler fcntl functools gc genericpath grp
    hashlib itertools json marshal math mmap os pathlib posix posixpath pwd pyexpat random re
    readline resource select sys syslog termios time tomllib types typing typing_extensions
    unicodedata zlib

    arguments case catch class const constructor console debugger default delete do enum escape
    export extends function globalThis hasOwnProperty instanceof isFinite isNaN let new null
    parseFloat parseInt super switch this throw toString typeof undefined unescape valueOf var
    void Array AsyncDisposableStack Atomics BigInt DataView Date DisposableStack Error
    FinalizationRegistry Infinity Intl Iterator JSON Map Math NaN Number Object Promise Proxy
    Reflect RegExp Set String SuppressedError Symbol Temporal WeakMap WeakRef WeakSet
    clearTimeout decodeURI decodeURIComponent encodeURI encodeURIComponent setTimeout
    """.split()
) | frozenset(dir(builtins)) - {"copyright", "credits", "license"}  # site's, for the prompt
"""No namespace may be called so: modules that the sandbox of Python takes for its own (each was
tried), and what either language calls its own."""

# a path with two parts or more, of Unix or Windows, as tracebacks and OSError show it; a URL keeps
# its own
_PATH = re.compile(
    r"(?<![\w:/.])(?:[A-Za-z]:)?(?:[\\/][\w.@+~-]+){2,}|~/[\w./-]+|\\\\[\w.$-]+\\[\w.$\\-]+"
)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")


class HostError(Exception):
    """What the code gets when a host function fails: a short, clean message. `kind` names a
    built-in exception.
    """

    def __init__(self, kind: str, message: str):
        told = _PATH.sub("[path]", redact(clean(message)))
        super().__init__(cut(" ".join(told.split()) or "failed", MESSAGE_CHARS))
        self.kind = kind


class HostFunction:
    """A typed function of the host as the code sees it: `namespace.name(...)`.

    Each call runs in a thread of its own, so that it can be given up at the end of the run: open a
    connection that belongs to one thread (sqlite3's does, by default) inside the function.

    `words` are search words: what people call the things that it does ("late, to-do"). Search finds
    them, and nothing that a model reads ever shows them, so they cost no tokens. If left out they
    are the function's own attribute `search_words`, where it has one; "" is none.

    Raises `ValueError` for a name that is no identifier or is taken (`_RESERVED`), `TypeError` for
    a parameter without a type hint.
    """

    def __init__(
        self,
        function: Callable[..., object],
        namespace: str,
        name: str | None = None,
        *,
        words: str | None = None,
    ):
        self.function = function
        self.namespace = namespace
        self.name = name or function.__name__
        self.path = f"{namespace}.{self.name}"
        fault = None
        if not all(_NAME.fullmatch(part) for part in (namespace, self.name)):
            fault = "use letters, digits and _ in both parts"
        elif namespace in _RESERVED or keyword.iskeyword(namespace) or keyword.iskeyword(self.name):
            fault = "it uses a name that a language has taken"
        if fault:
            raise ValueError(f"{self.path!r} cannot be called from code: {fault}")
        self.doc = inspect.cleandoc(function.__doc__ or "")
        self.summary = self.doc.partition("\n")[0]
        self.words = getattr(function, "search_words", "") if words is None else words
        self.signature = inspect.signature(function)
        self._arguments = Arguments(self.path, function)

    def call(self, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """Checks the arguments, runs the function, and returns its result as plain JSON values.

        Raises `HostError`, and nothing else: "TypeError" for arguments that do not fit; the
        built-in exception that a `ToolError` of the function also is; "RuntimeError" for everything
        else, without its message.
        """
        try:
            given = self.signature.bind_partial(*args, **kwargs).arguments if args else kwargs
        except TypeError as error:
            takes = ", ".join(self.signature.parameters) or "no arguments"
            raise HostError("TypeError", f"{self.path}: {error}. It takes {takes}") from None
        try:
            try:
                checked = self._arguments.check(given)
            except ToolError as error:
                raise HostError("TypeError", f"{self.path}: {error}") from None
            return plain(self.function(**checked))
        except HostError:
            raise
        except (ToolError, CursorError) as error:
            raise HostError(_kind(error), str(error)) from None
        except BaseException as error:
            # the code gets the kind of failure; the host's log gets the rest
            log.exception("%s failed", self.path)
            told = f"{self.path} failed ({type(error).__name__})"
            raise HostError(
                "RuntimeError", f"{told}. This is not caused by your arguments."
            ) from None


def by_namespace(functions: Iterable[HostFunction]) -> dict[str, list[HostFunction]]:
    """The functions of each namespace, in their order."""
    groups: dict[str, list[HostFunction]] = {}
    for function in functions:
        groups.setdefault(function.namespace, []).append(function)
    return groups


def _kind(error: Exception) -> str:
    """The built-in exception that `error` is too, by name, so that code can catch it by that
    name.
    """
    names = (kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
    name = next(names)
    return "RuntimeError" if name == "Exception" else name
