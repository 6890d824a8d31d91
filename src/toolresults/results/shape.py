"""Shaping a row: keep the fields that the reader asked for, and cap long text before anything is
counted.

What was cut is named by a ref, so that nothing is lost.

    row = {"id": 1, "body": "x" * 400_000}
    shape(row, caps={"body": 200}, ref=lambda row, field: f"{field}_{row['id']}")
    # {"id": 1, "body": "xxx…", "body_ref": "body_1"}
"""

import base64
import binascii
import re
from collections.abc import Callable, Collection, Mapping

from ..tokens import to_json

ELLIPSIS = "…"
"""Ends every text that was cut."""

TEXT_CAP = 200
"""Characters of a long text field that a listing shows, unless the tool says otherwise: about two
sentences.
"""

# ECMA-48: a control sequence (colours, cursor moves), an operating-system command (titles, links),
# or another escape
_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)[^,]{0,100};base64,")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{64}")
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)


def clean(text: str) -> str:
    """`text` without terminal colour codes and control characters; new lines and tabs stay."""
    return _CONTROL.sub("", _ANSI.sub("", text))


def cut(text: str, max_chars: int) -> str:
    """`text` in at most `max_chars` characters, ending in `…` if anything was left out. `max_chars`
    is at least 1.
    """
    if max_chars < 1:
        raise ValueError("cut needs max_chars of at least 1: the mark alone takes one character")
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + ELLIPSIS


def describe_binary(text: str) -> dict | None:
    """`{"media_type", "bytes"}` if `text` is a file written as base64 (bare, or as a `data:` URI),
    else None.

    A model cannot read an image out of its base64; two million characters of it only push
    everything else out.
    """
    uri = _DATA_URI.match(text)
    body = text[uri.end() :] if uri else text
    if not uri and not _BASE64.match(body):
        return None
    try:
        head = base64.b64decode(body[:64].translate({ord("-"): "+", ord("_"): "/"}), validate=True)
    except (binascii.Error, ValueError):
        return None
    known = (name for magic, name in _MAGIC if head.startswith(magic))
    media_type = uri[1] if uri else next(known, None)
    if media_type is None:
        return None
    size = len(body.rstrip("=\r\n")) * 3 // 4
    return {"media_type": media_type, "bytes": size}


def shape(
    row: Mapping[str, object],
    fields: Collection[str] | None = None,
    *,
    caps: Mapping[str, int] | None = None,
    ref: Callable[[Mapping[str, object], str], str | None] | None = None,
) -> dict[str, object]:
    """The row as the model sees it: `fields` only (all by default), with every text cleaned and cut
    to its cap.

    `caps` gives the most characters for a field (`TEXT_CAP` for those not named). A field that was
    cut gets a sibling `<field>_ref` by which the whole is fetched, if `ref(row, field)` gives one.
    A base64 file becomes its type and size. A nested value whose JSON text is over the cap is shown
    as that text, cut.
    """
    shaped: dict[str, object] = {}
    for name in row if fields is None else fields:
        value = row[name]
        cap = (caps or {}).get(name, TEXT_CAP)
        if isinstance(value, str):
            text = clean(value)
        elif isinstance(value, Mapping | list | tuple) and len(to_json(value)) > cap:
            text = to_json(value)
        else:
            shaped[name] = value
            continue
        binary = describe_binary(text)
        shaped[name] = binary or cut(text, cap)
        if ref and (binary or len(text) > cap) and (reference := ref(row, name)):
            shaped[f"{name}_ref"] = reference
    return shaped
