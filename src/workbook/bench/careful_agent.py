"""Eighteen questions about the account, and a careful agent that answers them with whatever its
tools offer.

Three rounds of six kinds. Four kinds ask the shop: lookup, filter, needle in the middle, whole-set
aggregate. Two look back at a listing of this session: join by id, absence. Where one result holds
everything, a question of the first four takes two turns (a call, an answer) and one that looks back
takes one: so a round is ten turns, and three are thirty.

The agent is a program, not a model: it uses only the messages of the request in front of it. It
sees what a result says of itself (how many match, a cursor, a cut, a ref), goes on where an answer
needs more, `MOST_CALLS` further calls at most, and gives up where it can see that these would not
do.

Where it may write code, it does so to compute and to search (filter, needle, aggregate, absence),
and lists where rows are to be looked at (lookup, join). Its code is right at the first try, which a
real model's not always is.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolresults.agent.api import Api, Message
from toolresults.results.shape import ELLIPSIS
from toolresults.scripted import Reply
from toolresults.tools import Tool
from workbook.examples.orders.store import OrderStore
from workbook.examples.orders.tools import FIELDS, MAX_LIMIT

from .harness import MOST_CALLS, GiveUp, Made, Seen, see
from .techniques import Technique, everything, naive

Row = Mapping[str, Any]


class Ask(Exception):
    """The agent needs a call. Its argument is the call."""


@dataclass(frozen=True)
class Question:
    """A question: its kind, its words, the agent's program for it, and whether it looks back."""

    kind: str
    text: str
    program: Callable[["Agent"], Any]
    looks_back: bool = False


class Agent:
    """What the agent has in front of it for one question: its tools, the calls that it made for
    this question, and those from `before` that it goes by."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        question: Question,
        now: Sequence[Seen] = (),
        before: Sequence[Seen] = (),
    ):
        self.writes_code = "execute" in tools
        self.parameters = tools["search_orders"].parameters
        self.question, self.now = question, now
        self.shown = [seen for seen in (*before, *now) if not seen.cleared]

    @property
    def further(self) -> int:
        """Calls made for this question beyond what it takes where one result holds everything."""
        return len(self.now) - (0 if self.question.looks_back else min(len(self.now), 1))

    def left(self) -> int:
        """Calls that may still be made for this question."""
        return MOST_CALLS + (not self.question.looks_back) - len(self.now)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """The result of a call: as it is shown, or by making it."""
        for seen in reversed(self.shown):
            if (seen.name, seen.arguments) == (name, arguments):
                return seen.result
        if self.left() < 1:
            raise GiveUp
        raise Ask((name, dict(arguments)))

    def compute(self, code: str) -> Any:
        """What the code ends with. Raises `ValueError` if it fails."""
        return _checked(self.call("execute", {"code": code}))["value"]

    def listed(self, fields: Sequence[str], **filters: Any) -> bool:
        """Whether a listing was shown, its first page at least, and is not cleared."""
        made = "search_orders", self._listing(fields, filters)
        return any((seen.name, seen.arguments) == made for seen in self.shown)

    def _listing(self, fields: Sequence[str], filters: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a listing's first page: as many orders as a page holds."""
        short = set(fields) <= set(FIELDS["concise"])
        wanted = {
            **filters,
            "limit": MAX_LIMIT,
            "response_format": "concise" if short else "detailed",
        }
        return {name: value for name, value in wanted.items() if name in self.parameters}

    def pages(self, fields: Sequence[str], **filters: Any) -> Iterator[tuple[int, int, list[Row]]]:
        """(how many match, rows so far, rows) of each page of a listing; one page where the tool
        has no pages."""
        arguments, seen = self._listing(fields, filters), 0
        while True:
            page = self.call("search_orders", arguments)
            if isinstance(page, list):  # nothing but rows: as far as the agent can tell, all
                rows = [row for row in page if "status" in self.parameters or _fits(row, filters)]
                yield len(rows), len(rows), rows
                return
            seen += len(_checked(page)["items"])
            yield page["total_matches"], seen, page["items"]
            if not page["next_cursor"]:
                return
            arguments = {**arguments, "cursor": page["next_cursor"]}

    def all(self, fields: Sequence[str], **filters: Any) -> list[Row]:
        """Every row of a listing. Gives up on the first page if the rest takes more calls than may
        be made."""
        found: list[Row] = []
        for total, seen, rows in self.pages(fields, **filters):
            found += rows
            if total - seen > self.left() * len(rows):
                raise GiveUp
        return found

    def order(self, order_id: str, **filters: Any) -> Row | None:
        """The row of an order in a listing, None if it is not in it: no page more than that
        takes."""
        pages = self.pages(_WHOLE_ROW, **filters)
        rows = (row for _, _, rows in pages for row in rows)
        return next((row for row in rows if row["order_id"] == order_id), None)

    def read(self, row: Row, field: str, pattern: str, **size: int) -> str:
        """What a pattern finds in a long text of an order, which may stand in the row, or behind a
        ref. `size` is the window's, if not the tool's own."""
        ref = row.get("payload_ref") if field == "raw_payload" else row.get(f"{field}_ref")
        if not ref:
            return _find(pattern, row[field], whole=not row[field].endswith(ELLIPSIS))
        text, window = "", {"payload_ref": ref, **size}
        while True:
            shown = self.call("get_order_payload", window)
            text += shown["text"]
            if shown["next_offset"] is None or re.search(pattern, text):
                return _find(pattern, text, whole=shown["next_offset"] is None)
            window = {**window, "offset": shown["next_offset"]}


class CarefulPolicy:
    """The agent as the policy of a scripted model: it knows nothing but the messages that are
    sent. `answered` keeps (question, answer, further calls) of each answer; None: it gave up."""

    def __init__(
        self, api: Api, technique: Technique, tools: Mapping[str, Tool], asked: Sequence[Question]
    ):
        self.api, self.technique, self.tools = api, technique, tools
        self.questions = {question.text: question for question in asked}
        self.answered: list[tuple[Question, Any, int]] = []

    def __call__(self, messages: Sequence[Message]) -> Reply:
        at = max(i for i, message in enumerate(messages) if self.api.is_question(message))
        question = self.questions[messages[at]["content"]]
        looks_back = question.looks_back or not self.technique.asks_again
        before = see(self.api, messages[:at]) if looks_back else []
        agent = Agent(self.tools, question, see(self.api, messages[at:]), before)
        call, answer = _solve(agent)
        if call:
            return Reply(calls=[call])
        self.answered.append((question, answer, agent.further))
        if answer is None:
            return Reply("I cannot tell from what the tools show me.")
        return Reply(f"The answer is {', '.join(answer) if isinstance(answer, list) else answer}.")


@lru_cache
def truth(question: Question, store: OrderStore) -> Any:
    """The answer from the whole account: the same program, with every row of it in front."""
    every = Seen("", "search_orders", {}, everything(store))
    return _solve(Agent(naive(store), question, [every]))[1]


def _solve(agent: Agent) -> tuple[Made | None, Any]:
    """What the agent does next: a call, or (None and) its answer, which is None if it gives up."""
    try:
        return None, agent.question.program(agent)
    except Ask as ask:
        return ask.args[0], None
    except GiveUp:
        return None, None


def _checked(result: Mapping[str, Any]) -> Mapping[str, Any]:
    if "error" in result:
        raise ValueError(result["error"])
    return result


def _find(pattern: str, text: str, whole: bool) -> str:
    found = re.search(pattern, text)
    if not found or (pattern.endswith("$") and not whole):
        raise GiveUp
    return found[1]


def _fits(row: Row, filters: Mapping[str, Any]) -> bool:
    tests = {
        "min_amount": lambda least: (row["amount"] or 0) >= least,
        "placed_after": lambda first: row["placed_at"] >= first,
        "placed_before": lambda end: row["placed_at"] < end,
    }
    return all(
        tests[name](value) if name in tests else row[name] == value
        for name, value in filters.items()
    )


# The questions

_WHOLE_ROW = ("order_id", "placed_at", "note", "raw_payload")
"""Fields that only a detailed row has."""


def _days(first: str, before: str) -> dict[str, str]:
    return {"placed_after": first, "placed_before": before}


def _rows(*fields: str, **filters: Any) -> str:
    """The call that fetches these rows in code, as a model writes it."""
    given = "".join(f", {name}={json.dumps(value)}" for name, value in filters.items())
    return f"orders.rows({json.dumps(fields)}{given})"


def _of(order_id: str, what: str, field: str, **filters: Any) -> str:
    """Code that fetches something of one order, by its id."""
    rows = _rows("order_id", field, **filters)
    return f'[{what} for row in {rows} if row["order_id"] == "{order_id}"]'


def _in_words(filters: Mapping[str, Any]) -> str:
    said = {
        "status": "{}",
        "region": "in the {}",
        "min_amount": "of {} or more",
        "placed_after": "from {}",
        "placed_before": "until before {}",
    }
    words = " ".join(said[name].format(value) for name, value in filters.items())
    return words.replace("central", "centre")


def _either(
    code: str, by_rows: Callable[[Agent], Any], read: Callable[[Any], Any] = lambda value: value
) -> Callable[[Agent], Any]:
    """A program: `read` of what the code ends with where it may be written, else `by_rows`."""
    return lambda agent: read(agent.compute(code)) if agent.writes_code else by_rows(agent)


def _amount(order_id: str, **filters: Any) -> Question:
    def program(agent: Agent) -> float | None:
        row = agent.order(order_id, **filters)
        return row and row["amount"]

    text = f"What is the amount of {order_id}? It was {_in_words(filters)}."
    return Question("lookup", text, program)


def _over(least: int, **filters: Any) -> Question:
    def by_rows(agent: Agent) -> list[str]:
        rows = agent.all(("customer", "amount"), **filters)
        return [row["customer"] for row in rows if (row["amount"] or 0) > least]

    rows = _rows("customer", "amount", **filters)
    code = f'[row["customer"] for row in {rows} if (row["amount"] or 0) > {least}]'
    text = f"Whose orders are over {least:,}, of those {_in_words(filters)}?"
    return Question("filter", text, _either(code, by_rows))


def _declined(**filters: Any) -> Question:
    """The user's word for a status is not the shop's: an agent that can filter tries it first, and
    is told."""

    def named(status: str) -> Callable[[Agent], list[str]]:
        def by_rows(agent: Agent) -> list[str]:
            rows = agent.all(("customer",), status=status, **filters)
            return sorted({row["customer"] for row in rows if (row["amount"] or 0) > 400})

        rows = _rows("customer", "amount", status=status, **filters)
        big = f'{{row["customer"] for row in {rows} if (row["amount"] or 0) > 400}}'
        return _either(f"sorted({big})", by_rows)

    def program(agent: Agent) -> list[str]:
        if "status" in agent.parameters:
            try:
                return named("declined")(agent)
            except ValueError:  # it names the statuses that there are
                pass
        return named("failed")(agent)

    text = f"Whose orders over 400 were declined, of those {_in_words(filters)}?"
    return Question("filter", text, program)


def _when(order_id: str, **filters: Any) -> Question:
    def by_rows(agent: Agent) -> str | None:
        row = agent.order(order_id, **filters)
        return row and row["placed_at"]

    code = _of(order_id, 'row["placed_at"]', "placed_at", **filters)
    text = f"At what time was {order_id} placed? It is one of those {_in_words(filters)}."
    return Question("needle", text, _either(code, by_rows, lambda times: times[0]))


def _inside(
    order_id: str, field: str, what: str, pattern: str, code: str, **filters: Any
) -> Question:
    """`pattern` finds the answer in the field, and in the text that `code` ends with."""

    def by_rows(agent: Agent) -> str | None:
        row = agent.order(order_id, **filters)
        return row and agent.read(row, field, pattern, max_chars=8_000)

    program = _either(code, by_rows, lambda texts: re.search(pattern, texts[0])[1])
    return Question("needle", f"{what} {order_id}, {_in_words(filters)}?", program)


def _total(**filters: Any) -> Question:
    def by_rows(agent: Agent) -> float:
        return round(sum(row["amount"] or 0 for row in agent.all(("amount",), **filters)), 2)

    code = f'round(sum(row["amount"] or 0 for row in {_rows("amount", **filters)}), 2)'
    text = f"What do all orders {_in_words(filters)} come to?"
    return Question("aggregate", text, _either(code, by_rows))


def _count(**filters: Any) -> Question:
    def by_rows(agent: Agent) -> int:
        return next(agent.pages(("amount",), **filters))[0]

    text = f"How many orders are there {_in_words(filters)}?"
    return Question("aggregate", text, _either(f"len({_rows('order_id', **filters)})", by_rows))


def _card(place: int, **filters: Any) -> Question:
    def program(agent: Agent) -> str:
        rows = next(agent.pages(_WHOLE_ROW, **filters))[2]
        if len(rows) < place:
            rows = agent.all(_WHOLE_ROW, **filters)
        return agent.read(rows[place - 1], "raw_payload", r'"network":"(\w+)"')

    text = f"You listed those {_in_words(filters)}. What card paid for number {place} of them?"
    return Question("join", text, program, looks_back=True)


def _among(order_id: str, **filters: Any) -> Question:
    code = f'"{order_id}" in [row["order_id"] for row in {_rows("order_id", **filters)}]'

    def program(agent: Agent) -> str:
        if agent.writes_code and not agent.listed(_WHOLE_ROW, **filters):
            return "yes" if agent.compute(code) else "no"
        return "yes" if agent.order(order_id, **filters) else "no"

    text = f"You listed those {_in_words(filters)}. Is {order_id} one of them?"
    return Question("absence", text, program, looks_back=True)


_EARLY_MAY = {"status": "refunded", "region": "south", **_days("2026-05-01", "2026-05-03")}
_JANUARY = {"status": "pending", "region": "north", **_days("2026-01-28", "2026-01-30")}
_MAY = {"status": "refunded", "region": "north", **_days("2026-05-01", "2026-06-01")}
_CHAT = {"status": "refunded", "region": "central", **_days("2026-05-23", "2026-05-24")}
_DELIVERIES = {"status": "refunded", "region": "south", **_days("2026-06-11", "2026-06-12")}
_LARGE = {"status": "refunded", "region": "central", "min_amount": 500}
_WAITING = {"status": "pending", "region": "central", "min_amount": 300}

_LAST_LINE = _of("ord_007758", '(row["note"] or "").splitlines()[-1]', "note", **_CHAT)

_AROUND_84 = 'import re\nre.findall(r".{60}\\b84\\b.{60}", orders.payload("ord_008870"))'
"""What stands around every 84: whoever writes it has not seen how the gateway writes a delivery."""

ROUNDS: tuple[tuple[Question, ...], ...] = (
    (
        _amount("ord_006610", **_EARLY_MAY),
        _over(1_500, **_LARGE),
        _when("ord_007445", **_MAY),
        _total(status="refunded", region="south"),
        _card(3, **_LARGE),
        _among("ord_007445", **_MAY),
    ),
    (
        _amount("ord_001384", **_JANUARY),
        _declined(region="north", **_days("2026-03-01", "2026-04-01")),
        _inside("ord_007758", "note", "What does the last line of the note say, of", r"([^\n]+)$",
                _LAST_LINE, **_CHAT),
        _count(status="failed", region="north"),
        _card(2, **_CHAT),
        _among("ord_007717", **_CHAT),
    ),
    (
        _amount("ord_002977", status="paid", region="central", **_days("2026-02-27", "2026-03-01")),
        _over(1_000, **_WAITING),
        _inside("ord_008870", "raw_payload", "What status did delivery attempt 84 get, of",
                r'"attempt":84,"status":(\d+)', _AROUND_84, **_DELIVERIES),
        _total(status="failed", region="central"),
        _card(5, **_LARGE),
        _among("ord_006700", **_MAY),
    ),
)  # fmt: skip
"""Each round has every kind once."""

TEN, THIRTY = ROUNDS[0], sum(ROUNDS, ())
"""The questions of a session of ten turns, and of thirty."""
