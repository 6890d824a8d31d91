"""One HTML page that holds every notebook that was run, with its figures: readable offline, no
script in it. ``report.html.j2``, beside this file, extends nbconvert's own template.
"""

from pathlib import Path, PurePosixPath

import jinja2
import nbformat
from markupsafe import Markup, escape
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from workbook.run import Outcome


def write(outcomes: list[Outcome], target: Path, headline: list[dict[str, str]]) -> None:
    """Write the report of *outcomes* to *target*, with the rows of *headline* on top, if it has
    any.
    """
    language = {"name": "python", "pygments_lexer": "ipython3"}
    metadata = {"language_info": language, "title": "Tool Results That Fit: report"}
    page = nbformat.v4.new_notebook(metadata=metadata)
    notebooks = {}
    for outcome in outcomes:
        name = outcome.path.stem
        notebooks[name] = {"file": outcome.path.name, "error": outcome.error, "headings": []}
        for place, cell in enumerate(outcome.nb.cells):
            where = {**cell.metadata, "notebook": name}
            page.cells.append(
                nbformat.from_dict(cell | {"id": f"{name}-{place}", "metadata": where})
            )
    html = HTMLExporter(
        template_file=str(Path(__file__).with_name("report.html.j2")),
        filters={"markdown2html": _markdown},
    )
    resources = {"notebooks": notebooks, "headline": headline}
    target.write_text(html.from_notebook_node(page, resources)[0], encoding="utf-8")


@jinja2.pass_context
def _markdown(context: jinja2.runtime.Context, source: str) -> str:
    cell, notebooks = context["cell"], context["resources"]["notebooks"]
    renderer = _Renderer(cell.metadata.notebook, notebooks, cell.get("attachments"))
    return MarkdownWithMath(renderer).render(source)


class _Renderer(IPythonRenderer):
    """Markdown of the notebook *name* as HTML, in which the ids of headings are its own, and links
    to notebooks stay inside the report. Headings are noted for the table of contents.
    """

    def __init__(self, name: str, notebooks: dict[str, dict], attachments: dict | None) -> None:
        super().__init__(escape=False, attachments=attachments)
        self.name, self.notebooks = name, notebooks

    def heading(self, text: str, level: int, **attrs) -> str:
        headings = self.notebooks[self.name]["headings"]
        plain = Markup(text).striptags()
        anchor = f"{self.name}-{plain.replace(' ', '-')}"
        if again := sum(heading["text"] == plain for heading in headings):
            anchor += f"-{again}"
        headings.append({"level": level, "text": plain, "id": anchor})
        return f'<h{level} id="{escape(anchor)}">{text}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        file, _, fragment = url.partition("#")
        if file.endswith(".ipynb") or not file:
            name = PurePosixPath(file).stem or self.name
            if name not in self.notebooks:  # a report of some notebooks
                return text
            url = f"#{name}-{fragment}" if fragment else f"#{name}"
        return super().link(text, url, title)
