"""Files for JavaScript code: host functions that list and read the files of one folder, and never
write.

Python has its files mounted; V8 knows no file system at all.
"""

from pathlib import Path

from ..tools import ToolError
from .functions import HostFunction

READ_CHARS = 10_000_000
"""Most characters of one read: a large tool result in one piece, and well within the code's
memory.
"""

_STEP = 1_000_000


class NoSuchFile(ToolError, LookupError):
    """The name is not one of the folder's files."""


def file_functions(folder: Path) -> dict[str, HostFunction]:
    """`files.list` and `files.read` for the files that lie directly in `folder`: no folders, no
    links out of it.
    """
    folder = folder.resolve()

    def files() -> dict[str, Path]:
        found = {path.name: path for path in folder.iterdir()}
        return {
            name: path
            for name, path in found.items()
            if path.is_file() and path.resolve().parent == folder
        }

    def list_files() -> list[str]:
        """The names of the files."""
        return sorted(files())

    def read(name: str, offset: int = 0, maxChars: int = READ_CHARS) -> str:
        """The text of a file from `offset` on, in characters; "" at its end."""
        # looked up among the names that there are, so that no name can lead anywhere else
        path = files().get(name)
        if path is None:
            raise NoSuchFile("there is no such file: files.list() names them")
        if offset < 0 or not 0 < maxChars <= READ_CHARS:
            raise ToolError(f"offset must not be below 0, and maxChars is 1 to {READ_CHARS}")
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            while offset and (skipped := file.read(min(offset, _STEP))):
                offset -= len(skipped)
            return file.read(maxChars)

    functions = [HostFunction(list_files, "files", "list"), HostFunction(read, "files")]
    return {function.path: function for function in functions}
