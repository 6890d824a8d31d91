"""Secrets go before any cut: valid JSON stays valid and means the same, and nothing secret is left
in any window.
"""

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolresults.results.redact import REDACTED, redact

KEYS = (
    "password",
    "api_key",
    "API-Key",
    "bank_card_token",
    "Authorization",
    "client_secret",
    "cvv",
    "token",
    "set-cookie",
)
NAMES = ("id", "note", "next_page_token", "tokens", "passwords", "items", "cvv_result", "a")
HAZARDS = (
    "\\",
    '"',
    "'",
    "\n",
    "\r",
    "\t",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    " ",
    "=",
    "é",
    "😀",
    "\\n",
    '\\"',
    "null",
    "tok",
    "sk-",
)
texts = st.lists(st.sampled_from(HAZARDS), max_size=6).map("".join)
"""Text that a rule might stumble over, but that holds no secret."""

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-999, 999)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
styles = st.sampled_from([{}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": 2}])

# Every document is built twice, as it is and as it should come out: a pair (given, wanted).
plain = scalars.map(lambda value: (value, value))
loud = st.sampled_from(
    [f"MARK{i}{tail}" for i in range(3) for tail in ("", "\\", '"', '\\"}', "',", "\n]")]
)
secrets = st.recursive(
    loud | st.integers(10**8, 10**9),
    lambda inner: st.lists(inner, min_size=1, max_size=3),
    max_leaves=4,
)
hidden = st.tuples(st.sampled_from(KEYS), secrets)


def wanted(secret: object) -> str | None:
    return REDACTED if isinstance(secret, str) else None


def record(members: list, secret_members: list, order: bool) -> tuple[dict, dict]:
    kept = [(name, *pair) for name, pair in dict(members).items()]
    gone = [(name, secret, wanted(secret)) for name, secret in dict(secret_members).items()]
    both = gone + kept if order else kept + gone
    return {name: before for name, before, _ in both}, {name: after for name, _, after in both}


def nested(inner):
    """Lists, objects with secrets, and JSON inside a string, of `inner`."""
    members = st.lists(st.tuples(st.sampled_from(NAMES), inner), max_size=3)
    objects = st.builds(record, members, st.lists(hidden, max_size=2), st.booleans())
    lists = st.lists(inner, max_size=3).map(
        lambda pairs: ([p[0] for p in pairs], [p[1] for p in pairs])
    )
    dumped = st.builds(
        lambda pair, style: tuple(json.dumps(side, **style) for side in pair), objects, styles
    )
    return objects | lists | dumped


documents = st.recursive(plain, nested, max_leaves=12)


@settings(max_examples=50)
@given(documents, styles)
def test_a_json_text_loses_its_secrets_and_nothing_else(document, style):
    given_text, wanted_text = (json.dumps(side, **style) for side in document)
    assert redact(given_text) == wanted_text


@pytest.mark.parametrize("depth", range(9))
def test_a_secret_is_found_at_any_depth_of_json_inside_json(depth):
    inside, outside = (
        {"a": 1, "card_token": 'MARK"\\', "b": [2]},
        {"a": 1, "card_token": REDACTED, "b": [2]},
    )
    for _ in range(depth):
        inside, outside = {"raw": json.dumps(inside)}, {"raw": json.dumps(outside)}
    assert json.loads(redact(json.dumps(inside))) == outside


BODIES = {
    "card token": "tok_live_0123456789ab",
    "API key": "sk-0123456789abcdefghij",
    "JSON Web Token": "eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2ln-bmF0dXJl",
    "bearer": "Bearer 0123456789abcdef",
    "bearer with slashes": "Bearer 0123456/789abcdef",
    "basic": "basic dXNlcjpwYXNzd29yZA==",
    "AWS key": "AKIA0123456789ABCDEF",
    "GitHub token": "ghp_0123456789abcdefghijABC",
    "Slack token": "xoxb-0123456789-abc",
    "card number": "4242 4242 4242 4242",
    "bare card number": "5555555555554444",
    "query string": "token=0123456789abc",
    "settings": "DB_PASSWORD=0123456789abc",
    "header": "X-Api-Key: 0123456789abc",
    "cookie": "Set-Cookie: session=0123456789abc; Path=/",
    "private key": (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE0123456789abc\n-----END RSA PRIVATE KEY-----"
    ),
    "private key, cut": "-----BEGIN PRIVATE KEY-----\nMIIE0123456789abc",
}
DIGITS = re.compile(r"0123|4242|5555|eyJzdWIi|dXNlcjpw|789abc")


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("before", ["", "log:\n", "log:\r\n", "\t", "?q=é&\n"], ids=repr)
@pytest.mark.parametrize("depth", range(4))
def test_a_secret_in_running_text_goes_also_after_an_escape(name, before, depth):
    text = before + BODIES[name]
    for _ in range(depth):
        text = json.dumps({"text": text, "after": 1})
    text = redact(text)
    assert not DIGITS.search(text)
    for _ in range(depth):
        inner = json.loads(text)
        assert inner["after"] == 1
        text = inner["text"]
    assert REDACTED in text or (text.endswith("null") and name == "bare card number")


def test_slashes_and_ampersands_as_other_languages_escape_them():
    assert redact(r'{"h":"Bearer abcdefgh\/0123","b":1}') == '{"h":"Bearer [redacted]","b":1}'
    assert (
        redact(r'{"u":"?a=1\u0026token=0123\u0026b=2"}')
        == r'{"u":"?a=1\u0026token=[redacted]\u0026b=2"}'
    )


@pytest.mark.parametrize(
    "inner",
    [
        '{"password":"MARK',
        '{"password":"MARK\\',
        '{"password":["MARK","',
        '{"password":[MARK',
        "'password':MARK",
        "{'password': 'MARK', 'a': 1}",
        "{'password': \"MA'RK\", 'a': 1}",
        "'password':['MARK",
        "-----BEGIN PRIVATE KEY-----MARK\\",
    ],
)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_secret_cut_off_inside_a_string_takes_nothing_outside_it(inner, depth):
    text = inner
    for _ in range(depth):
        text = json.dumps({"note": text, "after": [1]})
    text = redact(text)
    assert "MARK" not in text and "RK'" not in text
    for _ in range(depth):
        whole = json.loads(text)
        assert whole["after"] == [1]
        text = whole["note"]


def test_bare_numbers_become_null_and_what_only_looks_like_a_card_stays():
    assert redact('{"pan":4242424242424242,"n":[5555555555554444]}') == '{"pan":null,"n":[null]}'
    assert redact("4242424242424242") == "null"
    for number in (
        "4242424242424241",
        "1782907200000",
        "ord_4242424242424242",
        "1.4242424242424242",
        "42424242424242420000",
    ):
        assert redact(number) == number


def test_a_secret_glued_to_another_is_found_too():
    key = BODIES["private key"]
    assert redact(f"{key}4242 4242 4242 4242") == REDACTED * 2
    assert redact(f"4242 4242 4242 4242{BODIES['card token']}") == REDACTED * 2


def test_blanks_before_a_value_hide_nothing():
    assert redact('{"password"' + " " * 99 + ":" + "\n" * 99 + '"MARK"}').endswith('"[redacted]"}')


pieces = st.sampled_from(
    [*HAZARDS, *(f'"{key}"' for key in KEYS), *BODIES.values(), "'password'", '\\"cvv\\"', REDACTED]
)


@given(st.lists(pieces, max_size=12).map("".join) | st.text())
def test_redacting_twice_changes_nothing_more(text):
    once = redact(text)
    assert redact(once) == once


def anything(inner):
    lines = st.lists(pieces, max_size=8).map("".join)
    objects = st.dictionaries(st.sampled_from((*KEYS, *NAMES)) | texts, inner, max_size=3)
    return st.lists(inner, max_size=3) | objects | inner.map(json.dumps) | lines


@settings(max_examples=50)
@given(st.recursive(scalars | st.sampled_from(sorted(BODIES.values())), anything, max_leaves=12))
def test_valid_json_stays_valid(value):
    json.loads(redact(json.dumps(value)))


NASTY = (
    "eyJ-", "eyJ-eyJ.", '"cvv"', '"cvv":', '"cvv":[', '"cvv":null,', "'cvv':", "'cvv'", "\\", '\\"',
    '\\"cvv\\":\\"', "4 ", "4-", "4242424242424242,", "-----BEGIN PRIVATE KEY-----", "-----BEGIN A",
    "password=", "token=a&", "bearer ", "Bearer a/", "a-", "\n", " ", "cookie:\n", '"cookie: ',
    "sk-", "tok_live_", '{"a":', "password", '"' + "a" * 39, "\\n",
)  # fmt: skip


@pytest.mark.parametrize("piece", NASTY)
def test_time_grows_in_step_with_the_text(piece):
    """Four times the text may take eight times as long, not sixteen; the best of three runs, as
    cores are shared.
    """

    def seconds(size: int) -> float:
        text, taken = piece * (size // len(piece)), []
        for _ in range(3):
            redact.cache_clear()
            start = time.process_time()
            redact(text)
            taken.append(time.process_time() - start)
        return min(taken)

    assert seconds(80_000) < 8 * max(seconds(20_000), 0.002)
