"""The tool loop on OpenAI's Chat Completions, with the real SDK; `anthropic_loop` is its sibling.

    run(openai.OpenAI(), "What is 2 + 3?", [Tool(add)], model="gpt-4o-mini").text

Any server that speaks this API will do (`base_url`), and so will a `ScriptedModel`. Retries after a
lost connection, HTTP 429 or a server's error, with growing waits, are the SDK's own (`max_retries`
of the client). A plain function: it works where an event loop is running, as in Jupyter.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ..tokens import to_json
from .execute import Answer, Runnable
from .loop import MAX_TOKENS, Dialect, Loop, Settings
from .outcome import CUT, DECLINED, FILTERED, ODD, Outcome
from .received import Received
from .streaming import assemble, received
from .wire import UNPARSED, calls_of

if TYPE_CHECKING:
    import openai

CHOICES = ("auto", "none", "required")


def run(
    client: "openai.OpenAI",
    messages: str | Sequence[Mapping[str, Any]],
    tools: Mapping[str, Runnable] | Sequence[Runnable],
    *,
    model: str,
    system: str | None = None,
    tool_choice: str | Mapping[str, Any] = "auto",
    parallel: bool = True,
    stream: bool = False,
    max_tokens: int | None = MAX_TOKENS,
    options: Mapping[str, Any] | None = None,
    **settings: Unpack[Settings],
) -> Outcome:
    """Asks the model, runs the calls that it makes, and asks again, until it answers or has taken
    `max_steps` turns.

    `messages` is a question or a history, which is not changed. `system` goes before the messages
    of each request and is no part of the history. `tool_choice`: "auto", "none", "required", the
    name of a tool, or the API's own form; what it forces holds for the first turn only, or the
    model could never answer. `parallel=False` asks for one call at a time. `options` are further
    parameters of `create`. For the settings see `loop.Loop`. The SDK's exceptions are raised, with
    what was done so far as `.outcome`. Raises `ValueError` for an unknown `tool_choice`.
    """
    loop = Loop(DIALECT, messages, tools, **settings)
    options = dict(options or {})
    # servers that only speak OpenAI's API may know the old name alone: a caller who uses it keeps
    # it
    limit_name = "max_tokens" if "max_tokens" in options else "max_completion_tokens"
    max_tokens = options.pop(limit_name, max_tokens)
    definitions = [tool.definition("openai") for tool in loop.tools.values()]
    choice = choice_of(tool_choice, loop.tools)

    def body_of(sent: list[dict[str, Any]], limit: int | None) -> dict[str, Any]:
        body = {
            "model": model,
            "messages": [{"role": "system", "content": system}, *sent] if system else sent,
        }
        if definitions:
            body |= {
                "tools": definitions,
                "tool_choice": choice if loop.turn == 1 else unforced(choice),
            }
            body |= {} if parallel else {"parallel_tool_calls": False}
        body |= {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        return body | ({limit_name: limit} if limit else {}) | options

    def send(body: dict[str, Any]) -> Received:
        if not stream:
            return readable(received("openai", client.chat.completions.create(**body)))
        with client.chat.completions.create(**body) as chunks:
            return readable(assemble("openai", chunks, on_call=loop.calling, on_text=loop.text))

    def take_turn() -> str | None:
        message, reason, _ = loop.ask(body_of, send, max_tokens)
        calls = calls_of("openai", message)
        match reason:
            case "tool_calls" | "stop" if calls and message.get("refusal"):
                loop.refuse_calls(calls, DECLINED)
                return "refusal"
            case "tool_calls" | "stop" if calls:  # "stop": a call that tool_choice forced by name
                loop.run_calls(calls, told=stream)
            case "tool_calls" | "stop":
                return "refusal" if message.get("refusal") else "answer"
            case "length" if (
                calls
            ):  # the last arguments are half there: an error goes back, and the session goes on
                loop.refuse_calls(calls, CUT)
            case "length":
                return "length"
            case "content_filter":
                loop.refuse_calls(calls, FILTERED)
                return "content_filter"
            case _:
                loop.refuse_calls(calls, ODD)
                return "unknown"
        return None

    return loop.drive(take_turn)


def choice_of(
    tool_choice: str | Mapping[str, Any], tools: Mapping[str, Runnable]
) -> str | dict[str, Any]:
    """`tool_choice` as the API takes it. Raises `ValueError` for a word that is neither a choice
    nor a tool.
    """
    if not isinstance(tool_choice, str):
        return dict(tool_choice)
    if tool_choice in tools:
        return {"type": "function", "function": {"name": tool_choice}}
    if tool_choice not in CHOICES:
        raise ValueError(
            f"unknown tool_choice {tool_choice!r}: use {', '.join([*CHOICES, *tools])}"
        )
    return tool_choice


def unforced(choice: str | dict[str, Any]) -> str | dict[str, Any]:
    """What a choice becomes once a forced call was made: "auto", within the allowed tools if it
    named some.
    """
    if isinstance(choice, str):
        return "none" if choice == "none" else "auto"
    if choice.get("type") == "allowed_tools":
        return {**choice, "allowed_tools": {**choice["allowed_tools"], "mode": "auto"}}
    return "auto"


def answer_messages(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """A `tool` message for each answer. There is no mark for an error here: the text says it."""
    return [
        {"role": "tool", "tool_call_id": answer.id, "content": answer.text} for answer in answers
    ]


def readable(reply: Received) -> Received:
    """The reply, arguments that are no JSON wrapped as `{wire.UNPARSED: the text}`.

    OpenAI itself takes broken arguments back in a history, but servers that parse them (vLLM does)
    refuse every request that follows.
    """
    for call in reply.message.get("tool_calls") or ():
        try:
            json.loads(call["function"]["arguments"])
        except (ValueError, RecursionError):
            call["function"]["arguments"] = to_json({UNPARSED: call["function"]["arguments"]})
    return reply


def _text(message: Mapping[str, Any]) -> str:
    return message.get("content") or message.get("refusal") or ""


DIALECT = Dialect("openai", _text, answer_messages, cut="length")
