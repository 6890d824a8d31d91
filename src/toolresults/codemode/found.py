"""What `search` answers: names with one line each, or typed stubs, as one JSON object that is never
over its budget.

    {"total_matches":12,"shown":10,"items":["crm.list_tasks: Lists tasks, the earliest due
    first.",…]} {"total_matches":12,"shown":2,"stubs":"…","note":"The 2000-token budget left out
    crm.get_task. …"}

Lines and stubs are texts and not objects, since keys and quotes cost tokens in every row and say
nothing here.
"""

from collections.abc import Iterable, Mapping, Sequence

from ..results.budget import longest_fit
from ..results.shape import TEXT_CAP, clean, cut
from ..tokens import count_tokens, to_json
from .functions import HostFunction
from .stubs import dts, pyi

NAMED = 20
"""Most namespaces that a note names."""

_MISSES = 3
"""Stubs that may fail to fit before no smaller one is looked for."""


def brief(functions: Sequence[HostFunction], total: int, budget: int, note: str = "") -> str:
    """One line each for as many of `functions`, the best first, as fit into `budget` tokens;
    `total` is how many match.

    At least one is shown, with its line cut if it must be.
    """

    def render(shown: int, max_chars: int = TEXT_CAP) -> str:
        lines = [
            cut(_line(function), len(function.path) + max_chars) for function in functions[:shown]
        ]
        left = len(functions) - shown
        said = f"The {budget}-token budget cut {len(functions)} functions to {shown}. Search in words for fewer."
        return _answer(total, shown, {"items": lines}, note or (said if left else ""))

    return longest_fit(render, budget, most=len(functions)) or longest_fit(
        lambda chars: render(1, chars), budget
    )


def full(functions: Sequence[HostFunction], total: int, budget: int, language: str) -> str:
    """The stubs of as many of `functions`, the best first, as fit into `budget` tokens; `total` is
    how many match.

    A stub that does not fit is left out for smaller ones, and named. If none fits, none has its
    comments; if still none does, the answer is `brief`.
    """
    for docs in (True, False):
        shown: list[HostFunction] = []
        misses = 0
        for function in functions:
            if (
                count_tokens(
                    _stubs_answer([*shown, function], functions, total, budget, language, docs)
                )
                <= budget
            ):
                shown.append(function)
            elif (misses := misses + 1) == _MISSES:
                break
        if shown:
            return _stubs_answer(shown, functions, total, budget, language, docs)
    return brief(functions, total, budget, f"No stub fits into {budget} tokens.")


def none(namespaces: Mapping[str, int], budget: int, query: str) -> str:
    """What is said when nothing matches: which namespaces there are, with how many functions
    each.
    """
    if not namespaces:
        return _answer(0, 0, {"items": []}, "There are no functions.")
    names = [f"{name} ({count})" for name, count in sorted(namespaces.items())]
    said = (
        "No function matches. Use other words, or a namespace"
        if query.strip()
        else "Say what to do, or a namespace"
    )

    def render(shown: int) -> str:
        more = f" and {len(names) - shown} more" if shown < len(names) else ""
        return _answer(0, 0, {"items": []}, f"{said}: {', '.join(names[:shown])}{more}.")

    return longest_fit(render, budget, most=min(len(names), NAMED))


def stubs(functions: Iterable[HostFunction], language: str, *, docs: bool = True) -> str:
    """Stubs in `language`, "python" or "javascript", each namespace under its name."""
    by_namespace: dict[str, list[HostFunction]] = {}
    for function in functions:
        by_namespace.setdefault(function.namespace, []).append(function)
    if language == "javascript":
        return "".join(dts(group, docs=docs) for group in by_namespace.values())
    return "".join(
        f"# module {name}\n{pyi(group, docs=docs)}" for name, group in by_namespace.items()
    )


def _stubs_answer(
    shown: Sequence[HostFunction],
    functions: Sequence[HostFunction],
    total: int,
    budget: int,
    language: str,
    docs: bool,
) -> str:
    left = [function.path for function in functions if function not in shown]
    more = f" and {len(left) - _MISSES} more" if len(left) > _MISSES else ""
    note = (
        f"The {budget}-token budget left out {', '.join(left[:_MISSES])}{more}. Ask for fewer."
        if left
        else ""
    )
    return _answer(total, len(shown), {"stubs": stubs(shown, language, docs=docs)}, note)


def _line(function: HostFunction) -> str:
    summary = " ".join(clean(function.summary).split())
    return (
        f"{function.path}: {summary}"
        if summary
        else f"{function.path}({', '.join(function.signature.parameters)})"
    )


def _answer(total: int, shown: int, content: Mapping[str, object], note: str) -> str:
    return to_json(
        {"total_matches": total, "shown": shown, **content, **({"note": note} if note else {})}
    )
