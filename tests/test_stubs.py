"""Stubs: what a type checker and a model read about a function, in Python and in TypeScript."""

import datetime as dt
import decimal
import enum
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

import pydantic_monty as monty
import pytest
from pydantic import BaseModel, Field

from toolresults.codemode.functions import HostFunction
from toolresults.codemode.stubs import dts, pyi
from toolresults.tools import Moment, Number, Whole


class Owner(TypedDict):
    name: Annotated[str, Field(description="Full\nname.")]
    since: dt.date


class Task(TypedDict):
    id: int
    owner: Owner | None
    parent: "Task | None"
    amount: decimal.Decimal
    note: NotRequired[str]


class Partial(TypedDict, total=False):
    seen: bool
    sure: "Required[int]"


Odd = TypedDict("Odd", {"a-b": int, "class": NotRequired[str]})


@dataclass
class Point:
    x: float
    label: str = ""


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def list_tasks(
    owner: Annotated[str | None, Field(description="Only theirs.")] = None,
    status: Literal["open", "done"] = "open",
    limit: Annotated[Whole, Field(description="Rows.")] = 20,
    least: Number | None = None,
    since: Moment | None = None,
) -> list[Task]:
    """Lists tasks, "newest" first. */

    More, which no stub shows.
    """


def move(
    task_id: int,
    *,
    colour: Colour = Colour.RED,
    many: list[int] = [1],  # noqa: B006
    top: int = None,
) -> Odd: ...


def plain_result(point: Point, when: dt.datetime) -> None: ...


FUNCTIONS = [HostFunction(function, "crm") for function in (list_tasks, move, plain_result)]

PYI = """\
from typing import Literal, NotRequired, TypedDict
class Task(TypedDict):
    id: int
    owner: Owner | None
    parent: Task | None
    amount: float
    note: NotRequired[str]
Odd = TypedDict('Odd', {'a-b': int, 'class': NotRequired[str]})
class Point(TypedDict):
    x: float
    label: str
class Owner(TypedDict):
    name: str
    since: str
def list_tasks(owner: str | None = None, status: Literal['open', 'done'] = 'open', limit: int = 20, \
least: float | None = None, since: str | None = None) -> list[Task]: ...
def move(task_id: int, *, colour: Literal['red', 'blue'] = ..., many: list[int] = ..., top: int | None = None) \
-> Odd: ...
def plain_result(point: Point, when: str) -> None: ...
"""

DTS = """\
declare namespace crm {
  interface Task { id: number; owner: Owner | null; parent: Task | null; amount: number; note?: string }
  interface Odd { 'a-b': number; class?: string }
  interface Point { x: number; label: string }
  interface Owner { name: string; since: string }
  function list_tasks(args?: { owner?: string | null; status?: 'open' | 'done'; limit?: number; \
least?: number | null; since?: string | null }): Promise<Task[]>;
  function move(args: { task_id: number; colour?: 'red' | 'blue'; many?: number[]; top?: number | null }): Promise<Odd>;
  function plain_result(args: { point: Point; when: string }): Promise<null>;
}
"""

PYI_FOR_READERS = """\
class Task(TypedDict):
    id: int
    owner: Owner | None
    parent: Task | None
    amount: float
    note: NotRequired[str]
class Owner(TypedDict):
    name: str  # Full name.
    since: str
# Lists tasks, "newest" first. */
def list_tasks(
    owner: str | None = None,  # Only theirs.
    status: Literal['open', 'done'] = 'open',
    limit: int = 20,  # Rows.
    least: float | None = None,
    since: str | None = None,
) -> list[Task]: ...
"""

DTS_FOR_READERS = """\
declare namespace crm {
  interface Task { id: number; owner: Owner | null; parent: Task | null; amount: number; note?: string }
  interface Owner {
    name: string;  // Full name.
    since: string;
  }
  /** Lists tasks, "newest" first. * / */
  function list_tasks(args?: {
    owner?: string | null;  // Only theirs.
    status?: 'open' | 'done';  // Default 'open'.
    limit?: number;  // Rows. Default 20.
    least?: number | null;
    since?: string | null;
  }): Promise<Task[]>;
}
"""


def test_the_whole_text_in_python():
    assert pyi(FUNCTIONS) == PYI
    assert pyi(FUNCTIONS[:1], docs=True) == PYI_FOR_READERS


def test_the_whole_text_in_typescript():
    assert dts(FUNCTIONS) == DTS
    assert dts(FUNCTIONS[:1], docs=True) == DTS_FOR_READERS


TYPES = [
    (bool, "bool", "boolean"),
    (int | None, "int | None", "number | null"),
    (list, "list[Any]", "unknown[]"),
    (list[str | int], "list[str | int]", "(string | number)[]"),
    (set[float], "list[float]", "number[]"),
    (tuple[int, ...], "list[int]", "number[]"),
    (tuple[int, str], "list[int | str]", "(number | string)[]"),
    (Iterable[str], "list[str]", "string[]"),
    (dict, "dict[str, Any]", "Record<string, unknown>"),
    (dict[int, list[bool]], "dict[str, list[bool]]", "Record<string, boolean[]>"),
    (
        Literal["it's", 2, True, None],
        'Literal["it\'s", 2, True, None]',
        '"it\'s" | 2 | true | null',
    ),
    (Colour, "Literal['red', 'blue']", "'red' | 'blue'"),
    (dt.datetime | dt.date, "str", "string"),
    (dt.timedelta, "float", "number"),
    (decimal.Decimal, "float", "number"),
    (uuid.UUID, "str", "string"),
    (Partial, "Partial", "Partial"),
    (object, "Any", "unknown"),
    (Any, "Any", "unknown"),
    (int | Any, "Any", "unknown"),
    (lambda: 1, "Any", "unknown"),
]


@pytest.mark.parametrize(("hint", "python", "typescript"), TYPES)
def test_each_type_is_what_crosses_the_border_as_json(hint, python, typescript):
    def give():
        """Gives it."""

    give.__annotations__["return"] = hint
    function = HostFunction(give, "kinds")
    assert f"def give() -> {python}: ..." in pyi([function])
    assert f"function give(): Promise<{typescript}>;" in dts([function])


def test_keys_that_may_be_missing():
    def give() -> Partial: ...

    assert "    seen: NotRequired[bool]\n    sure: int\n" in pyi([HostFunction(give, "kinds")])
    assert "interface Partial { seen?: boolean; sure: number }" in dts(
        [HostFunction(give, "kinds")]
    )


def test_two_records_of_one_name_and_a_record_named_like_a_function_stay_apart():
    def one() -> TypedDict("Row", {"a": int}): ...
    def two() -> TypedDict("Row", {"b": str}): ...
    def Row() -> Point: ...  # noqa: N802

    text = pyi([HostFunction(function, "kinds") for function in (one, two, Row)])
    assert "class Row2(TypedDict):\n    a: int\n" in text
    assert "class Row3(TypedDict):\n    b: str\n" in text
    assert "def one() -> Row2: ...\ndef two() -> Row3: ...\ndef Row() -> Point: ...\n" in text


def test_a_default_that_is_no_python_expression_is_not_written_as_one():
    def give(
        a: float = float("inf"), b: str = "x" * 41, c: str = "it's\n", d: Colour = Colour.RED
    ): ...

    stub = "def give(a: float = ..., b: str = ..., c: str = \"it's\\n\", d: Literal['red', 'blue'] = ...) -> Any: ...\n"
    assert pyi([HostFunction(give, "kinds")]).endswith(stub)


CALLS = [
    ("crm.list_tasks(owner='ana', limit=3, least=2)[0]['amount'] + 1", None),
    ("(crm.list_tasks()[0]['parent'] or {}).get('note')", None),
    ("crm.move(1, colour='red')['a-b'] + 1", None),
    ("crm.plain_result({'x': 1, 'label': ''}, '2026-01-01')", None),
    ("crm.list_tasks(owner=3)", "invalid-argument-type"),
    ("crm.list_tasks(status='late')", "invalid-argument-type"),
    ("crm.list_tasks(ownr='ana')", "unknown-argument"),
    ("crm.list_tasks()[0]['nope']", "invalid-key"),
    ("crm.list_tasks()[0]['owner']['name']", "not-subscriptable"),
    ("crm.move()", "missing-argument"),
    ("crm.move(1, 'red')", "too-many-positional-arguments"),
    ("crm.move(1)['a-b'] + ''", "unsupported-operator"),
    ("crm.nope()", "unresolved-attribute"),
]


@pytest.fixture(scope="module")
def checker():
    with monty.Monty(min_processes=1) as pool:
        yield pool


@pytest.mark.parametrize("stub", ["pyi", "pyi for readers"])
@pytest.mark.parametrize(("call", "finding"), CALLS)
def test_the_type_checker_reads_the_stub(checker, stub, call, finding):
    """In a function body, which is checked and never run."""
    imports = "from typing import Literal, NotRequired, TypedDict\n"
    text = pyi(FUNCTIONS) if stub == "pyi" else imports + pyi(FUNCTIONS, docs=True)
    module = monty.ExternalModule(
        {function.name: function.call for function in FUNCTIONS}, stubs=text
    )
    with checker.checkout(
        type_check=True, type_check_format="concise", external_modules={"crm": module}
    ) as session:
        session.feed_run("import crm")
        code = f"def never():\n    return {call}\nNone"
        if finding is None:
            session.feed_run(code)
        else:
            with pytest.raises(monty.MontyTypingError, match=rf"\[{finding}\]"):
                session.feed_run(code)


def test_a_pydantic_model_shows_its_fields():
    class Deal(BaseModel):
        title: str
        amount: Annotated[float, Field(description="In euros.")] = 0.0

    def deal() -> Deal: ...

    functions = [HostFunction(deal, "crm")]
    assert "class Deal(TypedDict):\n    title: str\n    amount: float\n" in pyi(functions)
    assert "interface Deal { title: string; amount: number }" in dts(functions)
