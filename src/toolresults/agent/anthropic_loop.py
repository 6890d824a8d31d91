"""The tool loop on Anthropic's Messages, with the real SDK; `openai_loop` is its sibling.

    run(anthropic.Anthropic(), "What is 2 + 3?", [Tool(add)], model="claude-haiku-4-5").text

Retries after a lost connection, HTTP 429, 529 or a server's error, with growing waits, are the
SDK's own (`max_retries` of the client). A plain function: it works where an event loop is running,
as in Jupyter.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from .execute import Answer, Runnable
from .loop import MAX_TOKENS, Dialect, Loop, Settings
from .outcome import CUT, DECLINED, ODD, STOP_SEQUENCE, Outcome
from .received import Received
from .streaming import assemble, received
from .wire import blocks, calls_of

if TYPE_CHECKING:
    import anthropic

CHOICES = ("auto", "none", "required", "any")
"""What `tool_choice` may say besides a tool's name; "required", as OpenAI calls it, is Anthropic's
"any".
"""


def run(
    client: "anthropic.Anthropic",
    messages: str | Sequence[Mapping[str, Any]],
    tools: Mapping[str, Runnable] | Sequence[Runnable],
    *,
    model: str,
    system: str | list[dict[str, Any]] | None = None,
    tool_choice: str | Mapping[str, Any] = "auto",
    parallel: bool = True,
    stream: bool = False,
    max_tokens: int = MAX_TOKENS,
    options: Mapping[str, Any] | None = None,
    **settings: Unpack[Settings],
) -> Outcome:
    """Asks the model, runs the calls that it makes, and asks again, until it answers or has taken
    `max_steps` turns.

    `messages` is a question or a history, which is not changed. `tool_choice`: "auto", "none",
    "required" (or "any"), the name of a tool, or the API's own form; what it forces holds for the
    first turn only, or the model could never answer. `parallel=False` asks for one call at a time.
    `options` are further parameters of `create` (thinking, stop_sequences, …). For the settings see
    `loop.Loop`. The SDK's exceptions are raised, with what was done so far as `.outcome`. Raises
    `ValueError` for an unknown `tool_choice`.
    """
    loop = Loop(DIALECT, messages, tools, **settings)
    options = dict(options or {})
    max_tokens = options.pop("max_tokens", max_tokens)
    definitions = [tool.definition("anthropic") for tool in loop.tools.values()]
    choice = choice_of(tool_choice, loop.tools, parallel)

    def body_of(sent: list[dict[str, Any]], limit: int | None) -> dict[str, Any]:
        body = {"model": model, "messages": sent, "max_tokens": limit}
        body |= {"system": system} if system else {}
        if definitions:
            body |= {
                "tools": definitions,
                "tool_choice": choice if loop.turn == 1 else unforced(choice),
            }
        body |= {"stream": True} if stream else {}
        return body | options

    def send(body: dict[str, Any]) -> Received:
        if not stream:
            return received("anthropic", client.messages.create(**body))
        with client.messages.create(**body) as events:
            return assemble("anthropic", events, on_call=loop.calling, on_text=loop.text)

    def take_turn() -> str | None:
        message, reason, _ = loop.ask(body_of, send, max_tokens)
        calls = calls_of("anthropic", message)
        match reason:
            case "tool_use" | "end_turn" if calls:
                loop.run_calls(calls, told=stream)
            case "tool_use" | "end_turn":
                return "answer"
            case (
                "pause_turn"
            ):  # tools on the server's side are not done: the message goes back as it is
                loop.refuse_calls(calls, ODD)
            case "max_tokens" if (
                calls
            ):  # `input` may look whole and is not: an error goes back, the session goes on
                loop.refuse_calls(calls, CUT)
            case "max_tokens":
                return "length"
            case "model_context_window_exceeded":
                loop.refuse_calls(calls, CUT)
                return "context_window"
            case "refusal":
                loop.refuse_calls(calls, DECLINED)
                return "refusal"
            case "stop_sequence":
                loop.refuse_calls(calls, STOP_SEQUENCE)
                return "stop_sequence"
            case _:
                loop.refuse_calls(calls, ODD)
                return "unknown"
        return None

    return loop.drive(take_turn)


def choice_of(
    tool_choice: str | Mapping[str, Any], tools: Mapping[str, Runnable], parallel: bool
) -> dict[str, Any]:
    """`tool_choice` as the API takes it. Raises `ValueError` for a word that is neither a choice
    nor a tool.
    """
    if not isinstance(tool_choice, str):
        choice = dict(tool_choice)
    elif tool_choice in tools:
        choice = {"type": "tool", "name": tool_choice}
    elif tool_choice in CHOICES:
        choice = {"type": "any" if tool_choice == "required" else tool_choice}
    else:
        raise ValueError(
            f"unknown tool_choice {tool_choice!r}: use {', '.join([*CHOICES, *tools])}"
        )
    return (
        choice
        if parallel or choice["type"] == "none"
        else {**choice, "disable_parallel_tool_use": True}
    )


def unforced(choice: Mapping[str, Any]) -> dict[str, Any]:
    """What a choice becomes once a forced call was made: "auto", still one call at a time if it
    said so.
    """
    kept = {name: value for name, value in choice.items() if name == "disable_parallel_tool_use"}
    return dict(choice) if choice["type"] == "none" else {"type": "auto", **kept}


def answer_messages(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """One user message with a `tool_result` block for each answer: all of them in it, and nothing
    before them.
    """
    results = [
        {"type": "tool_result", "tool_use_id": answer.id, "content": answer.text}
        for answer in answers
    ]
    for result, answer in zip(results, answers, strict=True):
        if answer.is_error:
            result["is_error"] = True
    return [{"role": "user", "content": results}]


def _text(message: Mapping[str, Any]) -> str:
    return "".join(block["text"] for block in blocks(message, "text"))


DIALECT = Dialect("anthropic", _text, answer_messages, cut="max_tokens")
