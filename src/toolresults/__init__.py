"""Tool results that fit: count, shape, page and budget what an agent's tools return.

The package behind the workbook in ``notebooks/``. Modules, from the bottom up: ``tokens`` (what the model pays for),
``results`` (cursors, shapes, budgets, payloads), ``tools`` (a typed function as a tool), ``examples`` (systems that
tools stand in front of).
"""

from toolresults.paths import data_path

__version__ = "0.1.0"
__all__ = ["__version__", "data_path"]
