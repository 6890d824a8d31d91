"""Tool results that fit: count, shape, page and budget what an agent's tools return.

Modules, from the bottom up: ``tokens`` (what the model pays for), ``results`` (cursors, shapes,
budgets, payloads), ``tools`` (a typed function as a tool), ``agent`` (the loop, histories and their
bill), ``codemode`` (a model's code in a sandbox), ``audit`` (what makes your own results large).
The notebooks' own package is ``workbook``.
"""

__version__ = "0.1.0"
__all__ = ["__version__"]
