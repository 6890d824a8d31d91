"""How a scripted model cuts its stream: tidily, or in each of the awkward ways that users of real
servers report.
"""

import json
from dataclasses import dataclass


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
        raise ValueError(
            f"unknown fragments {fragments!r}: use awkward or one of {', '.join(STYLES)}"
        )
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
