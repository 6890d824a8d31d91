"""The setup check and the exercises of notebook 00, start here."""

import re
import sys
from importlib import metadata

from workbook.checks import say

PYTHON = (3, 11)
"""The oldest Python that the project runs with; pyproject.toml says the same."""

BUDGET = 25_000


def setup() -> bool:
    """Prints a line for each thing that the notebooks need, with what to do where it is missing,
    and a last line for all of them. Returns whether everything is there. Nothing is downloaded."""
    ready = True
    for name, check in (
        ("Python", _python),
        ("packages", _packages),
        ("tokenizer", _tokenizer),
        ("account", _account),
    ):
        try:
            good, found = check()
        except (
            Exception
        ) as error:  # whatever is broken, the reader gets one line about it, and the other checks
            good, found = False, f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
        ready &= good
        print(f"{'✓' if good else '✗'}  {name:<10} {found}")
    print(
        "Ready."
        if ready
        else "Not ready: mend the lines with ✗, restart the kernel, and run this cell again."
    )
    return ready


def _python() -> tuple[bool, str]:
    found, least = ".".join(map(str, sys.version_info[:2])), ".".join(map(str, PYTHON))
    return sys.version_info >= PYTHON, f"{found} ({least} or newer is needed)"


def _packages() -> tuple[bool, str]:
    wanted = [
        line
        for line in metadata.requires("toolresults") or []
        if "extra == 'dev'" not in line.replace('"', "'")
    ]
    bounds = [
        match.groups() for line in wanted if (match := re.match(r"([\w.-]+)\s*>=\s*([\d.]+)", line))
    ]
    faults = [f"{name} {least}" for name, least in bounds if not _at_least(name, least)]
    if faults:
        return False, f"missing or too old: {', '.join(faults)}. Run: pip install -e '.[workbook]'"
    return True, f"{len(bounds)} of {len(bounds)} are here, none too old"


def _at_least(name: str, least: str) -> bool:
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return _numbers(found) >= _numbers(least)


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part]
    while numbers and numbers[-1] == 0:  # 2.0 and 2.0.0 are one release
        numbers.pop()
    return tuple(numbers)


def _tokenizer() -> tuple[bool, str]:
    from toolresults.tokens import count_tokens

    found = count_tokens('{"status":"refunded"}')
    return found == 6, f'counts {{"status":"refunded"}} as {found} tokens, without a download'


def _account() -> tuple[bool, str]:
    from workbook.examples.orders.store import OrderStore

    with OrderStore.open() as store:
        orders = store.count()
    return orders == 10_000, f"{orders:,} orders loaded"


def exercise_1(answer: object) -> None:
    """How many of the classic orders still fit one budget of 25,000 tokens."""
    import json

    from toolresults.tokens import count_tokens
    from workbook.examples.orders.data import classic_orders

    orders = classic_orders(400)

    def most(answer: object) -> bool:
        fits = [count_tokens(json.dumps(orders[:n])) <= BUDGET for n in (answer, answer + 1)]
        return type(answer) is int and 0 < answer < len(orders) and fits == [True, False]

    hint = "one order takes about 101 tokens. Divide, then count json.dumps of so many orders, and of one more."
    say(
        answer,
        most,
        "a demo with up to that many orders passes, and says nothing about a real account.",
        hint,
    )


def exercise_2(answer: object) -> None:
    """The reader's own tools, with the most rows that each could return."""

    def named(answer: object) -> bool:
        return bool(answer) and all(
            isinstance(name, str) and type(rows) is int and rows >= 0
            for name, rows in answer.items()
        )

    right = "every tool has a number."
    if isinstance(answer, dict) and all(type(rows) is int for rows in answer.values()):
        large = [str(name) for name, rows in answer.items() if rows > BUDGET // 101]
        if large:
            right = f"measure first: {', '.join(large)}. At 101 tokens a row, as here, that is over {BUDGET:,} tokens."
    say(
        answer,
        named,
        right,
        'give a dict such as {"list_invoices": 12_000}: a name and a whole number for each tool.',
    )
