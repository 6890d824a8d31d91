"""One HTML page that holds every notebook that was run, with its figures: readable offline, no
script in it.
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter

from workbook.runner import Outcome

STYLE = """
:root { --ink: #1f2933; --soft: #52606d; --line: #d9e2ec; --accent: #0072b2; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
body.jp-Notebook { margin: 0; padding: 0; color: var(--ink); background: #fff; overflow: visible; height: auto;
  display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
.contents { position: sticky; top: 0; height: 100vh; overflow-y: auto; box-sizing: border-box; padding: 1.5rem 1rem;
  border-right: 1px solid var(--line); background: #f7f9fb; font: 14px/1.45 system-ui, sans-serif; }
.contents b { font-size: 15px; } .contents ol { list-style: none; margin: 1rem 0 0; padding: 0; }
.contents li { margin: .45rem 0; } .contents a { color: var(--accent); text-decoration: none; }
.contents a:hover { text-decoration: underline; } .failed { color: #b42318; }
main { max-width: 62rem; padding: 1.5rem 2rem 6rem; box-sizing: border-box; }
main .jp-Cell { padding: 4px 0; }
main .jp-InputPrompt, main .jp-OutputPrompt { flex: 0 0 52px; min-width: 52px; font-size: 11px; }
main .jp-MarkdownCell .jp-InputPrompt { display: none; }
main .jp-RenderedHTMLCommon { font-size: 15px; line-height: 1.55; }
main .jp-RenderedHTMLCommon p { max-width: 46rem; } main .jp-OutputArea-output img { max-width: 100%; height: auto; }
main .jp-MarkdownCell table { margin-left: 0; }
main .jp-OutputArea-output pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.notebook { border-top: 2px solid var(--line); margin-top: 3rem; padding-top: 1rem; }
.notebook > .file { color: var(--soft); font: 13px system-ui, sans-serif; }
.error { border-left: 4px solid #b42318; background: #fef3f2; padding: .6rem 1rem;
  font: 14px/1.5 system-ui, sans-serif; }
.headline table { border-collapse: collapse; font: 14px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.headline th, .headline td { padding: .3rem .9rem; border-bottom: 1px solid var(--line); text-align: left; }
.headline th.number, .headline td.number { text-align: right; }
.headline h1 { font: 600 26px/1.3 system-ui, sans-serif; }
details { border: 1px solid var(--line); border-radius: 4px; padding: .4rem .8rem; margin: .6rem 0; }
summary { cursor: pointer; }
@media (max-width: 60rem) { body.jp-Notebook { display: block; } main { padding: 1rem; }
  .contents { position: static; height: auto; } }
@media print { body.jp-Notebook { display: block; } .contents { display: none; } }
"""
SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
NOTEBOOK_LINK = re.compile(r'href="(?:[^":]*/)?([\w-]+)\.ipynb(#[^"]*)?"')
IDS = re.compile(r'(<h[1-6][^>]*?\sid=")')
ANCHORS = re.compile(r'(<a class="anchor-link" href="#)')

NUMBERS = ("exact", "estimate", "share")  # the headline's columns that are set to the right
Table = tuple[Sequence[str], Sequence[Sequence[str]]]


def write(outcomes: list[Outcome], target: Path, headline: Table | None = None) -> Path:
    """Write the report of *outcomes* to *target*, with *headline* (column names, rows of text) on
    top.

    Raises ValueError where there is no outcome to report.
    """
    if not outcomes:
        raise ValueError("no notebook to report")
    exporter = HTMLExporter(template_name="lab")
    pages = [exporter.from_notebook_node(_page(outcome))[0] for outcome in outcomes]
    head = SCRIPT.sub("", pages[0].partition("</head>")[0])
    head = re.sub(
        r"<title>.*?</title>", "<title>Tool Results That Fit: report</title>", head, flags=re.DOTALL
    )
    body = "".join(_section(outcome, page) for outcome, page in zip(outcomes, pages, strict=True))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        f"{head}<style>{STYLE}</style></head>\n"
        f'<body class="jp-Notebook" data-jp-theme-light="true" data-jp-theme-name="JupyterLab Light">\n'
        f"{_contents(outcomes)}\n<main>{_headline(headline)}{body}</main>\n</body></html>\n",
        encoding="utf-8",
    )
    return target


def title(outcome: Outcome) -> str:
    """The text of a notebook's first heading; its file's name where it has none."""
    for cell in outcome.nb.cells:
        found = (
            re.search(r"^#\s+(.+)$", cell.source, re.MULTILINE)
            if cell.cell_type == "markdown"
            else None
        )
        if found:
            return re.sub(r"[*`]", "", found[1]).strip()
    return outcome.path.stem


def _page(outcome: Outcome) -> nbformat.NotebookNode:
    """The notebook, with its code's language said even if it never started (the exporter colours by
    it).
    """
    outcome.nb.metadata["language_info"] = nbformat.from_dict(
        {"name": "python", "pygments_lexer": "ipython3"}
    )
    return outcome.nb


def _section(outcome: Outcome, page: str) -> str:
    """The notebook in a converted *page*, its heading ids made its own and its links kept inside
    the report.
    """
    name = outcome.path.stem
    inner = page.partition("<main>")[2].rpartition("</main>")[0]
    inner = NOTEBOOK_LINK.sub(r'href="#\1"', SCRIPT.sub("", inner))
    inner = ANCHORS.sub(rf"\g<1>{name}-", IDS.sub(rf"\g<1>{name}-", inner))
    error = f'<p class="error">Failed in {html.escape(outcome.error)}</p>' if outcome.error else ""
    file = f'<p class="file">{html.escape(outcome.path.name)}</p>'
    return f'<section class="notebook" id="{name}">{file}{error}{inner}</section>\n'


def _contents(outcomes: list[Outcome]) -> str:
    items = "".join(
        f'<li><a href="#{outcome.path.stem}">{html.escape(title(outcome))}</a>'
        f"{' <span class=failed>failed</span>' if outcome.error else ''}</li>"
        for outcome in outcomes
    )
    top = '<li><a href="#top">Top</a></li>'
    return f'<nav class="contents"><b>Tool Results That Fit</b><ol>{top}{items}</ol></nav>'


def _headline(headline: Table | None) -> str:
    if headline is None:
        return '<div id="top"></div>'
    columns, rows = headline

    def cells(tag: str, texts: Sequence[str]) -> str:
        kinds = [' class="number"' if column in NUMBERS else "" for column in columns]
        return "".join(
            f"<{tag}{kind}>{html.escape(text)}</{tag}>"
            for kind, text in zip(kinds, texts, strict=True)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    heading = "<h1>What each step leaves for the model</h1>"
    return f'<div class="headline" id="top">{heading}<table><tr>{cells("th", columns)}</tr>{body}</table></div>'
