"""Where the committed data lives."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_path(name: str = "") -> Path:
    """Path of `name` in the project's `data/` folder, or in the copy of it inside an installed
    wheel.

    `name` is relative, with forward slashes (`"orders.parquet"`, `"results/steps.csv"`); the file
    need not exist yet. Raises `ValueError` for a name that would leave the folder and
    `FileNotFoundError` where there is no data at all.
    """
    # by the layout of a checkout: beside an installed package, a folder called data would be
    # someone else's
    folder = _PACKAGE.parents[1] / "data" if _PACKAGE.parent.name == "src" else _PACKAGE / "_data"
    if not folder.is_dir():
        raise FileNotFoundError(f"no data folder at {folder}")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{name!r} leaves the data folder")
    return path
