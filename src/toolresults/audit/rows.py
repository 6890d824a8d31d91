"""Which part of a document are the rows?

A tool result is seldom a bare list: the rows sit under `data` or `items`, in a map from id to
object, or as JSON text inside an MCP result. `find_rows` looks for the longest list of objects, and
says where it was.
"""

from dataclasses import dataclass, field

from toolresults.audit.load import Document, InputError, parse
from toolresults.audit.measure import shown

MAP_ENTRIES = 10
"""Fewest entries for an object whose values are all objects to be taken for a map of rows, not for
one record.
"""

Path = tuple[str | int, ...]


@dataclass
class Rows:
    """Rows, and where they were found. `text` is what the model would see as it is written."""

    text: str
    size: int  # bytes of the whole file
    document: object
    rows: list
    path: str  # "$.data"; "$" is the whole document
    kind: str  # json, json lines, mcp, json text
    others: list[tuple[str, int]] = field(
        default_factory=list
    )  # other lists of objects: path, length
    warnings: list[str] = field(default_factory=list)


def find_rows(text: str, size: int, name: str, wanted: str | None = None) -> Rows:
    """The rows in *text*. `wanted` is the path of a list to take instead of the longest. Raises
    `InputError`.
    """
    document = parse(text, name)
    kind, value = (
        ("json", document.values[0])
        if len(document.values) == 1
        else ("json lines", document.values)
    )
    found = Rows(text, size, value, [], "$", kind, warnings=document.warnings)
    _unwrap(found)
    candidates = _candidates(found.document)
    if wanted:
        path = wanted if wanted.startswith("$") else f"$.{wanted}"
        if path not in candidates:
            there = ", ".join(list(candidates)[:5]) or "none"
            raise InputError(f"no list of objects at {wanted[:80]}: there is {there}")
    else:  # the first of the longest: candidates come outermost first
        path = max(candidates, key=lambda path: len(candidates[path]), default=None)
        found.others = sorted(
            ((p, len(r)) for p, r in candidates.items() if p != path), key=lambda x: -x[1]
        )[:3]
    if path:
        found.path, found.rows = path, candidates[path]
    elif isinstance(found.document, list):
        found.rows = found.document
    else:
        found.rows = [found.document]
    return found


def _unwrap(found: Rows) -> None:
    """Replace an MCP result, or JSON kept as a string, by what the model is shown."""
    value = found.document
    if isinstance(value, dict) and isinstance(value.get("result"), dict) and "jsonrpc" in value:
        value = value["result"]
    structured = isinstance(value, dict) and value.get("structuredContent") is not None
    blocks = value.get("content") if isinstance(value, dict) else value
    if (
        isinstance(blocks, list)
        and blocks
        and all(isinstance(b, dict) and "type" in b for b in blocks)
    ):
        texts = [
            b["text"] for b in blocks if b["type"] == "text" and isinstance(b.get("text"), str)
        ]
        kind = "mcp"
    elif isinstance(value, str):
        texts, kind = [value], "json text"
    else:
        return
    values = []
    for text in texts:
        inner = _inner(text)
        if inner is None:
            if kind == "json text":
                return
            found.warnings.append("a text block holds no JSON: it is measured as text")
            inner = Document([text])
        values += inner.values
        found.warnings += inner.warnings
    if not values:
        return
    found.text, found.kind = "\n".join(texts), kind
    found.document = values[0] if len(values) == 1 else values
    if structured:
        found.warnings.append(
            "structuredContent is there beside the text: a host that sends both pays twice"
        )
    other = len(blocks) - len(texts) if kind == "mcp" else 0
    if other:
        found.warnings.append(
            f"{other:,} content block{'s' * (other > 1)} without text (images, links) not counted"
        )


def _inner(text: str) -> Document | None:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return parse(text, "the text block")
    except InputError:
        return None


def _candidates(document: object) -> dict[str, list]:
    """Every list of objects that is not inside another one, by path, outermost first."""
    found: dict[str, list] = {}
    queue: list[tuple[str, object]] = [("$", document)]
    for path, value in queue:  # grows as it is walked: breadth first, and no recursion
        if isinstance(value, list):
            if len(value) == 1 and path == "$" and _holds_rows(value[0]):
                queue.append(("$[0]", value[0]))
            elif any(isinstance(item, dict) for item in value):
                found[path] = value
            elif value and all(isinstance(item, list) for item in value):
                flat = [item for page in value for item in page]
                if flat and all(isinstance(item, dict) for item in flat):
                    found[f"{path}[*]"] = flat
        elif isinstance(value, dict):
            if len(value) >= MAP_ENTRIES and all(isinstance(item, dict) for item in value.values()):
                found[f"{path}.*"] = list(value.values())
            else:
                queue += [(f"{path}.{shown(key)}", item) for key, item in value.items()]
    return found


def _holds_rows(value: object) -> bool:
    return isinstance(value, dict) and any(
        isinstance(item, list) and len(item) > 1 and isinstance(item[0], dict)
        for item in value.values()
    )
