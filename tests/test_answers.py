"""What the checks of the exercises say to right answers, to the mistakes that people make, and to
nonsense; the folded solutions themselves stand in test_exercises.py.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from inline import notebook
from toolresults.tokens import count_tokens
from workbook.checks import n01, n02, n03, n04, n05, n06, n07, n08, n09, n11

JUNE = {"status": "refunded", "region": "central", "placed_after": "2026-06-01"}
JUNE |= {"placed_before": "2026-07-01"}
SHORT = {"fields": "customer,amount"}
NAMES = ["number", "title", "state", "requester", "opened_at"]
TODAY, LATER = "today", "once old cursors have expired"

BY_MONTH = """
counts = {}
for row in orders.rows(fields=["placed_at", "status"], region="south"):
    n = counts.setdefault(row["placed_at"][:7], [0, 0])
    n[0] += 1
    n[1] += row["status"] == "refunded"
"""
ALL_MONTHS = BY_MONTH + "{month: round(refunded / n, 3) for month, (n, refunded) in counts.items()}"
WORST = BY_MONTH + "max(counts, key=lambda month: counts[month][1] / counts[month][0])"
MOST_ORDERS = BY_MONTH + "max(counts, key=lambda month: counts[month][0])"
THRICE = BY_MONTH + "print(counts)\n" * 3
EVERY_ORDER = 'for row in orders.rows(fields=["placed_at", "status"], region="south"): print(row)'
HARM = {name for name, through in n07.HARM.items() if through}
PAYLOAD = "one order's payload"

TOOLS = {"search_orders": "call again", "issue_refund": "do not repeat", "ask_customer": "keep"}
TOOLS |= {"get_order_payload": "call again"}
HANOI = '{"city":"Hanoi","celsius":31,"summary":"Light rain in Hanoi, 31 degrees."}'
PEOPLE = {"morning": "ready-made", "booking": "plain", "analyst": "code"}

SAID = {  # the number of the exercise, an answer, and how what is said begins
    n01: [
        (1, lambda text, budget: len(text) // 4 <= budget, "Not yet: wrong for "),
        (1, lambda text, budget: len(text.encode("utf-8")) <= budget, "Not yet: wrong for "),
        (1, lambda text, budget: count_tokens(text) < budget, "Not yet: wrong for "),
        (1, lambda text, budget: False, "Not yet: wrong for "),
        (1, lambda text: True, "Not yet: wrong for "),
    ],
    n02: [
        (
            1,
            {**n02.WAYS, "How much did we bill in each month?": "filter"},
            "Not yet: think again about",
        ),
        (1, dict.fromkeys(n02.WAYS, ...), "Not tried yet."),
        (2, [("2026-01-01", "2026-04-01"), ("2026-04-01", "2026-07-01")], "Correct:"),
        (2, [("2026-01-01", "2026-03-31"), ("2026-04-01", "2026-07-01")], "Not yet:"),  # a day lost
        (2, [("2026-01-01", "2026-04-02"), ("2026-04-01", "2026-07-01")], "Not yet:"),  # one twice
        (2, [("2026-01-01", "2026-07-01")], "Not yet:"),
        (2, "January", "Not yet:"),
        (3, {**JUNE, **SHORT, "min_amount": 500}, "Correct:"),
        (3, {**JUNE, "min_amount": 500}, "Not yet:"),  # the right rows, at far too many tokens
        (3, {**JUNE, **SHORT, "min_amount": 501, "limit": 1}, "Not yet:"),
        (3, {"state": "refunded"}, "Not yet:"),  # the API refuses it
    ],
    n03: [
        (1, {"created_at, id"}, "Correct:"),
        (1, {"created_at, id", "updated_at, id"}, "Not yet:"),
        (1, 7, "Not yet:"),
        (2, ["tenant", "tool", "since", "channel"], "Correct:"),
        (2, {"tenant", "tool", "since", "channel", "limit"}, "Not yet:"),
        (2, ..., "Not tried yet."),
        (3, {TODAY: ["old", "new"], LATER: ["new"]}, "Correct:"),
        (
            3,
            {TODAY: ["new", "old"], LATER: ["new"]},
            "Not yet:",
        ),  # goes on signing with the old key
        (3, {TODAY: ["new"], LATER: ["new"]}, "Not yet:"),  # breaks the walks of today
        (3, {TODAY: ["old", "new"], LATER: ["old", "new"]}, "Not yet:"),  # never retires the key
        (3, {TODAY: ["old", "new"], LATER: []}, "Not yet:"),
    ],
    n04: [
        (1, set(NAMES), "Correct"),
        (1, NAMES[:-1], "Not yet: 1 field(s) that a question needs are missing"),
        (1, [*NAMES, "uuid"], "Not yet: uuid"),
        (1, ["Number"], "Not yet: one of the names is not a field"),
        (1, "number", "Not yet"),
        (2, 0.73, "Correct"),
        (2, 73, "Not yet"),
        (2, 0.27, "Not yet"),
        (2, "most", "Not yet"),
        (3, {"wait", "send_email", "update_order_status"}, "Correct"),
        (3, ["wait"], "Not yet"),
        (3, None, "Not yet"),
    ],
    n05: [
        (1, " D", "Correct"),
        (1, "c", "Not yet: the call had limit=10 already"),
        (1, "b", "Not yet: the tool has no parameter"),
        (1, "e", "Not yet: answer with one letter"),
        (1, ["d"], "Not yet"),
        (2, [6, 10], "Correct"),
        (2, (12, 10), "Not yet"),
        (2, 10, "Not yet"),
        (3, (False, True, True), "Correct"),
        (3, [True, True, True], "Not yet"),
        (3, True, "Not yet"),
    ],
    n06: [
        (1, {"html_body", "screenshot"}, "Correct"),
        (1, ["screenshot", "html_body"], "Correct"),
        (1, {"html_body", "screenshot", "subject"}, "Not yet"),
        (1, "html_body", "Not yet"),
        (2, ["redact", "cut", "encode", "count"], "Correct"),
        (2, ["cut", "redact", "encode", "count"], "Not yet: a secret"),
        (2, ["redact", "encode", "cut", "count"], "Not yet: cut before"),
        (2, ["redact", "cut", "count", "encode"], "Not yet: count what"),
        (2, ["redact", "cut"], "Not yet"),
        (3, (12, 6.5), "Correct"),
        (3, [12, 6], "Correct"),
        (3, [11, 6], "Not yet"),
        (3, [12, 12], "Not yet"),
        (3, 12, "Not yet"),
    ],
    n07: [
        (1, ALL_MONTHS, "Correct"),
        (1, WORST, "Correct"),
        (1, MOST_ORDERS, "Not yet: the result does not"),
        (1, "print('2026-01')", "Not yet: the rows come from"),
        (1, EVERY_ORDER, "Not yet: the model would read: stopped at 2000 tokens"),
        (1, THRICE, "Not yet: the result has"),
        (1, "sum(", "Not yet: the model would read: SyntaxError"),
        (1, 5, "Not yet: give the code"),
        (2, HARM, "Correct"),
        (2, [*HARM], "Correct"),
        (2, set(n07.HARM), "Not yet: it is an ordinary process"),
        (2, HARM - {n07.KEY}, "Not yet: its own environment is empty"),
        (2, ..., "Not tried yet"),
        (2, 7, "Not yet"),
        (3, dict(n07.CHOICES), "Correct"),
        (3, n07.CHOICES | {PAYLOAD: "code"}, "Not yet: think again about: one order's"),
        (3, {PAYLOAD: ...}, "Not tried yet"),
        (3, "code", "Not yet"),
    ],
    n08: [
        (1, (42_500, 9.4), "Correct"),
        (1, [42_500, 42_500 / 4_500], "Correct"),
        (1, (42_500, 21.25), "Not yet"),
        (1, (50_000, 9.4), "Not yet"),
        (1, 42_500, "Not yet"),
        (2, TOOLS, "Correct"),
        (
            2,
            TOOLS | {"issue_refund": "call again"},
            "Not yet: what would happen if the model called issue",
        ),
        (2, TOOLS | {"ask_customer": "do not repeat"}, "Not yet: can the answer of ask_customer"),
        (2, list(TOOLS.values()), "Not yet"),
        (2, {}, "Not yet"),
        (3, 12, "Correct"),
        (3, 11.27, "Correct"),
        (3, 11, "Not yet"),
        (3, 14, "Not yet"),
        (3, "twelve", "Not yet"),
    ],
    n09: [
        (1, (4, 6), "Correct"),
        (1, [4, 6], "Correct"),
        (1, (3, 6), "Not yet: which calls wait"),
        (1, 4, "Not yet"),
        (2, HANOI, "Correct"),
        (2, json.loads(HANOI), "Not yet: give the text"),
        (2, f"[{HANOI}]", "Not yet: send one JSON object"),
        (2, HANOI.replace("celsius", "t"), "Not yet: what does 't' mean?"),
        (2, '{"city":"Hanoi","celsius":31}', "Not yet: add one plain sentence"),
        (2, str(json.loads(HANOI)), "Not yet: this is not JSON"),
        (2, "<Weather object at 0x7fa3>", "Not yet: 'at 0x7fa3' is Python's own"),
        (2, str(b"\x89PNG is here."), "Not yet: "),
        (2, ..., "Not tried yet"),
    ],
    n11: [
        (1, PEOPLE, "Correct"),
        (1, PEOPLE | {"booking": "code"}, "Not yet: how much do six definitions weigh"),
        (1, PEOPLE | {"morning": ...}, "Not tried yet"),
        (1, "code", "Not yet"),
        (2, 11, "Correct"),
        (2, 10, "Not yet: with 10 functions both ways read the same"),
        (2, 9, "Not yet"),
        (2, "ten", "Not yet"),
        (3, "list_notes", "Correct"),
        (3, "list_notes()", "Correct"),
        (3, "get_salary", "Not yet: which function takes"),
        (3, ..., "Not tried yet"),
    ],
}
CASES = [(checks, *case) for checks, cases in SAID.items() for case in cases]


@pytest.mark.parametrize(
    ("checks", "number", "answer", "said"),
    CASES,
    ids=[f"{checks.__name__[-3:]}-{number}-{i}" for i, (checks, number, *_) in enumerate(CASES)],
)
def test_an_answer_is_judged(checks, number, answer, said, capsys):
    getattr(checks, f"exercise_{number}")(answer)
    assert capsys.readouterr().out.startswith(said)


def test_the_names_in_the_exercises_of_07_are_those_of_the_checks():
    text = "\n".join(cell.source for cell in notebook("07").cells)
    assert all(f"`{json.dumps(name)}`" in text for name in n07.HARM)
    assert all(f"    {json.dumps(name)}: ...," in text for name in n07.CHOICES)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_a_child_without_an_environment_reads_its_parents():
    """What exercise 2 of 07 takes for a fact."""
    environment = "open(f'/proc/{os.getppid()}/environ', 'rb').read()"
    command = [sys.executable, "-c", f"import os, sys; sys.stdout.buffer.write({environment})"]
    child = subprocess.run(command, env={}, timeout=60, capture_output=True, check=True)
    assert child.stdout == Path("/proc/self/environ").read_bytes()
    assert n07.HARM[n07.KEY]
