"""The generators of `data/make`, which are scripts and no part of the packages."""

import importlib.util
from pathlib import Path

MAKE = Path(__file__).parents[1] / "data" / "make"


def maker(name: str):
    """The module of a generator, as `orders` or `company`."""
    spec = importlib.util.spec_from_file_location(f"make_{name}", MAKE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
