"""Chat Completions chunks put together.

Each fragment of a call should carry the call's `index`, and the first one its id and name. Servers
that speak this API differ: arguments before the id, an id of "" or the whole id on later fragments,
index 0 for every call, no index at all on a continuation. What decides, in this order: the id, the
index, and being the only call that it can belong to.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .received import Received, StreamError, arguments_of, mended
from .reply import arguments_object


def message(
    content: str | None, refusal: str | None, calls: Sequence[tuple[str, str, str]]
) -> dict[str, Any]:
    """The assistant message to send back, with (id, name, arguments) for each call; null fields are
    left out.

    Empty arguments become `{}`, since so a call without arguments streams.
    """
    said: dict[str, Any] = {
        "role": "assistant",
        "content": content or (None if calls or refusal else ""),
    }
    if refusal:
        said["refusal"] = refusal
    if calls:
        said["tool_calls"] = [
            {
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": text if text.strip() else "{}"},
            }
            for id, name, text in calls
        ]
    return said


def assemble(
    chunks: Iterable[Mapping[str, Any]],
    on_call: Callable[[str], None],
    on_text: Callable[[str], None],
) -> Received:
    """The reply that the chunks make, as plain dicts; see `streaming.assemble`."""
    calls = _Calls(on_call)
    texts: dict[str, list[str]] = {"content": [], "refusal": []}
    stop = usage = None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices") or ():  # none in a chunk that carries only usage
            if choice.get("index"):
                raise StreamError("the stream holds more than one choice: ask for one (n=1)")
            delta = choice.get("delta") or {}
            for name, pieces in texts.items():
                if piece := delta.get(name):
                    pieces.append(piece)
                    on_text(piece)
            for fragment in delta.get("tool_calls") or ():
                calls.add(fragment)
            stop = choice.get("finish_reason") or stop
    if stop is None:
        raise StreamError("the stream ended before its finish_reason: the reply is incomplete")
    if stop == "tool_calls" and not calls.made:
        raise StreamError("the finish_reason is tool_calls, but no call came")
    content, refusal = map(mended, texts.values())
    return Received(message(content, refusal, calls.finished(cut=stop == "length")), stop, usage)


@dataclass
class _Made:
    index: int | None
    id: str | None = None
    name: str | None = None
    arguments: list[str] = field(default_factory=list)
    shared: bool = False  # its index is another call's too

    def complete(self) -> bool:
        """Whether the arguments so far are a whole object, so that nothing more belongs to this
        call.
        """
        text = "".join(self.arguments)
        return text.rstrip().endswith("}") and arguments_object(text) is not None


class _Calls:
    def __init__(self, on_call: Callable[[str], None]):
        self.made: list[_Made] = []
        self._on_call = on_call

    def add(self, fragment: Mapping[str, Any]) -> None:
        """Gives a fragment to the call that it belongs to, a new one if need be."""
        function = fragment.get("function") or {}
        text = function.get("arguments") or ""
        if not isinstance(text, str):
            raise StreamError(f"arguments came as {type(text).__name__}: they are JSON text")
        call = self._place(fragment.get("id") or None, fragment.get("index"), text)
        call.arguments.append(text)
        name = function.get("name")
        if name and call.name is None:
            call.name = name
            self._on_call(name)
        elif name and name != call.name:
            raise StreamError(f"one call has two names, {call.name} and {name}")

    def _place(self, id: str | None, index: int | None, text: str) -> _Made:
        here = [call for call in self.made if index is None or call.index == index]
        if id is None:
            if index is None and not here:
                raise StreamError("arguments came without an index before any call")
            waiting = (
                [call for call in here if not call.complete()] if text and len(here) > 1 else []
            )
            if len(waiting) > 1:
                raise StreamError(
                    f"arguments without an id may belong to {waiting[0].id} or to {waiting[1].id}"
                )
            return [*here, *waiting][-1] if here else self._new(None, index)
        known = [call for call in self.made if call.id == id]
        if known and index is not None and known[0].index is not None and known[0].index != index:
            raise StreamError(f"two calls have the id {id}")
        if known:
            return known[0]
        nameless = [call for call in here if call.id is None]
        if nameless:  # its arguments came first
            if len(here) > 1 or index is None:
                raise StreamError(
                    f"arguments came before their id, and may be those of {id} or of another call"
                )
            nameless[0].id = id
            return nameless[0]
        call = self._new(id, index)
        if index is not None and here:
            for other in [*here, call]:
                other.shared = True
        return call

    def _new(self, id: str | None, index: int | None) -> _Made:
        self.made.append(_Made(index, id))
        return self.made[-1]

    def finished(self, cut: bool) -> list[tuple[str, str, str]]:
        """(id, name, arguments) of each call, in order; the last may be incomplete if the reply was
        `cut`.
        """
        done = []
        for call in self.made:
            if call.id is None or call.name is None:
                raise StreamError(
                    f"call {len(done)} never got its {'id' if call.id is None else 'name'}"
                )
            text = arguments_of(call.arguments, call.id)
            if call.shared and not call.complete() and not (cut and call is self.made[-1]):
                raise StreamError(
                    f"the arguments of {call.id} may have gone to another call of the same index"
                )
            done.append((call.id, call.name, text))
        return done
