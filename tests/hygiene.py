"""What nbval lets through: rules for a committed notebook, each a function from a notebook to a
list of problems.
"""

import html
import re
from statistics import median

MARKER = "# NBVAL_CHECK_OUTPUT"
TAKE_AWAY = "take-away"  # the tag of the one long cell that a reader is meant to copy whole
WIDTH = 88  # characters: longer lines run out of a cell at ordinary window widths
MAGICS = {"%matplotlib inline"}
HEADINGS = (
    "what you'll learn",
    "what you need",
    "check yourself",
    "summary",
    "in practice",
    "your turn",
    "next",
)
MACHINE = re.compile(
    r"/(?:home|Users|root|work|tmp|private|opt)/[\w.-]+|[A-Za-z]:\\\\?(?:Users|Windows)|"
    r"site-packages|ipykernel_\d+| at 0x[0-9a-f]{6,}"
)
# A number that was measured or quoted: with a thousands separator, a decimal point or a per cent
# sign.
FIGURE = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+(?=\s?%))(?![\w]|[.,]\d)"
)
LINK = re.compile(r"\]\(https?://|<https?://|\]\[")


def text(value: str | list[str]) -> str:
    """A notebook's text field, which the format allows to be a list of lines."""
    return value if isinstance(value, str) else "".join(value)


def code_cells(nb: dict) -> list[dict]:
    return [cell for cell in nb["cells"] if cell["cell_type"] == "code"]


def prose(nb: dict) -> list[str]:
    return [text(cell["source"]) for cell in nb["cells"] if cell["cell_type"] == "markdown"]


def tags(cell: dict) -> list[str]:
    return cell["metadata"].get("tags", [])


def checked(cell: dict) -> bool:
    return text(cell["source"]).split("\n")[0] == MARKER


def output_text(cell: dict) -> str:
    """What a cell's outputs say: streams, and the text or HTML of results (tags left out), but no
    pixels.
    """
    parts = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            parts.append(text(output["text"]))
        data = output.get("data", {})
        parts.append(text(data.get("text/plain", "")))
        parts.append(html.unescape(re.sub(r"<[^>]+>", " ", text(data.get("text/html", "")))))
    return "\n".join(parts)


def kernel(nb: dict) -> list[str]:
    problems = []
    if nb["metadata"].get("kernelspec", {}).get("name") != "python3":
        problems.append("the kernel is not python3")
    if set(nb["metadata"]) - {"kernelspec", "language_info"} or set(
        nb["metadata"].get("language_info", {})
    ) - {"name"}:
        problems.append("metadata of one machine: refresh with `workbook notebooks`")
    return problems


def counts(nb: dict) -> list[str]:
    """nbval passes a notebook without execution counts, because it then compares nothing."""
    found = [cell.get("execution_count") for cell in code_cells(nb)]
    return (
        []
        if found == list(range(1, len(found) + 1))
        else [f"execution counts are {found}, not 1 to {len(found)}"]
    )


def outputs(nb: dict) -> list[str]:
    problems = []
    for number, cell in enumerate(code_cells(nb), start=1):
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                problems.append(f"cell {number}: a stored error")
            if output.get("name") == "stderr":
                problems.append(f"cell {number}: wrote to standard error")
        if checked(cell) and not output_text(cell).strip():
            problems.append(f"cell {number}: checked, but there is no text to check")
    return problems


def markers(nb: dict) -> list[str]:
    """nbval reads a marker only as a whole comment line: anything close to one is a check that
    never runs.
    """
    problems = []
    for number, cell in enumerate(code_cells(nb), start=1):
        for place, line in enumerate(text(cell["source"]).split("\n")):
            if "nbval" in line.lower() and (line != MARKER or place > 0):
                problems.append(
                    f"cell {number}: {line.strip()!r} is not {MARKER!r} alone on the first line"
                )
        for tag in tags(cell):
            if "nbval" in tag.lower() or tag == "raises-exception":
                problems.append(f"cell {number}: the tag {tag!r} changes what is checked")
    return problems


def code(nb: dict) -> list[str]:
    """Magics, shell lines and silencing semicolons: nbval passes the first two when they are
    wrong.
    """
    problems = []
    for number, cell in enumerate(code_cells(nb), start=1):
        source = text(cell["source"]).rstrip()
        for line in source.split("\n"):
            if re.match(r"\s*(?:[%!?]|[\w.]+\?\??$)", line) and line.strip() not in MAGICS:
                problems.append(f"cell {number}: a magic or shell line: {line.strip()!r}")
        if source.endswith(";"):
            problems.append(f"cell {number}: ends in a semicolon")
        if not source:
            problems.append(f"cell {number}: is empty")
    return problems


def machine_paths(nb: dict) -> list[str]:
    problems = []
    for number, cell in enumerate(nb["cells"], start=1):
        shown = output_text(cell) if cell["cell_type"] == "code" else ""
        for where, what in (("source", text(cell["source"])), ("output", shown)):
            if found := MACHINE.search(what):
                problems.append(
                    f"{where} of cell {number} of all: {found[0]!r} is of one machine or run"
                )
    return problems


def sizes(nb: dict) -> list[str]:
    cells = code_cells(nb)
    lengths = {
        number: len(text(cell["source"]).split("\n")) for number, cell in enumerate(cells, start=1)
    }
    long = {number for number, length in lengths.items() if length > 25}
    takes = {number for number, cell in enumerate(cells, start=1) if TAKE_AWAY in tags(cell)}
    problems = [
        f"cell {number}: {lengths[number]} lines, more than 25" for number in sorted(long - takes)
    ]
    problems += [
        f"cell {number}: more than 125 lines" for number in sorted(takes) if lengths[number] > 125
    ]
    if len(takes) > 1:
        problems.append("more than one take-away cell")
    if not 15 <= len(cells) <= 35:
        problems.append(f"{len(cells)} code cells, not 15 to 35")
    if lengths and median(lengths.values()) >= 8:
        problems.append(f"the median code cell has {median(lengths.values())} lines, not under 8")
    return problems


def widths(nb: dict) -> list[str]:
    """Lines of code, in cells and in the fenced blocks of prose, solutions among them."""
    blocks = [(f"code cell {n}", text(c["source"])) for n, c in enumerate(code_cells(nb), start=1)]
    for source in prose(nb):
        for block in re.findall(r"^```\w*\n(.*?)^```", source, flags=re.MULTILINE | re.DOTALL):
            blocks.append(("a fenced block", block))
    return [
        f"{where}: {len(line)} characters, more than {WIDTH}: {line.strip()[:60]!r}"
        for where, block in blocks
        for line in block.split("\n")
        if len(line) > WIDTH
    ]


def headings(nb: dict) -> list[str]:
    without_code = [
        re.sub(r"^```.*?^```", "", source, flags=re.MULTILINE | re.DOTALL) for source in prose(nb)
    ]
    found = re.findall(r"^(#{1,6})\s+(.+)$", "\n".join(without_code), re.MULTILINE)
    problems = []
    if not found or [level for level, _ in found].count("#") != 1 or found[0][0] != "#":
        problems.append("no title, or more than one")
    titles = iter(
        re.sub(r"[*_`]", "", title).replace("’", "'").strip().lower() for _, title in found[1:]
    )
    for wanted in HEADINGS:
        if not any(title.startswith(wanted) for title in titles):
            problems.append(f"no heading {wanted!r} in its place (order: {', '.join(HEADINGS)})")
            break
    if not re.search(r"\bTime\b.*\bminutes\b", "\n".join(prose(nb)), re.DOTALL):
        problems.append("no Time in minutes")
    return problems


def figures(nb: dict) -> list[str]:
    """Every figure in prose is in the output of a checked cell, or on a line with a link to its
    source.
    """
    known = {
        figure.replace(",", "")
        for cell in code_cells(nb)
        if checked(cell)
        for figure in all_numbers(cell)
    }
    problems = []
    for source in prose(nb):
        source = re.sub(r"^```.*?^```", "", source, flags=re.MULTILINE | re.DOTALL)
        for line in source.split("\n"):
            if LINK.search(line):
                continue
            line = re.sub(r"`[^`]*`|https?://\S+|\bPython \d\.\d+", " ", line)
            for figure in FIGURE.findall(line):
                if figure.replace(",", "") not in known:
                    problems.append(
                        f"{figure} is in no checked output and has no link: {line.strip()[:80]!r}"
                    )
    return problems


def all_numbers(cell: dict) -> list[str]:
    return re.findall(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?", output_text(cell))


RULES = (kernel, counts, outputs, markers, code, machine_paths, sizes, widths, headings, figures)
