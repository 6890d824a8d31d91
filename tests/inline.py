"""What a notebook writes from scratch, taken out of its cells, to be held against the package.

inline("03")["cap"](5_000)    # the function `cap` of notebook 03
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

from workbook.run import read

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


@cache
def notebook(number: str) -> NotebookNode:
    """The notebook whose name begins with `number`."""
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    return read(path)


def title(number: str) -> str:
    """The text of its first cell."""
    return notebook(number).cells[0].source


def tagged(number: str, tag: str) -> list[str]:
    return [
        cell.source
        for cell in notebook(number).cells
        if cell.cell_type == "code" and tag in cell.metadata.get("tags", [])
    ]


def cell_with(number: str, marker: str) -> NotebookNode:
    """The one code cell that holds the text `marker`."""
    (found,) = [
        cell
        for cell in notebook(number).cells
        if cell.cell_type == "code" and marker in cell.source
    ]
    return found


@cache
def inline(number: str) -> dict:
    """The functions and the constants of the cells tagged `inline`, by name.

    Of what these cells do besides (a client, a picture, a call that shows the output), nothing is
    run; of what the notebook imports, only what the functions use.
    """
    made = [
        node
        for source in tagged(number, "inline")
        for node in ast.parse(source).body
        if _defines(node)
    ]
    used = {node.id for one in made for node in ast.walk(one) if isinstance(node, ast.Name)}
    names: dict = {}
    exec(_compiled([*_imports(number, used), *made], number), names)
    return names


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        return True
    try:
        return isinstance(node, ast.Assign) and ast.literal_eval(node.value) is not None
    except ValueError:  # no constant
        return False


def _imports(number: str, used: set[str]) -> Iterator[ast.stmt]:
    cells = [cell.source for cell in notebook(number).cells if cell.cell_type == "code"]
    for node in (node for source in cells if source[:1] != "%" for node in ast.parse(source).body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [name for name in node.names if (name.asname or name.name) in used]
            if node.names:
                yield node


def _compiled(nodes: list[ast.stmt], name: str):
    return compile(ast.Module(nodes, []), f"notebook {name}", "exec")
