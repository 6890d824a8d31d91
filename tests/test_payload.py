"""Payload windows: every character once, never over a ceiling or a budget, secrets out before the
cut (case 24).
"""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolresults.results.budget import BudgetError
from toolresults.results.payload import CEILING, OffsetError, window
from toolresults.results.redact import redact
from toolresults.tokens import count_tokens

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=500)
SECRET = "MARKMARKMARKMARK"
secrets = st.builds(
    lambda before, after: json.dumps(
        {"a": before, "card_token": SECRET, "raw": json.dumps({"cvv": SECRET, "b": after})}
    ),
    st.text("xyz", max_size=40),
    st.text("xyz", max_size=40),
)


@given(texts | secrets, st.integers(-5, 120), st.integers(90, 300))
def test_windows_give_back_every_character_of_the_redacted_text_once_and_fit(
    text, max_chars, budget
):
    parts, offset = [], 0
    while offset is not None:
        shown = window(text, ref="pay_1", offset=offset, max_chars=max_chars, budget=budget)
        assert count_tokens(shown) <= budget
        result = json.loads(shown)
        assert result["truncated"] == (result["next_offset"] is not None)
        assert len(result["text"]) <= max(max_chars, 1)
        assert not (SECRET in text and re.search("M|ARK", result["text"])), "a piece of a secret"
        parts.append(result["text"])
        offset = result["next_offset"]
        assert offset is None or offset == len("".join(parts))
    assert "".join(parts) == redact(text)
    assert all(parts) or not text, "an empty window"


@pytest.mark.parametrize("asked", [CEILING + 1, 10**9, 10**30])
def test_the_ceiling_holds_whatever_is_asked(asked):
    result = json.loads(window("a" * 50_000, ref="pay_1", max_chars=asked))
    assert len(result["text"]) == CEILING == result["next_offset"]
    assert result["note"] == "max_chars lowered to 8000, the most allowed."


@pytest.mark.parametrize("asked", [0, -5])
def test_a_window_is_never_empty(asked):
    result = json.loads(window("abc", ref="pay_1", max_chars=asked))
    assert (result["text"], result["next_offset"]) == ("a", 1)
    assert result["note"] == "max_chars raised to 1, the least allowed."


def test_the_budget_cuts_a_window_and_says_so():
    text = window("日本語の文章です。" * 500, ref="pay_1", max_chars=4000, budget=300)
    result = json.loads(text)
    shown = len(result["text"])
    assert count_tokens(text) <= 300 and shown == result["next_offset"] > 100
    assert result["note"] == f"The 300-token budget cut this window to {shown} characters."


@pytest.mark.parametrize("offset", [-1, 3, 10**9])
def test_an_offset_outside_names_the_offsets_that_exist(offset):
    with pytest.raises(OffsetError, match=f"offset {offset} is outside this payload: use 0 to 2"):
        window("abc", ref="pay_1", offset=offset)


def test_an_empty_payload_is_one_empty_window():
    assert window("", ref="pay_1") == (
        '{"payload_ref":"pay_1","offset":0,"text":"","next_offset":null,"total_chars":0,"truncated":false}'
    )


@pytest.mark.parametrize("budget", [0, 3, 20])
def test_an_impossible_budget_is_the_hosts_mistake(budget):
    with pytest.raises(BudgetError, match="raise it"):
        window("abc", ref="pay_1", budget=budget)
