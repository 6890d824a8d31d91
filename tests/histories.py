"""Arbitrary histories that an API accepts: the hypothesis strategy of the tests that trim them."""

from hypothesis import strategies as st

from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.tokens import to_json

WORDS = st.text(st.sampled_from('ab é订单\n"{'), max_size=12).map(lambda text: f"w{text}")
RESULTS = st.one_of(
    st.sampled_from(["", "\n", "(no output)", '{"error":"x"}']),
    st.integers(1, 400).map(lambda n: "row " * n),
    WORDS,
)
NAMES = st.sampled_from(["search", "payload", "refund"])
ARGUMENTS = st.dictionaries(
    st.sampled_from(["status", "limit"]), st.integers(0, 9) | WORDS, max_size=2
)

CALL = st.fixed_dictionaries(
    {
        "name": NAMES,
        "arguments": ARGUMENTS,
        "result": RESULTS,
        "error": st.booleans(),
        "listed": st.booleans(),
    }
)
TURN = st.fixed_dictionaries(
    {
        "calls": st.lists(CALL, max_size=3),
        "text": st.none() | WORDS,
        "thinking": st.none() | WORDS,
        "turned": st.booleans(),
        "after": st.none() | WORDS,
    }
)
QUESTION = st.fixed_dictionaries(
    {"asked": st.lists(WORDS, min_size=1, max_size=2), "turns": st.lists(TURN, max_size=4)}
)
SESSION = st.lists(QUESTION, min_size=1, max_size=3)


def histories(api: str) -> st.SearchStrategy[list[dict]]:
    """Histories of several questions: parallel and failing calls, empty results, thinking,
    interruptions.
    """
    return SESSION.map(lambda session: _Writer(api).history(session))


def growing(api: str, history: list[dict]) -> list[list[dict]]:
    """Every state in which the history was between two groups, oldest first: what a loop might have
    sent.
    """
    inside = {i for turn in api.turns(history) for i in range(turn.start + 1, turn.stop)}
    return [history[:end] for end in range(1, len(history) + 1) if end not in inside]


def issued(history: list[dict]) -> dict[str, list[dict]]:
    """What `wire.fault` wants to know of the thinking that the model sent (Anthropic)."""
    found = {}
    for message in history:
        if message["role"] == "assistant" and isinstance(message["content"], list):
            thinking = [block for block in message["content"] if block["type"] == "thinking"]
            found |= {
                block["id"]: thinking for block in message["content"] if block["type"] == "tool_use"
            }
    return found


class _Writer:
    def __init__(self, api: str):
        self.api, self.ids = api, 0

    def history(self, session: list[dict]) -> list[dict]:
        messages = [{"role": "system", "content": "Be brief."}] if self.api is OPENAI_CHAT else []
        for number, question in enumerate(session):
            if number == 2 and self.api is OPENAI_CHAT:
                messages.append({"role": "developer", "content": "Answer in French."})
            messages += [{"role": "user", "content": text} for text in question["asked"]]
            for turn in question["turns"]:
                messages += self.turn(turn)
        return messages

    def turn(self, turn: dict) -> list[dict]:
        ids = [self.new_id() for _ in turn["calls"]]
        made = list(zip(ids, turn["calls"], strict=True))
        answers = made[::-1] if turn["turned"] else made
        return (self.openai if self.api is OPENAI_CHAT else self.anthropic)(turn, made, answers)

    def new_id(self) -> str:
        self.ids += 1
        return f"{'call' if self.api == 'openai' else 'toolu'}_{self.ids}"

    def openai(self, turn: dict, made: list, answers: list) -> list[dict]:
        said = {"role": "assistant", "content": turn["text"] if made else turn["text"] or ""}
        if made:
            said["tool_calls"] = [
                {
                    "id": id,
                    "type": "function",
                    "function": {"name": c["name"], "arguments": to_json(c["arguments"])},
                }
                for id, c in made
            ]
        return [
            said,
            *(
                {"role": "tool", "tool_call_id": id, "content": self.content(c)}
                for id, c in answers
            ),
        ]

    def anthropic(self, turn: dict, made: list, answers: list) -> list[dict]:
        content = []
        if turn["thinking"]:
            content.append({"type": "thinking", "thinking": turn["thinking"], "signature": "sig"})
        if turn["text"] or not made:
            content.append({"type": "text", "text": turn["text"] or "ok"})
        content += [
            {"type": "tool_use", "id": id, "name": c["name"], "input": c["arguments"]}
            for id, c in made
        ]
        results = [
            {"type": "tool_result", "tool_use_id": id, "content": self.content(c)}
            for id, c in answers
        ]
        for result, (_, call) in zip(results, answers, strict=True):
            if call["error"] and result["content"]:
                result["is_error"] = True
        if made and turn["after"]:
            results.append({"type": "text", "text": turn["after"]})
        return [
            {"role": "assistant", "content": content},
            *([{"role": "user", "content": results}] if made else []),
        ]

    def content(self, call: dict) -> object:
        if call["listed"] and call["result"].strip():
            return [{"type": "text", "text": call["result"]}]
        return call["result"]
