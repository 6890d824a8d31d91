"""What to tell a model whose code called a function that is not there."""

import difflib
import re
from collections.abc import Mapping

from .functions import HostFunction

MOST = 3
"""Most functions that are named as missing."""


def missing_functions(code: str, error: str, functions: Mapping[str, HostFunction]) -> str:
    """One sentence for each call in `code` of a function that is not there, with the nearest that
    is; "" if none.

    `error` is what the run ended with: only names that it mentions count. A name that is no
    namespace may be a variable of the code, so it counts only if some function's path is nearly the
    same.
    """
    namespaces = {function.namespace for function in functions.values()}
    mentioned = set(re.findall(r"\w+", error))
    told = []
    for namespace, name in dict.fromkeys(
        re.findall(r"(?<![\w.])([A-Za-z]\w*)\.([A-Za-z]\w*)\s*\(", code)
    ):
        path = f"{namespace}.{name}"
        if path in functions or not {namespace, name} <= mentioned:
            continue
        if near := difflib.get_close_matches(path, functions, 1, 0.8):
            if (
                f"Did you mean {functions[near[0]].name}?" not in error
            ):  # the type checker of Python says so itself
                told.append(f"There is no {path}. Did you mean {near[0]}?")
        elif namespace in namespaces:
            told.append(f"There is no {path}. Find the function with search.")
    return " ".join(told[:MOST])
