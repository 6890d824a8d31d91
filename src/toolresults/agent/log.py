"""The log of tool calls: one JSON line a call, for pandas or any log system.

    log = json_log("calls.jsonl")
    run(api, client, "Which orders were refunded?", tools, model="…", log=log, tags={"user": "ann"})
    pandas.read_json("calls.jsonl", lines=True).groupby("name").ms.max()  # the slowest tool

Any `logging.Logger` will do in its place: the message of each record is a dict.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TextIO

from ..results.redact import redact
from ..results.shape import cut
from ..tokens import repair, to_json
from .api import Answer

FIELDS = ("time", "turn", "id", "name", "arguments", "status", "ms", "result_tokens")
"""The fields of every record, in order. Tags follow, each a field of its own."""

ARGUMENT_CHARS = 2_000
"""Characters of the arguments that are kept, after redaction."""


def json_log(
    target: str | PathLike | TextIO, *, clock: Callable[[], float] = time.time
) -> logging.Logger:
    """A logger that appends a JSON line to the file `target` (or writes to an open text file) for
    each record.

    `clock` gives the `time` field, in seconds since 1970. The logger is not one of
    `logging.getLogger`'s: two runs with two logs do not mix. A line that cannot be written is
    reported on standard error and stops nothing.
    """
    from pythonjsonlogger.json import JsonFormatter

    if hasattr(target, "write"):
        handler: logging.Handler = logging.StreamHandler(target)
    else:
        handler = logging.FileHandler(target, encoding="utf-8", delay=True)
    handler.setFormatter(JsonFormatter([], json_ensure_ascii=False, json_serializer=_one_line))
    logger = logging.Logger("toolresults.calls", logging.INFO)
    logger.addHandler(handler)

    def stamp(record: logging.LogRecord) -> bool:
        record.msg = {"time": round(clock(), 3)} | record.msg
        return True

    logger.addFilter(stamp)
    return logger


def close_log(logger: logging.Logger) -> None:
    """Closes the file of a `json_log`; on Windows an open file cannot be removed."""
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()


def check_tags(tags: Mapping[str, object] | None) -> dict[str, object]:
    """The tags of a log as a new dict. Raises `ValueError` for one that has the name of a field."""
    if taken := sorted(set(tags or ()) & set(FIELDS)):
        raise ValueError(
            f"a tag cannot be called {', '.join(taken)}: these are fields of every record"
        )
    return dict(tags or {})


def log_call(
    logger: logging.Logger | None,
    arguments: str | Mapping[str, object],
    answer: Answer,
    *,
    turn: int,
    tags: Mapping[str, object] | None = None,
) -> None:
    """Writes the record of one call that ended. Secrets in its arguments are redacted before they
    are cut.
    """
    if logger is None:
        return
    record = {
        "turn": turn,
        "id": answer.id,
        "name": answer.name,
        "arguments": cut(redact(_text(arguments)), ARGUMENT_CHARS),
        "status": answer.status,
        "ms": answer.ms,
        "result_tokens": answer.tokens,
    }
    logger.info(record | check_tags(tags))


def _one_line(*args: object, **options: object) -> str:
    """JSON without the characters at which Unicode too ends a line, and so do some readers of
    logs.
    """
    return json.dumps(*args, **options).translate(
        {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
    )


def _text(arguments: str | Mapping[str, object]) -> str:
    try:
        return repair(arguments) if isinstance(arguments, str) else to_json(arguments)
    except ValueError as error:  # nested deeper than `to_json` goes, say
        return f"({error})"
