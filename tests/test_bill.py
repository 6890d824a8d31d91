"""The bill: prices, usage of both APIs, the ledger, the prompt cache, what an edit costs, and
modelled latency.
"""

from decimal import Decimal
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apis import APIS, EACH_API
from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.api import Api, Part, Usage
from toolresults.agent.bill import Ledger, Price, Prices, context_window, edit_cost
from toolresults.agent.cache import LEAST, LOOKBACK, STEP, PromptCache
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.scripted import Reply, ScriptedModel
from toolresults.tokens import count_tokens, tiktoken_encoding
from workbook.bench.latency import latency

TENTH = 100_000

SAME = Price(
    input=Decimal(3), cached_read=Decimal("0.3"), cache_write=Decimal("3.75"), output=Decimal(15)
)


def openai_usage(prompt: int, output: int, cached: int = 0) -> dict:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def anthropic_usage(fresh: int, output: int, read: int = 0, write: int = 0) -> dict:
    return {
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
    }


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def words(n: int, word: str = "word") -> str:
    """A text of exactly `n` tokens that begins and ends where tokens always part."""
    text = f"{word}\n" * (n // 2)
    assert count_tokens(text) == n
    return text


# --- prices ---


def test_listed_prices_are_those_that_the_vendors_publish():
    """Dollars a million tokens of input, cached read, five-minute and one-hour write, output."""
    expected = {
        ("gpt-5.4-mini", "openai"): ("0.75", "0.075", "0.75", "0.75", "4.50"),
        ("claude-sonnet-4-5", "anthropic"): ("3", "0.30", "3.75", "6", "15"),
        ("claude-opus-5-5", "anthropic"): ("4", "0.20", "5", "8", "20"),
    }
    kinds = [
        Usage(TENTH, 0),
        Usage(TENTH, 0, cached_read=TENTH),
        Usage(TENTH, 0, cache_write=TENTH),
        Usage(TENTH, 0, cache_write=TENTH, cache_write_1h=TENTH),
        Usage(0, TENTH),
    ]
    for (model, provider), row in expected.items():
        price = Prices().of(model, provider)
        assert [price.money(usage) * 10 for usage in kinds] == [Decimal(each) for each in row], (
            model
        )
    assert context_window("claude-sonnet-4-5", "anthropic") == 200_000
    assert Prices.source.startswith("genai-prices 0.")


def test_a_price_of_ones_own_goes_before_the_listed_one():
    mine = Price(input="1", cached_read="0.5", output=2)
    prices = Prices({"gpt-5.4-mini": mine})
    assert prices.of("gpt-5.4-mini") is mine
    assert mine.money(Usage(TENTH, 0, cache_write=TENTH)) * 10 == 1, "writing has no own charge"


@pytest.mark.parametrize("bad", ["-1", "NaN", "Infinity"])
def test_a_price_that_is_no_price_is_named(bad):
    with pytest.raises(ValueError, match="output is "):
        Price(input=1, cached_read=1, output=bad)


def test_only_a_dated_release_takes_the_price_of_its_model():
    own = Prices({"mine": SAME})
    both = Prices({"gpt-4o-mini": SAME})  # listed too, and the release by itself
    assert both.of("gpt-4o-mini-2024-07-18", "openai") is SAME
    assert own.of("mine-2026-07-18") is own.of("mine-latest") is own.of("mine") is SAME
    for other in ("mine-pro", "min", ""):
        with pytest.raises(KeyError, match="no price for .*Give one of your own"):
            own.of(other, "openai")


# --- usage of both vendors ---


def test_the_same_call_costs_the_same_from_both_vendors():
    """Case 43: 17,111 of which 17,102 cached, and 9 with 17,102 read beside it."""
    one = OPENAI_CHAT.usage(openai_usage(17_111, 200, cached=17_102))
    other = ANTHROPIC.usage(anthropic_usage(9, 200, read=17_102))
    assert one == other == Usage(input=17_111, output=200, cached_read=17_102)
    by_hand = (9 * 3 + 17_102 * Decimal("0.3") + 200 * 15) / 1_000_000
    assert SAME.money(one) == SAME.money(other) == by_hand == Decimal("0.0081576")


@given(*[st.integers(0, 10**6)] * 4)
def test_money_does_not_depend_on_the_api(fresh, read, write, output):
    ours = ANTHROPIC.usage(anthropic_usage(fresh, output, read, write))
    details = {"cached_tokens": read, "cache_write_tokens": write}
    theirs = openai_usage(fresh + read + write, output) | {"prompt_tokens_details": details}
    assert OPENAI_CHAT.usage(theirs) == ours
    by_hand = (
        fresh * SAME.input
        + read * SAME.cached_read
        + write * SAME.cache_write
        + output * SAME.output
    )
    assert SAME.money(ours) * 1_000_000 == by_hand


def test_an_hour_in_the_cache_is_written_at_twice_the_input_price():
    usage = anthropic_usage(0, 0, write=3_000_000)
    usage["cache_creation"] = {
        "ephemeral_5m_input_tokens": 1_000_000,
        "ephemeral_1h_input_tokens": 2_000_000,
    }
    assert SAME.money(ANTHROPIC.usage(usage)) == Decimal("3.75") + 2 * 2 * 3


def test_the_sdks_own_objects_are_read():
    from anthropic.types import Usage as AnthropicUsage
    from openai.types import CompletionUsage

    one = CompletionUsage.model_validate(openai_usage(2_000, 5, cached=1_024))
    other = AnthropicUsage.model_validate(anthropic_usage(976, 5, read=1_024))
    assert OPENAI_CHAT.usage(one) == ANTHROPIC.usage(other) == Usage(2_000, 5, cached_read=1_024)


def test_what_a_server_leaves_out_counts_as_not_cached():
    bare = SimpleNamespace(prompt_tokens=7, completion_tokens=3, prompt_tokens_details=None)
    assert OPENAI_CHAT.usage(bare) == Usage(7, 3)
    assert ANTHROPIC.usage({"input_tokens": 7, "output_tokens": 3}) == Usage(7, 3)


@pytest.mark.parametrize(
    ("api", "usage", "told"),
    [
        (OPENAI_CHAT, None, "include_usage"),
        (OPENAI_CHAT, {"prompt_tokens": 5}, "completion_tokens is None"),
        (OPENAI_CHAT, openai_usage(5, 1, cached=6), "larger than their whole"),
        (ANTHROPIC, anthropic_usage(-1, 1), "input_tokens is -1"),
    ],
)
def test_a_usage_that_cannot_be_read_is_refused(api, usage, told):
    with pytest.raises(ValueError, match=told):
        api.usage(usage)


# --- ledger ---


def test_one_ledger_has_a_row_a_turn_for_both_apis():
    ledger = Ledger(Prices({"same": SAME}), model="same")
    ledger.add(OPENAI_CHAT, openai_usage(1_000, 10), result_tokens=300)
    turn = ledger.add(
        ANTHROPIC, anthropic_usage(100, 20, read=1_000, write=500), tags={"feature": "search"}
    )
    turn.result_tokens = 40
    frame = ledger.frame()
    assert frame.columns.tolist() == [
        *("turn", "api", "model", "input", "cached_read", "cache_write", "output", "result_tokens"),
        *("cumulative_input", "money", "feature"),
    ]
    assert frame.drop(columns=["money", "feature"]).values.tolist() == [
        [1, "openai", "same", 1_000, 0, 0, 10, 300, 1_000],
        [2, "anthropic", "same", 1_600, 1_000, 500, 20, 40, 2_600],
    ]
    assert frame.money.tolist() == pytest.approx([0.00315, 0.002775])
    assert (ledger.peak, ledger.cumulative_input, ledger.money) == (
        1_600,
        2_600,
        Decimal("0.005925"),
    )


def test_a_tag_never_replaces_a_meter():
    ledger = Ledger(Prices({"same": SAME}), model="same")
    ledger.add(OPENAI_CHAT, openai_usage(1_000, 10), tags={"input": "none", "user": "ana"})
    assert ledger.frame().loc[0, ["input", "user"]].tolist() == [1_000, "ana"]


def test_a_model_without_a_price_is_metered_and_its_money_is_missing_not_zero():
    ledger = Ledger()
    ledger.add(OPENAI_CHAT, openai_usage(1_000, 10), model="gpt-5.4-mini")
    ledger.add(OPENAI_CHAT, openai_usage(1_000, 10), model="my-own")
    ledger.add(OPENAI_CHAT, openai_usage(1_000, 10))
    assert ledger.frame().money.isna().tolist() == [False, True, True]
    assert ledger.frame().cumulative_input.tolist() == [1_000, 2_000, 3_000]
    with pytest.raises(KeyError, match="no price: a call of my-own has none"):
        ledger.money  # noqa: B018


def test_an_empty_ledger_is_an_empty_frame_with_all_columns():
    assert Ledger().frame().columns.tolist()[-2:] == ["cumulative_input", "money"]
    assert (len(Ledger().frame()), Ledger().money, Ledger().peak) == (0, 0, 0)


# --- the prompt cache: OpenAI ---


@pytest.mark.parametrize(
    ("size", "cached"),
    [(1_022, 0), (1_024, 1_024), (1_150, 1_024), (1_152, 1_152), (1_278, 1_152), (1_280, 1_280)],
)
def test_openai_caches_from_1024_tokens_in_steps_of_128(size, cached):
    cache = PromptCache(OPENAI_CHAT.caching, clock=Clock())
    assert cache.read([words(size)]) == (0, 0)
    assert cache.read([words(size), "a new question\n"]) == (cached, 0)


def test_openai_reads_nothing_after_the_first_byte_that_differs():
    cache = PromptCache(OPENAI_CHAT.caching, clock=Clock())
    history = [words(1_200, "tools"), words(1_200, "first"), words(1_200, "second")]
    cache.read(history)
    edited = [history[0], history[1].replace("first", "edited", 1), history[2]]
    assert cache.read(edited) == (1_152, 0)  # 1,200 in steps of 128
    assert cache.read(history) == (3_584, 0)  # the older branch is still there
    assert cache.read(["x" + history[0], *history[1:]]) == (0, 0)


def test_openai_forgets_five_minutes_after_the_last_use():
    clock = Clock()
    cache = PromptCache(OPENAI_CHAT.caching, clock=clock)
    prompt = [words(2_048)]
    cache.read(prompt)
    clock.now = 299
    assert cache.read(prompt) == (2_048, 0)
    clock.now = 598
    assert cache.read(prompt) == (2_048, 0)
    clock.now = 898
    assert cache.read(prompt) == (0, 0)


@settings(max_examples=40)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_openai_matches_whole_tokens_as_tiktoken_cuts_them(shared, one, other):
    ids = [tiktoken_encoding().encode_ordinary(shared + end) for end in (one, other)]
    common = next(
        (i for i, (a, b) in enumerate(zip(*ids, strict=False)) if a != b), min(map(len, ids))
    )
    full = (
        STEP - common % STEP
    )  # with so many tokens before it, what is common ends exactly at a step
    for head, cached in ((full, common + full), (full - 1, common + full - STEP)):
        cache = PromptCache(OPENAI_CHAT.caching, clock=Clock(), least=1)
        cache.read([" a" * head, shared + one])
        assert cache.read([" a" * head, shared + other]).cached == cached


# --- the prompt cache: Anthropic ---


def test_anthropic_caches_only_up_to_a_mark():
    cache = PromptCache(ANTHROPIC.caching, clock=Clock())
    unmarked = [Part(words(2_000)), Part(words(2_000, "more"))]
    assert cache.read(unmarked) == cache.read(unmarked) == (0, 0)
    marked = [Part(words(2_000), True), Part(words(2_000, "more"))]
    assert [cache.read(marked), cache.read(marked)] == [(0, 2_000), (2_000, 0)]


def test_anthropic_writes_only_what_is_new_behind_the_prefix_that_it_reads():
    cache = PromptCache(ANTHROPIC.caching, clock=Clock(), automatic=True)
    history = [words(1_500, "tools")]
    seen = []
    for turn in ("first", "second", "third"):
        history.append(words(400, turn))
        seen.append(cache.read(history))
    assert seen == [(0, 1_900), (1_900, 400), (2_300, 400)]
    history[2] = history[2].replace("second", "cleared")
    assert cache.read(history) == (1_900, count_tokens(history[2]) + 400)


@pytest.mark.parametrize(
    ("size", "least", "written"), [(1_022, LEAST, 0), (1_024, LEAST, 1_024), (4_094, 4_096, 0)]
)
def test_anthropic_passes_over_a_prefix_under_the_least_size(size, least, written):
    cache = PromptCache(ANTHROPIC.caching, clock=Clock(), least=least)
    prompt = [Part(words(size), True)]
    assert [cache.read(prompt), cache.read(prompt)] == [(0, written), (written, 0)]


def test_anthropic_takes_four_marks_and_the_longest_lived_first():
    cache = PromptCache(ANTHROPIC.caching, clock=Clock())
    blocks = [Part(words(1_100, word), True) for word in ("one", "two", "three", "four", "five")]
    assert cache.read(blocks[:4]) == (0, 4_400)
    with pytest.raises(ValueError, match="at most 4"):
        cache.read(blocks)
    with pytest.raises(ValueError, match="before five-minute"):
        cache.read([Part("a", "5m"), Part("b", "1h")])


def test_anthropic_looks_back_twenty_blocks_from_a_mark():
    for between, cached in ((LOOKBACK - 1, 2_000), (LOOKBACK, 0)):
        cache = PromptCache(ANTHROPIC.caching, clock=Clock())
        cache.read([Part(words(2_000), True)])
        results = [Part(f"result {i}\n") for i in range(between - 1)]
        assert cache.read([Part(words(2_000)), *results, Part("last\n", True)]).cached == cached


def test_anthropic_keeps_each_prefix_for_its_own_time_from_its_last_use():
    clock = Clock()
    cache = PromptCache(ANTHROPIC.caching, clock=clock)
    prompt = [Part(words(2_000, "tools"), "1h"), Part(words(1_000, "chat"), "5m")]
    assert (cache.read(prompt), cache.written_1h) == ((0, 3_000), 2_000)
    clock.now = 299
    assert (cache.read(prompt), cache.written_1h) == ((3_000, 0), 0)
    clock.now = 598
    assert cache.read(prompt) == (3_000, 0)
    clock.now = 3_500
    assert (cache.read(prompt), cache.written_1h) == ((2_000, 1_000), 0)
    clock.now = 7_200
    assert (cache.read(prompt), cache.written_1h) == ((0, 3_000), 2_000)


@EACH_API
@settings(max_examples=40)
@given(data=st.data())
def test_no_vendor_reads_and_writes_more_than_was_sent_or_reads_what_was_never_sent(api, data):
    cache = PromptCache(api.caching, clock=Clock(), least=2, automatic=True)
    block = st.builds(
        Part, st.sampled_from(["aaa\n" * 40, "bbb\n" * 70, "ccc\n" * 90, ""]), st.booleans()
    )
    prompts = data.draw(st.lists(st.lists(block, max_size=3), max_size=4))
    for i, prompt in enumerate(prompts):
        cached, written = cache.read(prompt)
        assert 0 <= cached and 0 <= written and cached + written <= cache.tokens(prompt)
        starts = [
            "".join(b.text for b in earlier)[: len("".join(b.text for b in prompt))]
            for earlier in prompts[:i]
        ]
        text = "".join(b.text for b in prompt)
        shared = [
            next((k for k, (a, b) in enumerate(zip(s, text, strict=False)) if a != b), len(s))
            for s in starts
        ]
        assert cached <= count_tokens(text[: max(shared, default=0)])


def test_an_unknown_vendor_or_lifetime_is_refused():
    with pytest.raises(ValueError, match="use prefix or marks"):
        PromptCache("gemini")
    with pytest.raises(ValueError, match="use 5m or 1h"):
        PromptCache(ANTHROPIC.caching, ttl="2h")


def test_the_scripted_model_reports_the_cache_as_each_vendor_does():

    system, ledger = words(2_048), Ledger(Prices({"same": SAME}), model="same")
    question = {"role": "user", "content": "How many orders are refunded?"}
    for api in APIS:
        model = ScriptedModel(
            lambda messages: Reply("951"), cache=PromptCache(api.caching, clock=Clock())
        )
        for _ in range(2):
            if api is OPENAI_CHAT:
                messages = [{"role": "system", "content": system}, question]
                response = model.client(OPENAI_CHAT).chat.completions.create(
                    model="same", messages=messages
                )
            else:
                mark = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
                response = model.client(ANTHROPIC).messages.create(
                    model="same", max_tokens=100, system=[mark], messages=[question]
                )
            ledger.add(api, response.usage)
    frame = ledger.frame()
    assert frame.cached_read.tolist()[0::2] == [0, 0] and all(frame.cached_read[1::2] >= 2_048)
    assert frame.cache_write.gt(0).tolist() == [False, False, True, False]


# --- what an edit costs ---


def session(api: Api, results: int = 10) -> tuple[PromptCache, list[Part]]:
    """A cache that has just seen a session with large results, and the next request of the
    session.
    """
    cache = PromptCache(api.caching, clock=Clock(), automatic=True)
    history = [Part(words(2_048, "tools"))]
    for i in range(results):
        history.append(Part(words(4_096, ("first", "second")[i % 2])))
        cache.read(history)
    return cache, [*history, Part("Next question?\n")]


@EACH_API
def test_clearing_one_old_result_frees_tokens_and_costs_money(api):
    """Case 31: few tokens freed, and all that follows is paid for anew."""
    cache, before = session(api)
    after = [before[0], Part("[cleared]\n"), *before[2:]]
    cost = edit_cost(cache, before, after, SAME)
    assert cost.tokens_freed == 4_096 - count_tokens("[cleared]\n")
    assert cost.extra > 5 * cost.as_it_is > 0
    assert cost.pays_after > 50
    assert (
        (cost.pays_after - 1) * cost.saved_a_turn
        < cost.extra
        <= cost.pays_after * cost.saved_a_turn
    )
    # by hand, OpenAI: nine results at full price that were at a tenth, less one result that is not
    # read
    if api is OPENAI_CHAT:
        new = cache.tokens(before) - 2_048 - 10 * 4_096
        assert cost.as_it_is * 10**6 == (2_048 + 40_960) * SAME.cached_read + new * SAME.input
        assert (
            cost.edited * 10**6
            == 2_048 * SAME.cached_read
            + (9 * 4_096 + count_tokens("[cleared]\n") + new) * SAME.input
        )


@EACH_API
def test_clearing_nearly_all_at_once_pays_soon(api):
    cache, before = session(api)
    after = [before[0], *[Part("[cleared]\n")] * 9, *before[10:]]
    cost = edit_cost(cache, before, after, SAME)
    assert cost.tokens_freed > 36_000
    assert cost.pays_after <= 1


def test_an_edit_is_free_when_the_cache_is_cold_and_asking_changes_nothing():
    cache, before = session(OPENAI_CHAT)
    after = [before[0], Part("[cleared]\n"), *before[2:]]
    first = edit_cost(cache, before, after, SAME)
    assert edit_cost(cache, before, after, SAME) == first
    cache.clock.now = 301
    cold = edit_cost(cache, before, after, SAME)
    assert cold.extra < 0 and cold.pays_after == 0


def test_an_edit_that_only_adds_never_pays():
    cache, before = session(OPENAI_CHAT)
    cost = edit_cost(cache, before, [Part("It is Monday.\n"), *before], SAME)
    assert cost.extra > 0 > cost.tokens_freed and cost.pays_after is None


# --- latency ---


def test_three_calls_at_once_take_as_long_as_the_slowest():
    seconds = {"weather": 1.0, "time": 0.5, "currency": 2.0}
    both = latency([["weather", "time", "currency"], []], model_seconds=3.0, tool_seconds=seconds)
    assert both == (2 * 3.0 + 3.5, 2 * 3.0 + 2.0)
    one_by_one = latency(
        [["weather"], ["time"], ["currency"], []], model_seconds=3.0, tool_seconds=seconds
    )
    assert one_by_one == (4 * 3.0 + 3.5, 4 * 3.0 + 3.5)


def test_calls_wait_for_a_place_when_too_many_are_asked_for():
    def parallel(at_once: int) -> float:
        return latency(
            [["a", "b", "a", "a"]], model_seconds=0, tool_seconds={"a": 1, "b": 3}, at_once=at_once
        ).parallel

    assert [parallel(n) for n in (1, 2, 3, 8)] == [6, 3, 3, 3]
    assert latency([["a"] * 5], model_seconds=0, tool_seconds={"a": 1}, at_once=2).parallel == 3


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=4), st.integers(1, 4))
def test_parallel_is_never_slower_and_never_faster_than_its_slowest_call(turns, at_once):
    seconds = {"a": 1, "b": 2, "c": 4}
    found = latency(turns, model_seconds=1, tool_seconds=seconds, at_once=at_once)
    least = sum(1 + max((seconds[name] for name in names), default=0) for names in turns)
    assert least <= found.parallel <= found.sequential
    assert (at_once > 1) or found.parallel == found.sequential


def test_a_tool_without_seconds_is_named():
    with pytest.raises(ValueError, match="declared for time"):
        latency([["time"]], model_seconds=1, tool_seconds={"weather": 1})
