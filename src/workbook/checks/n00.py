"""The setup check and the exercises of notebook 00, start here."""

import json
import sys
from importlib import metadata

from workbook.checks import Verdict, exercise

_PYTHON = (3, 11)
"""The oldest Python that the project runs with; pyproject.toml says the same."""

_BUDGET = 25_000


def setup() -> bool:
    """Prints a line for each thing that the notebooks need, with what to do where it is missing,
    and a last line for all of them. Returns whether everything is there. Nothing is downloaded."""
    ready = True
    checks = {
        "Python": _python,
        "packages": _packages,
        "tokenizer": _tokenizer,
        "account": _account,
    }
    for name, check in checks.items():
        try:
            good, found = check()
        except Exception as error:  # whatever is broken: one line about it, and the other checks
            good, found = False, f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
        ready &= good
        print(f"{'✓' if good else '✗'}  {name:<10} {found}")
    mend = "Not ready: mend the lines with ✗, restart the kernel, and run this cell again."
    print("Ready." if ready else mend)
    return ready


def _python() -> tuple[bool, str]:
    found, least = ".".join(map(str, sys.version_info[:2])), ".".join(map(str, _PYTHON))
    return sys.version_info >= _PYTHON, f"{found} ({least} or newer is needed)"


def _packages() -> tuple[bool, str]:
    from packaging.requirements import Requirement  # comes with the kernel, ipykernel

    wanted = [Requirement(line) for line in metadata.requires("toolresults") or []]
    wanted = [one for one in wanted if "dev" not in str(one.marker)]
    faults = [f"{one.name}{one.specifier}" for one in wanted if not _is_here(one)]
    if faults:
        return False, f"missing or unfit: {', '.join(faults)}. Run: pip install -e '.[workbook]'"
    return True, f"{len(wanted)} of {len(wanted)} are here, none too old"


def _is_here(wanted) -> bool:
    try:
        return wanted.specifier.contains(metadata.version(wanted.name), prereleases=True)
    except metadata.PackageNotFoundError:
        return False


def _tokenizer() -> tuple[bool, str]:
    from toolresults.tokens import count_tokens

    found = count_tokens('{"status":"refunded"}')
    return found == 6, f'counts {{"status":"refunded"}} as {found} tokens, without a download'


def _account() -> tuple[bool, str]:
    from workbook.examples.orders.store import OrderStore

    with OrderStore.open() as store:
        orders = store.count()
    return orders == 10_000, f"{orders:,} orders loaded"


@exercise
def exercise_1(answer: int) -> Verdict:
    """How many of the classic orders still fit one budget of 25,000 tokens.

    Correct: a demo with up to that many orders passes, and says nothing about a real account.

    Not yet: one order takes about 101 tokens. Divide, then count json.dumps of so many orders, and
    of one more.
    """
    from toolresults.tokens import count_tokens
    from workbook.examples.orders.data import classic_orders

    orders = classic_orders(400)
    fits = [count_tokens(json.dumps(orders[:n])) <= _BUDGET for n in (answer, answer + 1)]
    return type(answer) is int and 0 < answer < len(orders) and fits == [True, False]


@exercise
def exercise_2(answer: dict[str, int]) -> Verdict:
    """The reader's own tools, with the most rows that each could return.

    Correct: every tool has a number.

    Not yet: give a dict such as {"list_invoices": 12_000}: a name and a whole number for each tool.
    """
    for name, rows in answer.items():
        if not (isinstance(name, str) and type(rows) is int and rows >= 0):
            return False
    if large := [name for name, rows in answer.items() if rows > _BUDGET // 101]:
        over = f"At 101 tokens a row, as here, that is over {_BUDGET:,} tokens."
        return True, f"measure first: {', '.join(large)}. {over}"
    return bool(answer)
