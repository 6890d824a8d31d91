"""Message lists that an API accepts, and lists that break one rule each, with what the refusal must
name.
"""

from apis import APIS

USER = {"role": "user", "content": "How many?"}


def call(id: str, arguments: object = "{}") -> dict:
    return {"id": id, "type": "function", "function": {"name": "count", "arguments": arguments}}


def calls(*ids: str, content: object = None) -> dict:
    return {"role": "assistant", "content": content, "tool_calls": [call(id) for id in ids]}


def tool(id: str, content: object = "7") -> dict:
    return {"role": "tool", "tool_call_id": id, "content": content}


def uses(*ids: str, before: tuple = ()) -> dict:
    content = [{"type": "tool_use", "id": id, "name": "count", "input": {}} for id in ids]
    return {"role": "assistant", "content": [*before, *content]}


def result(id: str, content: object = "7", **more: object) -> dict:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def text(words: str) -> dict:
    return {"type": "text", "text": words}


def user(*blocks: dict) -> dict:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: dict) -> dict:
    return {"role": "assistant", "content": list(blocks)}


ACCEPTED = {
    "openai": [
        [USER],
        [{"role": "system", "content": "Be brief."}, USER],
        [USER, calls("call_a", "call_b"), tool("call_b"), tool("call_a")],
        [
            USER,
            calls("call_a"),
            tool("call_a", [{"type": "text", "text": "7"}]),
            calls("call_b"),
            tool("call_b", ""),
        ],
        [
            USER,
            calls("call_a", content="I look."),
            tool("call_a"),
            {"role": "assistant", "content": "7"},
            USER,
        ],
        [USER, {"role": "assistant", "content": None, "refusal": "No."}, USER],
        [
            USER,
            {"role": "assistant", "content": ""},
            {"role": "assistant", "content": "Two in a row."},
            USER,
        ],
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "See"},
                    {"type": "image_url", "image_url": {}},
                ],
            }
        ],
        [USER, calls("call_a"), tool("call_a"), USER, calls("call_a"), tool("call_a")],
    ],
    "anthropic": [
        [USER],
        [USER, uses("toolu_a", "toolu_b"), user(result("toolu_b"), result("toolu_a"))],
        [USER, uses("toolu_a"), user(result("toolu_a", [text("7")]), text("And now?"))],
        [
            USER,
            uses("toolu_a"),
            user(result("toolu_a", "")),
            uses("toolu_b"),
            user(result("toolu_b", "no", is_error=True)),
        ],
        [USER, assistant(text("A pause.")), assistant(text("It goes on.")), USER],
        [USER, assistant(text("Paused: to be continued."))],
        [USER, assistant()],
        [
            USER,
            assistant({"type": "thinking", "thinking": "hm", "signature": "s"}, text("7")),
            USER,
        ],
    ],
}

BROKEN = {
    "openai": {
        "no messages": ([], "at least one message"),
        "a role of the other world": ([{"role": "robot", "content": "hi"}], "robot"),
        "an answer to no call": ([USER, tool("call_a")], "call_a"),
        "an answer with no id": (
            [USER, calls("call_a"), {"role": "tool", "content": "7"}],
            "tool_call_id",
        ),
        "an answer to another call": (
            [USER, calls("call_a"), tool("call_x"), tool("call_a")],
            "call_x",
        ),
        "an answer that comes too late": (
            [USER, calls("call_a"), tool("call_a"), USER, tool("call_a")],
            "call_a",
        ),
        "two answers to one call": (
            [USER, calls("call_a", "call_b"), tool("call_a"), tool("call_a")],
            "call_a",
        ),
        "no answer at the end": ([USER, calls("call_a", "call_b"), tool("call_a")], "call_b"),
        "no answer before a user message": (
            [USER, calls("call_a", "call_b"), tool("call_b"), USER],
            "call_a",
        ),
        "no answer before an assistant message": (
            [USER, calls("call_a"), calls("call_b"), tool("call_b")],
            "call_a",
        ),
        "a system message between": (
            [USER, calls("call_a"), {"role": "system", "content": "x"}, tool("call_a")],
            "call_a",
        ),
        "a call without an answer, deep inside": (
            [USER, calls("call_a"), USER, calls("call_b"), tool("call_b")],
            "call_a",
        ),
        "arguments as an object": (
            [USER, {**calls("call_a"), "tool_calls": [call("call_a", {})]}],
            "call_a",
        ),
        "one id for two calls": ([USER, calls("call_a", "call_a"), tool("call_a")], "call_a"),
        "a call without an id": (
            [USER, {**calls("call_a"), "tool_calls": [{"type": "function"}]}],
            "tool_calls[0].id",
        ),
        "an empty list of calls": (
            [USER, {"role": "assistant", "content": "x", "tool_calls": []}],
            "tool_calls",
        ),
        "a result that is null": ([USER, calls("call_a"), tool("call_a", None)], "call_a"),
        "a result that is an object": ([USER, calls("call_a"), tool("call_a", {"n": 7})], "call_a"),
        "a result with an image": (
            [USER, calls("call_a"), tool("call_a", [{"type": "image_url"}])],
            "call_a",
        ),
        "a question that is null": ([{"role": "user", "content": None}], "messages[0].content"),
        "an assistant message with nothing in it": (
            [USER, {"role": "assistant", "content": None}],
            "messages[1].content",
        ),
        "text that is a number": (
            [{"role": "user", "content": [{"type": "text", "text": 7}]}],
            "messages[0].content[0]",
        ),
    },
    "anthropic": {
        "no messages": ([], "at least one message"),
        "a tool message, as OpenAI has it": (
            [USER, uses("toolu_a"), tool("toolu_a")],
            "messages.2.role",
        ),
        "a result without a call": ([USER, user(result("toolu_a"))], "toolu_a"),
        "a result for another call": (
            [USER, uses("toolu_a"), user(result("toolu_x"), result("toolu_a"))],
            "toolu_x",
        ),
        "a result that comes too late": (
            [
                USER,
                uses("toolu_a"),
                user(result("toolu_a")),
                assistant(text("ok")),
                user(result("toolu_a")),
            ],
            "toolu_a",
        ),
        "two results for one call": (
            [USER, uses("toolu_a"), user(result("toolu_a"), result("toolu_a"))],
            "toolu_a",
        ),
        "no result at the end": ([USER, uses("toolu_a")], "toolu_a"),
        "one of two results": (
            [USER, uses("toolu_a", "toolu_b"), user(result("toolu_a"))],
            "toolu_b",
        ),
        "results in two messages": (
            [USER, uses("toolu_a", "toolu_b"), user(result("toolu_a")), user(result("toolu_b"))],
            "toolu_b",
        ),
        "text instead of the result": ([USER, uses("toolu_a"), USER], "toolu_a"),
        "an assistant message instead of the result": (
            [USER, uses("toolu_a"), assistant(text("ok"))],
            "toolu_a",
        ),
        "a note before the result": (
            [USER, uses("toolu_a"), user(text("Here:"), result("toolu_a"))],
            "toolu_a",
        ),
        "one id in two places": (
            [
                USER,
                uses("toolu_a"),
                user(result("toolu_a")),
                uses("toolu_a"),
                user(result("toolu_a")),
            ],
            "toolu_a",
        ),
        "input as text": (
            [
                USER,
                assistant({"type": "tool_use", "id": "toolu_a", "name": "count", "input": "{}"}),
                USER,
            ],
            "toolu_a",
        ),
        "a call by the user": (
            [user({"type": "tool_use", "id": "toolu_a", "name": "count", "input": {}})],
            "toolu_a",
        ),
        "a result by the assistant": ([USER, assistant(result("toolu_a"))], "toolu_a"),
        "blank text": (
            [USER, assistant(text("\n "), *uses("toolu_a")["content"])],
            "messages.1.content.0",
        ),
        "blank text inside a result": (
            [USER, uses("toolu_a"), user(result("toolu_a", [text(" ")]))],
            "toolu_a",
        ),
        "an error that says nothing": (
            [USER, uses("toolu_a"), user(result("toolu_a", "", is_error=True))],
            "toolu_a",
        ),
        "a result that is a number": (
            [USER, uses("toolu_a"), user(result("toolu_a", 7))],
            "toolu_a",
        ),
        "a result inside a result": (
            [USER, uses("toolu_a"), user(result("toolu_a", [result("toolu_a")]))],
            "toolu_a",
        ),
        "an empty question": ([{"role": "user", "content": ""}], "messages.0"),
        "a blank question": ([{"role": "user", "content": " \n"}], "messages.0.content.0"),
        "an empty message that is not the last": ([USER, assistant(), USER], "messages.1.content"),
        "thinking by the user": (
            [user({"type": "thinking", "thinking": "hm", "signature": "s"})],
            "messages.0.content.0",
        ),
        "thinking without its signature": (
            [USER, assistant({"type": "thinking", "thinking": "hm"}), USER],
            "signature",
        ),
    },
}

EVERY_BROKEN = [(api, why) for api in APIS for why in BROKEN[api.name]]
