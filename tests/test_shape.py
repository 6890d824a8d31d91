"""Shaping: long text is cut to a cap with a ref, colour codes go first, files in base64 are named
(cases 2, 4, 22).
"""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolresults.results.shape import TEXT_CAP, clean, cut, describe_binary, shape


def ref(row, field):
    return f"{field}_{row['id']}" if field != "name" else None


def test_only_the_fields_asked_for_are_shown_in_their_order():
    assert list(shape({"id": 1, "b": 2, "a": 3}, ["a", "id"])) == ["a", "id"]


def test_a_long_text_ends_in_an_ellipsis_and_has_a_ref():
    row = {"id": 7, "body": "word " * 100, "name": "n" * 500, "short": "ok", "n": None}
    shaped = shape(row, caps={"body": 20, "name": 10}, ref=ref)
    assert shaped == {
        "id": 7,
        "body": "word word word word…",
        "body_ref": "body_7",
        "name": "nnnnnnnnn…",
        "short": "ok",
        "n": None,
    }


def test_a_nested_value_over_the_cap_is_cut_as_its_json_text():
    shaped = shape(
        {"id": 1, "lines": [{"sku": "a", "n": i} for i in range(100)], "few": [1, 2]}, ref=ref
    )
    assert shaped["lines"].startswith('[{"sku":"a","n":0},') and len(shaped["lines"]) <= TEXT_CAP
    assert shaped["lines_ref"] == "lines_1"
    assert shaped["few"] == [1, 2]


@given(st.text(), st.integers(1, 50))
def test_a_cut_text_is_a_prefix_within_its_cap(text, cap):
    short = cut(text, cap)
    assert len(short) <= cap
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_no_text_fits_no_characters():
    with pytest.raises(ValueError, match="at least 1"):
        cut("a", 0)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[31mred\x1b[0m plain", "red plain"),
        ("\x1b[38;5;196mdeep\x1b[m", "deep"),
        ("\x1b]0;window title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b1mbold", "bold"),
        ("a\x00b\x07c\rd", "abcd"),
        ("line\n\ttab", "line\n\ttab"),
        ("half \x1b[3", "half [3"),
    ],
)
def test_colour_codes_and_control_characters_are_gone(text, seen):
    assert clean(text) == seen


def test_colour_codes_are_stripped_before_the_cut():
    shaped = shape({"id": 1, "log": "\x1b[31m" * 100 + "failed"})
    assert shaped["log"] == "failed"


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"%PDF-1.7", "application/pdf"),
    ],
)
def test_a_file_in_base64_becomes_its_type_and_size(head, media_type):
    body = head + bytes(range(256)) * 6000
    text = base64.b64encode(body).decode()
    assert describe_binary(text) == {"media_type": media_type, "bytes": len(body)}
    shaped = shape({"id": 3, "screenshot": text}, ref=ref)
    assert shaped["screenshot"] == {"media_type": media_type, "bytes": len(body)}
    assert shaped["screenshot_ref"] == "screenshot_3"


def test_a_data_uri_says_its_own_type():
    text = "data:image/svg+xml;charset=utf-8;base64," + base64.b64encode(b"<svg>" * 100).decode()
    assert describe_binary(text) == {"media_type": "image/svg+xml", "bytes": 500}


@pytest.mark.parametrize("text", ["", "plain words", "a" * 1000, "7f3a-00001-c91e" * 20, "iVBOR"])
def test_plain_text_is_not_taken_for_a_file(text):
    assert describe_binary(text) is None
