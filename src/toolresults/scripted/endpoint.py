"""What an offline endpoint is: how one API answers over HTTP, and in what pieces it streams."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..agent.api import Api
from .reply import Reply


@dataclass(frozen=True)
class Sent:
    """A reply as an endpoint writes it on the wire: its number, the request, what is said, the
    calls' ids, the usage."""

    number: int
    body: Mapping[str, Any]
    reply: Reply
    ids: Sequence[str]
    usage: Mapping[str, Any]


class Endpoint:
    """What a scripted model needs to know of one API's server. Each API's own class has besides:

    - `client(base, url)`: a real client of the SDK, from options and the URL of a host;
    - `message(reply, ids)`: the assistant message of a reply, as an unstreamed response holds it;
    - `size(reply, ids)`: its output tokens: what its message will weigh in the next request, and
      its thinking; `usage(total, cached, written, written_1h, output, reply)`: tokens of a call, as
      the vendor reports them;
    - `response(sent)`: the body of an unstreamed response; `events(sent, style)`: the server-sent
      events of a streamed one;
    - `error(status, text, code)`: the body of an error response; `too_long(tokens, window)`: the
      message and the code that refuse a request larger than the model's window;
    - `tool_names(body)`, and `choice(body)`: whether there must be a call, and which tools may be
      called (None: any).
    """

    api: Api
    path: str
    """How the path of a request ends."""
    id_prefix: str
    stops: Mapping[str, str]
    """The API's own stop reason for each of `reply.STOPS`."""

    def odd_request(self, body: Mapping[str, Any]) -> str | None:
        """What else is wrong with a request: a choice of tools without tools, or of one that is not
        there."""
        names = self.tool_names(body)
        if body.get("tool_choice") is not None and not names:
            return "tool_choice: only allowed when tools are given"
        missing = sorted((self.choice(body)[1] or set()) - names)
        return f"tool_choice: {missing[0]} is not among the tools" if missing else None

    def issued(self, reply: Reply, ids: Sequence[str]) -> dict[str, Any]:
        """What must come back with each call as it was sent, by id (see `Api.fault`)."""
        return {}


@dataclass(frozen=True)
class Style:
    """One way to cut a reply into stream events.

    - `size`: UTF-16 units in a piece of text or arguments (None: all in one). JavaScript servers
      cut between units, so that one piece can end with half of an emoji's pair.
    - `id_last`: on OpenAI, a call's arguments come before its id and name. (On Anthropic the id
      always comes first.)
    - `later_id`: what later pieces of a call carry as id, if anything ("same": its id and name
      again). OpenAI only.
    - `index`: "own" for each call; "zero" for all; "once": none on the later pieces.
    - `empty_arguments`: a call whose arguments are `{}` streams an empty text.
    - `extras`: events that say nothing about the message: on OpenAI chunks without choices before
      and after, on Anthropic pings and an event of an unknown type.
    """

    size: int | None = 24
    id_last: bool = False
    later_id: str | None = None
    index: str = "own"
    empty_arguments: bool = False
    extras: bool = False

    def pieces(self, text: str) -> list[str]:
        """`text` in pieces, none of them empty; put together they are `text`, once surrogates are
        mended.
        """
        units = text.encode("utf-16-le", "surrogatepass")
        step = 2 * self.size if self.size else max(len(units), 1)
        return [
            units[start : start + step].decode("utf-16-le", "surrogatepass")
            for start in range(0, len(units), step)
        ]

    def arguments(self, text: str) -> list[str]:
        """The pieces of a call's arguments."""
        return [] if self.empty_arguments and text == "{}" else self.pieces(text)


STYLES = {
    "tidy": Style(),
    "whole": Style(size=None),
    "characters": Style(size=1),
    "arguments_first": Style(size=7, id_last=True),
    "empty_id": Style(size=7, later_id=""),
    "same_id": Style(size=7, later_id="same"),
    "same_index": Style(size=7, index="zero"),
    "no_index": Style(size=7, index="once"),
    "empty_arguments": Style(empty_arguments=True),
    "extras": Style(extras=True),
}
"""The styles by name. "tidy" is what both vendors' own servers do."""


def style_of(fragments: str | None, number: int) -> Style:
    """The style of the `number`-th reply. "awkward" takes the next style of the table each time;
    None is "tidy".

    Raises `ValueError` for an unknown name.
    """
    if fragments == "awkward":
        awkward = [style for name, style in STYLES.items() if name not in ("tidy", "whole")]
        return awkward[number % len(awkward)]
    if (fragments or "tidy") not in STYLES:
        known = ", ".join(STYLES)
        raise ValueError(f"unknown fragments {fragments!r}: use awkward or one of {known}")
    return STYLES[fragments or "tidy"]


def event_json(data: object) -> str:
    """An event's data as JSON: UTF-8 as servers write it, or ASCII escapes where half of a pair has
    no UTF-8.
    """
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(data)
    return text
