"""Exact counts in several encodings at once.

A vocabulary takes up to a second to load, and loading holds Python's lock, so threads do not help.
All encodings but the first are therefore counted by a second process, which loads them while this
one reads and weighs the file.
"""

import subprocess
import sys
import threading
from collections.abc import Sequence

from toolresults.tokens import count_many, repair

_SEPARATOR = "\0"  # stands in neither of the texts that are counted: JSON escapes it


class Helper:
    """A second Python that counts texts. Use it as a context manager: it never outlives the block.

    With `start=False` this process counts, which is quicker once it has loaded the vocabularies
    itself.
    """

    def __init__(self, encodings: Sequence[str], start: bool = True) -> None:
        self.encodings = encodings
        self._start = start
        self._process = None

    def __enter__(self) -> "Helper":
        if not self._start:
            return self
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, *self.encodings],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:  # no second process to be had: `count` does the work here
            self._process = None
        return self

    def send(self, texts: list[str]) -> None:
        """Hand over the texts, and return at once: a thread writes them, since the reader is still
        loading.
        """
        self._texts = texts
        if self._process:
            self._writer = threading.Thread(target=self._write, daemon=True)
            self._writer.start()

    def _write(self) -> None:
        try:
            self._process.stdin.write(
                _SEPARATOR.join(repair(text) for text in self._texts).encode("utf-8")
            )
            self._process.stdin.close()
        except (OSError, ValueError):  # it has gone, or the block was left: `counts` sees that
            self._process.kill()

    def counts(self) -> dict[str, list[int]]:
        """By encoding, the tokens of each text that was sent, in order."""
        if self._process:
            answer = self._process.stdout.read().split()
            self._writer.join()
            if self._process.wait() == 0 and len(answer) == len(self._texts) * len(self.encodings):
                numbers = iter([int(n) for n in answer])
                return {
                    encoding: [next(numbers) for _ in self._texts] for encoding in self.encodings
                }
        return {encoding: count_many(self._texts, encoding) for encoding in self.encodings}

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                try:
                    pipe.close()
                except OSError:
                    pass


def _serve(encodings: list[str]) -> None:
    for encoding in encodings:  # loads the vocabularies before the texts are there
        count_many([""], encoding)
    texts = sys.stdin.buffer.read().decode("utf-8").split(_SEPARATOR)
    print(*(n for encoding in encodings for n in count_many(texts, encoding)))


if __name__ == "__main__":
    _serve(sys.argv[1:])
