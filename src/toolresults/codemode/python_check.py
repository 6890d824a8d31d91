"""Which findings of the type checker stop a model's code before it runs.

The checker (ty, inside pydantic-monty) knows the host's functions from their stubs, and little of
what the code means to do. A wrong refusal costs the model a turn. So only what cannot work is
refused: calls of the host's functions that do not fit, names that are nowhere, imports that are not
there. All else runs, and fails at run time if it must.
"""

import builtins
import difflib
import json
import re
from collections.abc import Mapping

from ..results.shape import cut

FINDINGS = 3
"""Most findings that are shown; the next run shows the next."""

HINT_CHARS = 200
"""Longest list of parameters or keys that is added to a finding, in characters."""

_CALLS = (
    "unknown-argument",
    "missing-argument",
    "too-many-positional-arguments",
    "invalid-argument-type",
)
_SURE = frozenset(
    ("str", "int", "bool", "list", "dict", "None")
)  # a date or a tuple crosses as text or a list


def refusals(findings: str, code: str, stubs: Mapping[str, str]) -> list[str]:
    """One line for each finding that no run can survive.

    `findings` is the checker's JSON; `stubs` holds the `.pyi` text of each namespace that the code
    may use.
    """
    lines = re.split(r"\r\n|\r|\n", code)
    told = []
    for finding in json.loads(findings):
        row, column = finding["location"]["row"], finding["location"]["column"]
        line = lines[row - 1] if row <= len(lines) else ""
        hint = _hint(finding["code"], finding["message"], code, line[column - 1 :], stubs)
        if hint is not None:
            kind = "SyntaxError: " if finding["code"] == "invalid-syntax" else ""
            message = kind + cut(finding["message"].replace("`", ""), 240)
            told.append(
                f"{message}{hint} (line {row}: {cut(line.strip() or 'end of the code', 120)})"
            )
    return list(dict.fromkeys(told))[:FINDINGS]


def _hint(rule: str, message: str, code: str, at: str, stubs: Mapping[str, str]) -> str | None:
    """What to add to the finding, "" for nothing; None if the code may run. `at` is the code where
    it was found.
    """
    names = re.findall(r"`([^`]*)`", message)
    if rule == "invalid-syntax":
        return ""
    if rule == "unresolved-import":
        return None if "except" in code else ""  # it may go on without
    if rule == "unresolved-reference":
        return (
            None if hasattr(builtins, names[0]) else ""
        )  # the sandbox has more of them than the checker knows
    if rule == "unresolved-attribute" and message.startswith("Module") and names[0] in stubs:
        return _nearest(names[1], stubs[names[0]])
    if (
        rule == "unresolved-attribute"
        and message.startswith("Object of type")
        and _keys(names[0], stubs)
    ):
        return f'. It is a dict: use ["{names[1]}"]'
    if rule == "invalid-key" and (keys := _keys(names[-1], stubs)):
        # a row may be given a key of its own first
        key = message.partition('"')[2].partition('"')[0]
        added = re.search(
            rf"""\[\s*["']{re.escape(key)}["']\s*\]\s*[-+*/|]*=(?!=)|\.(update|setdefault)\(""",
            code,
        )
        return None if added else f". It has {cut(', '.join(keys), HINT_CHARS)}"
    if rule in _CALLS:
        return _of_call(rule, message, at, stubs)
    return None


def _of_call(rule: str, message: str, at: str, stubs: Mapping[str, str]) -> str | None:
    called = re.search(r"function `(\w+)`", message)
    taken = _parameters(called[1], stubs) if called else None
    if taken is None:  # a function of the code itself, or of the language: its types are guessed
        return None
    if rule != "invalid-argument-type":
        return f". It takes {cut(taken or 'no arguments', HINT_CHARS)}"
    types = re.search(r"Expected `(.*)`, found `(.*)`", message)
    if at.startswith("*") or not types:  # what `**filters` holds is guessed
        return None
    expected, found = types.groups()
    if found.startswith("Literal[") and "|" not in found:
        return ""
    # a str where one of three words is wanted may be one of them; "str | None" may be no None
    kind = re.match(r"\w+", found)
    sure = kind and kind[0] in _SURE and "|" not in found and "Literal" not in expected
    return "" if sure and kind[0] not in re.findall(r"\w+", expected) else None


def _parameters(name: str, stubs: Mapping[str, str]) -> str | None:
    found = re.search(rf"^def {name}\((.*)\) -> ", "\n".join(stubs.values()), re.MULTILINE)
    return found and found[1]


def _keys(record: str, stubs: Mapping[str, str]) -> list[str]:
    """The keys of a typed dict of the stubs, [] if there is none of that name."""
    block = re.search(
        rf"^class {re.escape(record)}\(TypedDict\):\n((?:    .*\n)+)",
        "\n".join(stubs.values()),
        re.MULTILINE,
    )
    return re.findall(r"^    (\w+):", block[1], re.MULTILINE) if block else []


def _nearest(name: str, stub: str) -> str:
    near = difflib.get_close_matches(name, re.findall(r"^def (\w+)\(", stub, re.MULTILINE), n=1)
    return f". Did you mean {near[0]}?" if near else ""
