"""Counting agrees with tiktoken for any text; any value becomes valid JSON that means the same, or
a clear error.
"""

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import hashlib
import json
import math
import pathlib
import re
import sys
import unicodedata
import uuid

import numpy as np
import pandas as pd
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolresults.tokens import (
    ENCODINGS,
    MAX_DEPTH,
    count_many,
    count_tokens,
    estimate_tokens,
    repair,
    tiktoken_encoding,
    to_json,
)

TIKTOKENS = ("o200k_base", "cl100k_base")

# tiktoken 0.14 knows the letters, marks and digits of Unicode 16.0; toktok 0.3 knows those of 17.0
# (September 2025). These are the code points that 17.0 added and that are one of the three; the two
# counters agree on all others.
NEWER = (
    (0x88F, 0x88F), (0xC5C, 0xC5C), (0xCDC, 0xCDC), (0x1ACF, 0x1ADD), (0x1AE0, 0x1AEB), (0xA7CE, 0xA7CF),
    (0xA7D2, 0xA7D2), (0xA7D4, 0xA7D4), (0xA7F1, 0xA7F1), (0x10940, 0x10959), (0x10EC5, 0x10EC7), (0x10EFA, 0x10EFB),
    (0x11B60, 0x11B67), (0x11DB0, 0x11DDB), (0x11DE0, 0x11DE9), (0x16EA0, 0x16EB8), (0x16EBB, 0x16ED3),
    (0x16FF2, 0x16FF6), (0x187F8, 0x187FF), (0x18D09, 0x18D1E), (0x18D80, 0x18DF2), (0x1E6C0, 0x1E6DE),
    (0x1E6E0, 0x1E6F5), (0x1E6FE, 0x1E6FF), (0x2B73A, 0x2B73F), (0x2CEA2, 0x2CEAD), (0x323B0, 0x33479),
)  # fmt: skip
IS_NEWER = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in NEWER) + "]")

AWKWARD = (
    "<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "\r\n", "\n\n", "   ", "\t", "'s", "'LL", "123", "1234", "😀",
    "👩\u200d👩\u200d👧", "é", "e\u0301", "ß", "ſ", "İ", "中文", "Tiếng Việt", "ไทย", "\u0000", "\ufeff", "\ufffd",
    "\u2028", "/*", "//", '{"', "\\n",
)  # fmt: skip
texts = st.lists(st.sampled_from(AWKWARD) | st.text(max_size=20), max_size=8).map("".join)


def reference(text: str, encoding: str) -> int:
    return len(tiktoken_encoding(encoding).encode(text, disallowed_special=()))


@pytest.mark.parametrize("encoding", TIKTOKENS)
@given(text=texts)
def test_counts_are_those_of_tiktoken(encoding, text):
    text = IS_NEWER.sub("", text)
    assert count_tokens(text, encoding) == reference(text, encoding)


@pytest.mark.parametrize("encoding", TIKTOKENS)
@pytest.mark.parametrize("around", ["{}.com\n", "a{}.com\n", "he'{}ll.com\n"])
def test_counts_agree_on_every_code_point_but_those_of_unicode_17(encoding, around):
    """After a letter `.com` is one token, and after a symbol it is two: this tells how a code point
    is classed.
    """
    points = [*range(0xD800), *range(0xE000, 0x34000), *range(0xE0000, 0xE0200)]
    for start in range(0, len(points), 16_384):
        text = "".join(
            around.format(chr(c))
            for c in points[start : start + 16_384]
            if not IS_NEWER.match(chr(c))
        )
        assert count_tokens(text, encoding) == reference(text, encoding)


def test_the_code_points_left_out_are_newer_than_tiktoken_and_do_differ():
    for first, last in NEWER:
        assert count_tokens(f"{chr(first)}.com") != reference(f"{chr(first)}.com", "o200k_base")
        if unicodedata.unidata_version < "17":
            assert {unicodedata.category(chr(c)) for c in range(first, last + 1)} == {"Cn"}


@pytest.mark.parametrize(
    ("encoding", "published"),
    [
        ("o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
        ("cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    ],
)
def test_the_vocabulary_is_the_published_one(encoding, published):
    ranks = sorted(tiktoken_encoding(encoding)._mergeable_ranks.items(), key=lambda item: item[1])
    lines = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks)
    assert hashlib.sha256(lines).hexdigest() == published


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=texts | st.text(st.characters()))
def test_any_text_whatsoever_is_counted(encoding, text):
    count = count_tokens(text, encoding)
    assert 0 <= count <= len(repair(text).encode("utf-8"))
    assert (count == 0) == (text == "")


@given(st.lists(texts, max_size=5))
def test_many_are_counted_as_one_by_one(several):
    assert count_many(several) == [count_tokens(text) for text in several]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "special", ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|fim_prefix|>", "<think>"]
)
def test_a_special_token_in_a_note_is_plain_text(encoding, special):
    assert count_tokens(special, encoding) > 1
    assert count_tokens(f"a note {special}", encoding) > count_tokens("a note ", encoding) + 1


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("letter", [" ", "\n", "\t", "x", "=", "\u3000", "한"])
def test_a_million_of_one_character_are_counted(encoding, letter):
    some, million = (
        count_tokens(letter * 10_000, encoding),
        count_tokens(letter * 1_000_000, encoding),
    )
    assert 98 * some <= million <= 101 * some


def test_what_cannot_be_counted_is_said():
    with pytest.raises(
        ValueError, match="unknown encoding 'gpt-4o': use one of o200k_base, cl100k_base, qwen3.5"
    ):
        count_tokens("a", "gpt-4o")
    with pytest.raises(TypeError, match="got dict: pass to_json"):
        count_tokens({"a": 1})
    with pytest.raises(ValueError, match="tiktoken has no encoding 'qwen3.5'"):
        tiktoken_encoding("qwen3.5")


@given(st.text())
def test_the_estimate_is_characters_by_four(text):
    assert estimate_tokens(text) == len(text) // 4


@given(st.text(st.characters(categories=["Cs"]) | st.sampled_from("ab😀\ud83d\ude00"), max_size=8))
def test_repair_keeps_pairs_and_replaces_lone_surrogates_one_by_one(text):
    paired = re.sub(
        "[\ud800-\udbff][\udc00-\udfff]", lambda pair: json.loads(json.dumps(pair[0])), text
    )
    assert repair(text) == re.sub("[\ud800-\udfff]", "\ufffd", paired)
    assert repair(repair(text)) == repair(text)
    repair(text).encode("utf-8")


def test_a_cut_escape_is_repaired_wherever_it_comes_in():
    cut = json.loads(r'"a\ud83d b"')
    assert count_tokens(cut) == count_tokens("a\ufffd b")
    assert to_json({cut: [cut]}) == '{"a\ufffd b":["a\ufffd b"]}'


# ---- to_json
# ---------------------------------------------------------------------------------------------------------

plain_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(plain_json)
def test_json_comes_back_as_it_was(value):
    text = to_json(value)
    assert json.loads(text) == value
    assert text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Colour(enum.Enum):
    RED = "red"
    PAIR = (1, 2)


class Level(enum.IntEnum):
    HIGH = 3


class Sizes(pydantic.BaseModel):
    low: int
    at: dt.date | None = None


@dataclasses.dataclass
class Point:
    x: int
    label: str | None = None


UTC_MOMENT = dt.datetime(2026, 3, 1, 10, 0, 5, tzinfo=dt.UTC)
CASES = {
    "NaN": (math.nan, "null"),
    "numpy integer": (np.int64(2**62), "4611686018427387904"),
    "numpy unsigned": (np.uint8(7), "7"),
    "numpy float": (np.float64(0.1), "0.1"),
    "numpy half": (np.float16(0.5), "0.5"),
    "numpy long double": (np.longdouble(1.5), "1.5"),
    "numpy NaN": (np.float32("nan"), "null"),
    "numpy boolean": (np.bool_(True), "true"),
    "numpy text": (np.str_("é"), '"é"'),
    "numpy array": (np.array([[1, 2], [3, 4]]), "[[1,2],[3,4]]"),
    "numpy scalar array": (np.array(5), "5"),
    "numpy date": (np.datetime64("2026-03-01T10:00:05", "ns"), '"2026-03-01T10:00:05"'),
    "numpy not a time": (np.datetime64("NaT"), "null"),
    "numpy duration": (np.timedelta64(90, "s"), "90.0"),
    "pandas NA": (pd.NA, "null"),
    "pandas NaT": (pd.NaT, "null"),
    "pandas time": (pd.Timestamp("2026-03-01 10:00:05"), '"2026-03-01T10:00:05"'),
    "pandas time with zone": (
        pd.Timestamp("2026-03-01", tz="Asia/Ho_Chi_Minh"),
        '"2026-03-01T00:00:00+07:00"',
    ),
    "pandas duration": (pd.Timedelta("1h"), "3600.0"),
    "pandas integers": (pd.Series([1, None, 3], dtype="Int64"), "[1,null,3]"),
    "pandas dates": (
        pd.Series(pd.to_datetime(["2026-03-01", None])),
        '["2026-03-01T00:00:00",null]',
    ),
    "pandas index": (pd.Index(["a", "b"]), '["a","b"]'),
    "data frame": (
        pd.DataFrame({"a": [1, 2], "b": ["x", None]}),
        '[{"a":1,"b":"x"},{"a":2,"b":null}]',
    ),
    "moment": (UTC_MOMENT, '"2026-03-01T10:00:05+00:00"'),
    "date": (dt.date(2026, 3, 1), '"2026-03-01"'),
    "time": (dt.time(10, 5), '"10:05:00"'),
    "duration": (dt.timedelta(minutes=1.5), "90.0"),
    "decimal": (decimal.Decimal("305.90"), "305.9"),
    "long decimal": (decimal.Decimal("0.12345678901234567890"), '"0.12345678901234567890"'),
    "huge decimal": (decimal.Decimal("1E+400"), '"1E+400"'),
    "decimal NaN": (decimal.Decimal("sNaN"), "null"),
    "UUID": (uuid.UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
    "path": (pathlib.PurePosixPath("a/b"), '"a/b"'),
    "text in bytes": ("Việt".encode(), '"Việt"'),
    "other bytes": (b"\xff\x00", '"data:application/octet-stream;base64,/wA="'),
    "bytearray": (bytearray(b"ab"), '"ab"'),
    "set of numbers": ({10, 9, 2.5}, "[2.5,9,10]"),
    "set of texts": ({"é", "z", "a b", "a"}, '["a","a b","z","é"]'),
    "mixed set": (frozenset({"1", 1, None, (2, 3)}), '[1,"1",[2,3],null]'),
    "tuple": ((1, (2,)), "[1,[2]]"),
    "enum": ([Colour.RED, Colour.PAIR, Level.HIGH], '["red",[1,2],3]'),
    "pydantic model": (Sizes(low=1, at=dt.date(2026, 3, 1)), '{"low":1,"at":"2026-03-01"}'),
    "data class": (Point(1), '{"x":1,"label":null}'),
    "keys": (
        {2: 0, None: 0, True: 0, 1.5: 0, Colour.RED: 0, np.int64(3): 0, dt.date(2026, 3, 1): 0},
        '{"2":0,"null":0,"true":0,"1.5":0,"red":0,"3":0,"2026-03-01":0}',
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_value_becomes_what_a_reader_expects(name):
    value, wanted = CASES[name]
    assert to_json(value) == wanted
    assert to_json({"k": [value]}) == f'{{"k":[{wanted}]}}'


holds_itself: dict = {"a": []}
holds_itself["a"].append(holds_itself)
array_of_itself = np.empty(1, dtype=object)
array_of_itself[0] = array_of_itself


class Everything:
    """Has every attribute that is asked of it, as a proxy of a remote object does."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: self


ERRORS = {
    "infinity": ({"rate": [math.inf]}, r"\$\.rate\[0\] is infinite"),
    "numpy infinity": (np.float32("inf"), "infinite"),
    "decimal infinity": (decimal.Decimal("-Infinity"), "infinite"),
    "colliding keys": ({"a": {1: "x", "1": "y"}}, r"\$\.a has two keys that are both '1'"),
    "colliding numpy key": ({np.int64(1): "x", "1": "y"}, "both '1'"),
    "colliding bytes key": ({b"a": "x", "a": "y"}, "both 'a'"),
    "keys colliding once repaired": (dict.fromkeys(["\ud800", "\udfff"]), "two keys"),
    "colliding columns": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns"),
    "tuple key": ({(1, 2): "x"}, r"has the key '\(1, 2\)' \(tuple\)"),
    "cycle": (holds_itself, r"\$\.a\[0\] holds itself"),
    "array of itself": (array_of_itself, "nested"),
    "proxy": (Everything(), "nested"),
    "complex": (1j, "type complex"),
    "numpy complex": (np.clongdouble(1j), "has no JSON"),
    "function": ({"f": len}, r"\$\.f is of type builtin_function_or_method"),
    "generator": ((n for n in [1]), "type generator"),
    "class": (Sizes, "has no JSON"),
    "data class, the class": (Point, "type type"),
    "year 10000": (np.datetime64("10000-01-01"), "datetime64"),
    "year 10000 in an array": (np.array(["10000-01-01"], dtype="datetime64[s]"), "datetime64"),
    "period": (pd.Period("2026-03"), "type Period"),
    "integer of 5,000 digits": (10**5000, "4,300 digits"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_has_no_honest_json_is_a_short_clear_error(name):
    value, message = ERRORS[name]
    with pytest.raises(ValueError, match=message) as caught:
        to_json(value)
    assert len(str(caught.value)) < 300


def nest(depth: int, wrap) -> object:
    value: object = 1
    for _ in range(depth):
        value = wrap(value)
    return value


WRAPS = {
    "list": lambda inner: [inner],
    "dict": lambda inner: {"a": inner},
    "data class": lambda inner: Point(inner),
    "object array": lambda inner: np.fromiter([inner], dtype=object),
}


@pytest.mark.parametrize("name", WRAPS)
def test_nesting_is_kept_up_to_the_limit_and_refused_beyond(name):
    assert json.loads(to_json(nest(MAX_DEPTH, WRAPS[name])))
    with pytest.raises(ValueError, match=f"nested deeper than {MAX_DEPTH} levels"):
        to_json(nest(MAX_DEPTH + 1, WRAPS[name]))


def under(frames: int, function):
    """Calls `function` with that many frames above it, as under Jupyter, a server and a few
    decorators.
    """
    return function() if frames == 0 else under(frames - 1, function)


@pytest.mark.parametrize("frames", [0, 100, 400, 800])
@pytest.mark.parametrize("name", WRAPS)
def test_a_hundred_thousand_levels_are_a_clear_error_however_deep_the_caller_is(name, frames):
    value = nest(100_000 if name in ("list", "dict") else 1_000, WRAPS[name])
    try:
        with pytest.raises(ValueError, match="nested"):
            under(frames, lambda: to_json(value))
    finally:
        while isinstance(
            value, list | dict
        ):  # taken apart by hand: not every Python frees so deep a value safely
            value = value[0] if isinstance(value, list) else value["a"]


def test_a_real_result_needs_little_of_the_stack():
    value = nest(12, WRAPS["dict"])
    assert json.loads(under(sys.getrecursionlimit() - 300, lambda: to_json(value))) == value


def test_one_list_in_two_places_is_no_cycle():
    shared = [1]
    assert to_json({"a": shared, "b": [shared, shared]}) == '{"a":[1],"b":[[1],[1]]}'


@given(st.sets(st.integers() | st.text() | st.booleans() | st.none() | st.tuples(st.integers())))
def test_a_set_always_has_the_same_text(values):
    assert to_json({*sorted(values, key=repr)}) == to_json(
        {*sorted(values, key=repr, reverse=True)}
    )


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_keeps_its_value(value):
    assert decimal.Decimal(json.loads(to_json(value), parse_float=str, parse_int=str)) == value


@given(st.binary())
def test_bytes_can_be_had_back(value):
    text = json.loads(to_json(value))
    found = (
        base64.b64decode(text.split(",")[1])
        if text.startswith("data:application/octet-stream")
        else text.encode()
    )
    assert found == value
