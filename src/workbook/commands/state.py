"""The key that signs cursors, which has to last from one call on the command line to the next.

It comes from the environment (`TOOLRESULTS_KEY`), else from a file that only its owner can read,
made at the first call.
"""

import os
import re
import secrets
import stat
import sys
import tempfile
from pathlib import Path

import platformdirs

from toolresults.cli import Fault

VARIABLE = "TOOLRESULTS_KEY"
FILE = "cursor.key"
_OTHERWISE = f"or set {VARIABLE} to a secret of your own"


def signing_keys(folder: Path | None = None) -> list[bytes]:
    """The keys, oldest first: the last one signs, all are accepted.

    `TOOLRESULTS_KEY` may hold several, with commas between: append the new one, and drop the old
    one when its cursors have expired. `folder` is where the file is, the user's state folder unless
    given. Raises `Fault`.
    """
    given = os.environ.get(VARIABLE)
    if given is not None:
        keys = [os.fsencode(key.strip()) for key in given.split(",") if key.strip()]
        if not keys:
            raise Fault(f"{VARIABLE} holds no key: set it to a secret, or unset it")
        return keys
    path = (folder or platformdirs.user_state_path("toolresults", appauthor=False)) / FILE
    try:
        return [_read(path)]
    except FileNotFoundError:
        pass
    except OSError as error:
        raise Fault(
            f"the signing key {path} cannot be read ({error.strerror}): delete it, {_OTHERWISE}"
        ) from None
    try:
        _create(path)
        return [_read(path)]
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Fault(
            f"no signing key can be kept in {path.parent} ({reason}): make it writable, {_OTHERWISE}"
        ) from None


def _read(path: Path) -> bytes:
    # without O_NOFOLLOW a link in a shared folder could make us trust somebody else's file
    handle = os.open(
        path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    )
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if hasattr(os, "getuid"):  # Windows keeps the profile folder to its owner by other means
            if about.st_uid != os.getuid():
                raise Fault(
                    f"the signing key {path} belongs to another user: remove it, {_OTHERWISE}"
                )
            if stat.S_IMODE(about.st_mode) & 0o077:
                raise Fault(
                    f"others can use the signing key {path}: delete it, and a new one is made ({_OTHERWISE})"
                )
        text = file.read(200).strip()
    if not re.fullmatch(rb"[0-9a-f]{64}", text):
        raise Fault(f"the signing key {path} is damaged: delete it, and a new one is made")
    return text


def _create(path: Path) -> None:
    """Write a new key, unless another first call has just done so. The file appears whole, or not
    at all.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)  # it may have been there, with a wider mode
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".key-")  # mode 0600
    try:
        with open(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32) + "\n")
            file.flush()
            os.fsync(handle)
        # Both refuse to replace a file that is there: the first call wins, and the second reads its
        # key.
        (os.rename if sys.platform == "win32" else os.link)(temporary, path)
    except FileExistsError:
        pass
    finally:
        Path(temporary).unlink(missing_ok=True)
