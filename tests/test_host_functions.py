"""Host functions: arguments are checked first, errors are cleaned, calls are counted and end with
the run.
"""

import contextvars
import datetime as dt
import decimal
import threading
import time
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BeforeValidator, Field

from toolresults.codemode.functions import MESSAGE_CHARS, HostError, HostFunction
from toolresults.codemode.sandbox import HostCalls, Limits, Printed, Stopped
from toolresults.results.cursor import RESTART, CursorError
from toolresults.results.shape import clean
from toolresults.tokens import count_tokens, repair
from toolresults.tools import ToolError, Whole

KEY = "sk-" + "a1B2" * 8


class Refused(ToolError, PermissionError):
    pass


class NotFound(ToolError, LookupError):
    pass


def list_tasks(
    owner: str | None = None,
    limit: Annotated[Whole, Field(ge=1, le=200)] = 50,
    status: Literal["open", "done"] = "open",
) -> dict:
    """Lists the tasks.

    Newest first.
    """
    return {"owner": owner, "limit": limit, "status": status}


def raising(error: BaseException) -> HostFunction:
    def fails() -> None:
        raise error

    return HostFunction(fails, "crm")


def failure(function: HostFunction, *args, **kwargs) -> HostError:
    with pytest.raises(HostError) as caught:
        function.call(args, kwargs)
    return caught.value


def test_a_function_is_called_by_position_and_by_name_and_has_its_first_line_as_summary():
    function = HostFunction(list_tasks, "crm")
    assert (function.path, function.summary) == ("crm.list_tasks", "Lists the tasks.")
    assert function.call(["ana"], {"limit": 5}) == {"owner": "ana", "limit": 5, "status": "open"}
    assert function.call([], {"owner": None}) == {"owner": None, "limit": 50, "status": "open"}


@pytest.mark.parametrize(
    ("args", "kwargs", "told"),
    [
        (
            [],
            {"ownr": "ana"},
            'crm.list_tasks: unknown argument "ownr": this tool takes owner, limit, status',
        ),
        (
            ["a", 1, "open", 4],
            {},
            "crm.list_tasks: too many positional arguments. It takes owner, limit, status",
        ),
        (
            ["a"],
            {"owner": "b"},
            "crm.list_tasks: multiple values for argument 'owner'. It takes owner, limit, status",
        ),
        ([], {"limit": True}, "crm.list_tasks: limit: it should be a whole number, got true"),
        ([], {"limit": 0}, "crm.list_tasks: limit: it should be greater than or equal to 1, got 0"),
        (
            [],
            {"status": "late"},
            "crm.list_tasks: status: it should be 'open' or 'done', got \"late\"",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_a_type_error_before_the_function_runs(args, kwargs, told):
    error = failure(HostFunction(list_tasks, "crm"), *args, **kwargs)
    assert (error.kind, str(error)) == ("TypeError", told)


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (
            Refused("the scope hr:salary is missing"),
            "PermissionError",
            "the scope hr:salary is missing",
        ),
        (NotFound("no task 9"), "LookupError", "no task 9"),
        (ToolError("use open or done"), "RuntimeError", "use open or done"),
        (CursorError(), "RuntimeError", RESTART),
        (OSError(f"/srv/app/db.py: key {KEY}"), "RuntimeError", "crm.fails failed (OSError). "),
        (KeyError("password"), "RuntimeError", "crm.fails failed (KeyError). "),
        (SystemExit(3), "RuntimeError", "crm.fails failed (SystemExit). "),
    ],
)
def test_what_a_function_raises_has_a_kind_that_code_can_catch_and_says_no_more_than_was_meant(
    error, kind, told
):
    caught = failure(raising(error))
    assert caught.kind == kind
    assert str(caught).startswith(told)
    assert KEY not in str(caught) and "/srv" not in str(caught)


@pytest.mark.parametrize(
    "path",
    [
        "/srv/app/db.py",
        "/home/ana/my-keys/id_rsa",
        r"C:\Users\ana\db.py",
        "~/keys/id",
        r"\\files\share\db.py",
    ],
)
def test_a_message_that_was_meant_loses_its_paths_and_secrets_but_not_the_rest(path):
    told = str(
        failure(
            raising(
                ToolError(f"could not read {path}: see https://example.com/help/db, 3/4, key {KEY}")
            )
        )
    )
    assert told == "could not read [path]: see https://example.com/help/db, 3/4, key [redacted]"


@given(st.text(max_size=2_000))
def test_a_message_is_one_short_line_whatever_it_was(text):
    told = str(failure(raising(ToolError(text))))
    assert 0 < len(told) <= MESSAGE_CHARS and "\n" not in told and "\x1b" not in told


def test_what_comes_back_is_plain_json():
    def rows() -> list[dict]:
        """Rows."""
        return [
            {"amount": decimal.Decimal("12.50"), "due": dt.date(2026, 11, 30), "tags": {"b", "a"}}
        ]

    assert HostFunction(rows, "crm").call([], {}) == [
        {"amount": 12.5, "due": "2026-11-30", "tags": ["a", "b"]}
    ]


def test_what_has_no_json_is_a_failure_of_the_function():
    def odd() -> object:
        return object()

    error = failure(HostFunction(odd, "crm"))
    assert (error.kind, str(error).split(".")[1]) == ("RuntimeError", "odd failed (ValueError)")


@pytest.mark.parametrize(
    ("hint", "given", "got"),
    [
        (dt.date, "2026-03-01", dt.date(2026, 3, 1)),
        (dt.datetime, "2026-03-01T10:00:00", dt.datetime(2026, 3, 1, 10)),
        (decimal.Decimal, 1.5, decimal.Decimal("1.5")),
        (set[str], ["a"], {"a"}),
        (tuple[int, str], [1, "a"], (1, "a")),
    ],
)
def test_a_function_gets_the_type_that_it_asks_for_from_what_json_can_say(hint, given, got):
    seen = []

    def take(value) -> None:
        seen.append(value)

    take.__annotations__["value"] = hint
    HostFunction(take, "crm").call([given], {})
    assert seen == [got] and type(seen[0]) is type(got)


def test_a_check_of_arguments_that_fails_by_itself_is_a_failure_of_the_function():
    def find(name: Annotated[str, BeforeValidator(lambda value: {}[value])]) -> str:
        return name

    with pytest.raises(HostError, match=r"crm\.find failed \(KeyError\)"):
        calls(find).call("crm.find", ["ana"], {})


@pytest.mark.parametrize(
    "namespace", ["list", "print", "enum", "builtins", "case", "export", "constructor", "Date"]
)
def test_a_namespace_that_a_language_needs_for_itself_is_refused(namespace):
    with pytest.raises(ValueError, match="a name that a language has taken"):
        HostFunction(list_tasks, namespace)


@pytest.mark.parametrize(
    ("namespace", "name"), [("crm", "a-b"), ("__class__", "f"), ("crm", "_private"), ("", "f")]
)
def test_a_name_that_code_cannot_write_is_refused(namespace, name):
    with pytest.raises(ValueError, match="cannot be called from code"):
        HostFunction(list_tasks, namespace, name)


def calls(function, *, seconds: float = 5.0, **limits) -> HostCalls:
    made = HostFunction(function, "crm")
    return HostCalls({made.path: made}, Limits(**limits), time.monotonic() + seconds)


def test_calls_are_counted_and_the_one_over_the_limit_ends_the_run():
    made = calls(list_tasks, host_calls=3)
    assert [made.call("crm.list_tasks", [], {})["limit"] for _ in range(3)] == [50] * 3
    with pytest.raises(Stopped, match="stopped at 3 calls of functions") as caught:
        made.call("crm.list_tasks", [], {})
    assert (caught.value.limit, made.count) == ("host calls", 3)


def test_an_unknown_function_is_an_error_of_the_code_and_counts_as_a_call():
    made = calls(list_tasks)
    with pytest.raises(HostError, match=r"there is no function crm\.nothing"):
        made.call("crm.nothing", [], {})
    assert made.count == 1


def test_a_function_that_hangs_ends_with_the_run():
    gate = threading.Event()

    def hangs() -> None:
        gate.wait()

    started = time.monotonic()
    with pytest.raises(Stopped) as caught:
        calls(hangs, seconds=0.2).call("crm.hangs", [], {})
    assert caught.value.limit == "time" and time.monotonic() - started < 2
    gate.set()


def test_functions_see_the_context_of_whoever_runs_the_code():
    user = contextvars.ContextVar("user", default="nobody")

    def who() -> str:
        return user.get()

    user.set("ana")
    made = calls(who)
    user.set("ben")
    assert made.call("crm.who", [], {}) == "ana"


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"memory": 64e6}, "memory must be a whole number, got 64000000.0"),
        ({"output_tokens": True}, "output_tokens must be a whole number, got True"),
        ({"host_calls": float("inf")}, "host_calls must be a whole number, got inf"),
        ({"seconds": 10**10}, "seconds must be at most 86400"),
        ({"seconds": float("inf")}, "seconds must be at most 86400"),
    ],
)
def test_a_limit_that_no_sandbox_can_hold_is_refused_at_once(limits, told):
    with pytest.raises(ValueError, match=told):
        Limits(**limits)


@pytest.mark.parametrize(
    "namespace", ["gc", "errno", "cmath", "Error", "Iterator", "json", "print"]
)
def test_a_namespace_that_a_language_has_taken_is_refused(namespace):
    with pytest.raises(ValueError, match="cannot be called from code"):
        HostFunction(list_tasks, namespace)


@pytest.mark.parametrize(
    "name", ["seconds", "memory", "host_calls", "source_chars", "output_tokens"]
)
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_is_above_zero(name, value):
    with pytest.raises(ValueError, match=f"{name} must be above zero"):
        Limits(**{name: value})


@given(st.lists(st.text(max_size=80), max_size=40), st.integers(1, 120))
def test_what_is_printed_is_kept_up_to_the_limit_and_not_a_token_more(texts, most):
    printed, written = Printed(Limits(output_tokens=most)), ""
    try:
        for text in texts:
            written += clean(repair(text))
            printed.write(text)
    except Stopped as error:
        assert error.limit == "output" and count_tokens(written) > most
    kept = printed.close()
    assert written.startswith(kept) and count_tokens(kept) <= most
    if count_tokens(written) <= most:
        assert kept == written
    elif len(written) > len(kept):
        assert (
            count_tokens(written[: len(kept) + 1]) > most - 3
        )  # nearly full: lengths in tokens are not monotone
