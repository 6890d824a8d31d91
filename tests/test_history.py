"""Trimmed histories: still accepted, the same bytes from turn to turn, and nothing lost that was to
stay.
"""

import copy
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apis import EACH_API, answered
from histories import growing, histories, issued
from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.bill import Ledger
from toolresults.agent.history import (
    CLEARED,
    SUMMARY,
    Remembered,
    clear_tool_results,
    summarise,
    window,
)
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.scripted import Reply, ScriptedModel
from toolresults.tokens import count_tokens
from wire_cases import ACCEPTED

FEWER = settings(
    max_examples=settings().max_examples // 4
)  # each history is trimmed in each of its states
BOTH = EACH_API


def gist(messages):
    """A summary that depends on every byte of what it summarises."""
    return f"{len(messages)} messages, {hash_of(messages)}"


def hash_of(messages):
    import hashlib

    return hashlib.sha256(repr(messages).encode("utf-8", "replace")).hexdigest()[:8]


CLEARINGS = st.fixed_dictionaries(
    {
        "keep": st.integers(0, 4),
        "trigger": st.integers(0, 1_500),
        "clear_at_least": st.sampled_from([0, 1, 100, 400]),
        "exclude_tools": st.sampled_from([(), ("refund",), ("search", "payload")]),
        "read_only": st.sampled_from([(), ("search", "payload")]),
    }
).map(lambda options: partial(clear_tool_results, **options))
WINDOWS = st.fixed_dictionaries(
    {
        "turns": st.integers(1, 5),
        "every": st.integers(1, 4),
        "note": st.sampled_from(["", "Older turns left out."]),
    }
).map(lambda options: partial(window, **options))
SUMMARIES = st.fixed_dictionaries(
    {
        "keep": st.integers(1, 4),
        "trigger": st.integers(0, 1_500),
        "clear_at_least": st.sampled_from([0, 100, 400]),
    }
).map(lambda options: partial(summarise, summary=gist, **options))
TRIMMINGS = CLEARINGS | WINDOWS | SUMMARIES


@BOTH
@FEWER
@given(data=st.data(), trim=TRIMMINGS)
def test_what_an_api_accepts_it_accepts_trimmed(api, data, trim):
    history = data.draw(histories(api))
    thinking = issued(history) if api is ANTHROPIC else None
    for state in growing(api, history):
        assert api.fault(state, thinking) is None
        before = copy.deepcopy(state)
        trimmed = trim(state, api=api)
        assert api.fault(trimmed, thinking) is None
        assert trimmed[0]["role"] == state[0]["role"]
        assert state == before, "the input was changed"


@BOTH
@FEWER
@given(trim=TRIMMINGS)
def test_odd_histories_that_an_api_accepts_are_accepted_trimmed(api, trim):
    for history in ACCEPTED[api.name]:
        assert api.fault(trim(history, api=api)) is None


@BOTH
@FEWER
@given(data=st.data(), trim=TRIMMINGS)
def test_trimming_twice_changes_nothing_and_going_on_from_what_was_sent_is_the_same(
    api, data, trim
):
    history = data.draw(histories(api))
    whole = trim(history, api=api)
    assert trim(whole, api=api) == whole
    for state in growing(api, history):
        went_on = [*trim(state, api=api), *history[len(state) :]]
        assert trim(went_on, api=api) == whole


@BOTH
@FEWER
@given(data=st.data(), trim=CLEARINGS)
def test_what_was_cleared_keeps_its_bytes_as_the_history_grows(api, data, trim):
    history = data.draw(histories(api))
    earlier = []
    for state in growing(api, history):
        trimmed = trim(state, api=api)
        assert len(trimmed) == len(state)
        for before, after, whole in zip(earlier, trimmed, state, strict=False):
            for old, new, raw in zip(
                results(api, before), results(api, after), results(api, whole), strict=True
            ):
                assert new == old or old == raw, "a placeholder changed"
        earlier = trimmed


@BOTH
@FEWER
@given(
    data=st.data(), keep=st.integers(0, 4), trigger=st.integers(0, 1_500), least=st.integers(0, 500)
)
def test_clearing_only_replaces_old_results_and_keeps_all_else(api, data, keep, trigger, least):
    history = data.draw(histories(api))
    trimmed = clear_tool_results(
        history, api=api, keep=keep, trigger=trigger, clear_at_least=least, exclude_tools=["refund"]
    )
    names = {call.id: call.name for message in history for call in api.calls(message)}
    order = [id for message in history for id in answered(api, message)]
    unread = order[-unread_results(api, history) :] if unread_results(api, history) else []
    for before, after in zip(history, trimmed, strict=True):
        assert api.calls(after) == api.calls(before)
        for old, new in zip(results(api, before), results(api, after), strict=True):
            if new != old:
                assert {**old, "content": new["content"]} == new and new["content"].startswith(
                    CLEARED
                )
                id = old.get("tool_call_id") or old.get("tool_use_id")
                assert names[id] != "refund" and names[id] in new["content"]
                assert id not in (order[-keep:] if keep else []) and id not in unread
        assert without_results(api, before) == without_results(api, after)
    saved = sum(api.sizes(history)) - sum(api.sizes(trimmed))
    assert saved == 0 or saved >= max(least, 1)
    if sum(api.sizes(history)) <= trigger:
        assert trimmed == history


def results(api, message):
    if not answered(api, message):
        return []
    return (
        [message]
        if api is OPENAI_CHAT
        else [b for b in message["content"] if b["type"] == "tool_result"]
    )


def without_results(api, message):
    if api is OPENAI_CHAT:
        return None if message["role"] == "tool" else message
    if isinstance(message["content"], str):
        return message
    return {
        **message,
        "content": [block for block in message["content"] if block["type"] != "tool_result"],
    }


def unread_results(api, history):
    count = 0
    for message in reversed(history):
        if message["role"] == "assistant":
            return count
        count += len(answered(api, message))
    return count


@BOTH
@FEWER
@given(data=st.data(), turns=st.integers(1, 5), every=st.integers(1, 4))
def test_a_window_keeps_whole_turns_the_system_prompt_and_the_question(api, data, turns, every):
    history = data.draw(histories(api))
    trimmed = window(history, api=api, turns=turns, every=every)
    said = [message for message in history if message["role"] == "assistant"]
    kept = [message for message in trimmed if message["role"] == "assistant"]
    assert kept == said[len(said) - len(kept) :]
    assert min(turns, len(said)) <= len(kept) < turns + every
    assert [m for m in trimmed if m["role"] in ("system", "developer")] == [
        m for m in history if m["role"] in ("system", "developer")
    ]
    first = next(m for m in trimmed if m["role"] not in ("system", "developer"))
    assert first["role"] == "user" and api.is_question(first) and not answered(api, first)
    if len(said) <= turns:
        assert trimmed == history


def session(api, turns=12, size=300):
    """One question, worked on for some turns, each with a result of `size` words."""
    result = "row " * size
    messages = [{"role": "user", "content": "Look at all of it."}]
    for k in range(turns):
        if api is OPENAI_CHAT:
            function = {"name": "search", "arguments": f'{{"page":{k}}}'}
            call = {"id": f"c{k}", "type": "function", "function": function}
            messages += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{k}", "content": result},
            ]
        else:
            use = {"type": "tool_use", "id": f"c{k}", "name": "search", "input": {"page": k}}
            thinking = {"type": "thinking", "thinking": f"Page {k}.", "signature": f"s{k}"}
            messages += [
                {"role": "assistant", "content": [thinking, use]},
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": f"c{k}", "content": result}],
                },
            ]
    return messages


def rounds(api, trim, history):
    """How often the beginning of what is sent changed, while the history grew."""
    changes, sent = 0, []
    for state in growing(api, history):
        now = trim(state, api=api)
        changes += now[: len(sent)] != sent
        sent = now
    return changes


@BOTH
def test_clearing_comes_in_rounds_and_not_on_every_turn(api):
    history = session(api)
    every_turn = rounds(api, partial(clear_tool_results, trigger=1_000, clear_at_least=0), history)
    seldom = rounds(api, partial(clear_tool_results, trigger=1_000, clear_at_least=1_000), history)
    assert (every_turn, seldom) == (9, 2)


@BOTH
def test_what_is_cleared_does_not_count_towards_the_trigger_any_more(api):
    """Otherwise a program that keeps the whole history clears on every turn once it is over
    (langchain issue 37815).
    """
    clear = partial(clear_tool_results, trigger=9_000, clear_at_least=0)
    assert rounds(api, clear, session(api, size=2_000)) == 4


@BOTH
def test_a_window_that_moves_by_several_turns_changes_its_beginning_seldom(api):
    history = session(api)
    assert rounds(api, partial(window, turns=4), history) == 8
    assert rounds(api, partial(window, turns=4, every=4), history) == 2


@BOTH
def test_a_placeholder_says_what_was_cleared_and_how_to_get_it_again(api):
    history = session(api, turns=5)
    shown = partial(clear_tool_results, history, api=api, trigger=0, clear_at_least=0)
    (first, *_) = results(api, shown(read_only=["search"])[2])
    tokens = count_tokens("row " * 300)
    assert first["content"] == (
        f"[Cleared to save context: the result of search, {tokens} tokens. "
        "Call it again with the same arguments to see it.]"
    )
    (first, *_) = results(api, shown()[2])
    assert "Do not repeat the call" in first["content"], "a second call may pay or refund twice"


@BOTH
def test_results_that_the_model_has_not_read_are_not_cleared(api):
    history = session(api, turns=1)
    assert clear_tool_results(history, api=api, keep=0, trigger=0, clear_at_least=0) == history
    interrupted = [*history, {"role": "user", "content": "Still there?"}]
    assert (
        clear_tool_results(interrupted, api=api, keep=0, trigger=0, clear_at_least=0) == interrupted
    )


@BOTH
def test_a_placeholder_is_never_cleared_itself(api):
    """Its own placeholder would be a token shorter: "20 tokens" for "2001 tokens"."""
    clear = partial(clear_tool_results, api=api, trigger=0, clear_at_least=0)
    cleared = clear(session(api, turns=5, size=2_000))
    assert clear(cleared) == clear(cleared, read_only=["search"]) == cleared


@BOTH
def test_short_results_stay_since_a_placeholder_would_be_longer(api):
    history = session(api, size=3)
    assert clear_tool_results(history, api=api, trigger=0, clear_at_least=0) == history


@BOTH
def test_a_summary_is_made_once_for_each_round_and_charged(api):
    history, ledger = session(api), Ledger(model="gpt-4o-mini")
    summary = Remembered(gist, api=api, instructions="Summarise.", ledger=ledger)
    trim = partial(summarise, api=api, summary=summary, keep=2, trigger=1_500, clear_at_least=500)
    sent = [trim(state) for state in growing(api, history)]
    assert sent == [
        summarise(state, api=api, summary=gist, keep=2, trigger=1_500, clear_at_least=500)
        for state in growing(api, history)
    ]
    assert sent[-1][0]["content"].startswith(SUMMARY)
    assert len(summary.spent) == len(ledger.turns) == 3
    first = sum(api.sizes(history[: 1 + 2 * 3])) + count_tokens("Summarise.")
    assert summary.spent[0].input == first
    assert ledger.cumulative_input == sum(usage.input for usage in summary.spent)


@BOTH
def test_a_later_summary_is_told_the_earlier_one_and_never_the_system_prompt(api):
    seen = []
    system = [{"role": "system", "content": "Be brief."}] if api is OPENAI_CHAT else []
    history = [*system, *session(api)]
    sent = summarise(
        history,
        api=api,
        summary=lambda m: seen.append(m) or "S",
        keep=2,
        trigger=1_500,
        clear_at_least=500,
    )
    assert sent[: len(system)] == system and not any(
        m["role"] == "system" for older in seen for m in older
    )
    assert all(older[0]["content"] == f"{SUMMARY}S" for older in seen[1:])
    assert [older[0]["content"] for older in seen[:1]] == ["Look at all of it."]
    assert sum(message["content"] == f"{SUMMARY}S" for message in sent) == 1


@pytest.mark.parametrize(
    "trim",
    [
        partial(clear_tool_results, keep=-1),
        partial(clear_tool_results, trigger=-1),
        partial(clear_tool_results, clear_at_least=-1),
        partial(window, turns=0),
        partial(window, turns=3, every=0),
        partial(summarise, summary=gist, keep=0),
        partial(summarise, summary=gist, trigger=-1),
    ],
)
def test_settings_that_cannot_work_are_refused(trim):
    with pytest.raises(ValueError):
        trim(session(OPENAI_CHAT), api=OPENAI_CHAT)


@BOTH
@pytest.mark.parametrize(
    "trim",
    [
        partial(clear_tool_results, trigger=1_500, clear_at_least=600),
        partial(window, turns=3, note="Older turns are left out."),
        partial(summarise, summary=gist, trigger=1_500, clear_at_least=600),
    ],
    ids=["clear", "window", "summarise"],
)
def test_the_real_clients_send_trimmed_histories_and_the_strict_model_takes_them(api, trim):
    model = ScriptedModel(lambda messages: Reply("Go on."), window=2_500)
    client = model.client(api)
    create = client.chat.completions.create if api is OPENAI_CHAT else client.messages.create
    for state in growing(api, session(api))[::2]:
        if state[-1]["role"] == "assistant":
            continue
        create(
            model="m",
            messages=trim(state, api=api),
            **({} if api is OPENAI_CHAT else {"max_tokens": 100}),
        )
    assert len(model.requests) > 5
