"""What the model pays for: one way to turn a value into text, and an exact count of that text.

- `to_json` is the only way a value becomes text in this project.
- `count_tokens` counts that text exactly; `estimate_tokens` is the usual rule of thumb (characters
  ÷ 4).

Counting is done by toktok, whose vocabularies are inside its wheel, so the first count needs no
network. It counts as tiktoken does, but for the letters, marks and digits that Unicode 17.0 added
in 2025, which tiktoken 0.14 does not know.
"""

import json
from collections.abc import Iterable
from functools import lru_cache

import toktok

from .plain import plain, repair

ENCODINGS = ("o200k_base", "cl100k_base", "qwen3.5")
"""The encodings that `count_tokens` knows: GPT-4o and later, GPT-4, and Qwen 3.5."""


def count_tokens(text: str, encoding: str = "o200k_base") -> int:
    """Exact number of tokens in `text`, for any `str` whatsoever.

    Text that looks like a special token (`<|endoftext|>`) is counted as plain text, since that is
    how an API treats it in a message. Raises `ValueError` for an unknown encoding and `TypeError`
    for anything but a `str`.
    """
    return count_many([text], encoding)[0]


def count_many(texts: Iterable[str], encoding: str = "o200k_base") -> list[int]:
    """Exact number of tokens in each text, in order; see `count_tokens`."""
    if encoding not in ENCODINGS:
        raise ValueError(f"unknown encoding {encoding!r}: use one of {', '.join(ENCODINGS)}")
    texts = list(texts)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(
                f"count_tokens takes text, got {type(text).__name__}: pass to_json(value) to count a value"
            )
    return toktok.batch_count([repair(text) for text in texts], encoding, threads=1)


def estimate_tokens(text: str) -> int:
    """The estimate that most vendors use: characters ÷ 4, rounded down."""
    return len(text) // 4


@lru_cache
def tiktoken_encoding(name: str = "o200k_base"):
    """OpenAI's own tokenizer as a `tiktoken.Encoding`, built without a download.

    tiktoken fetches its vocabulary on first use. The same bytes are inside toktok's wheel, so they
    are taken from there. Raises `ValueError` for an encoding that tiktoken does not have.
    """
    import tiktoken
    from tiktoken_ext import openai_public

    sizes = {
        "o200k_base": 199_998,
        "cl100k_base": 100_256,
    }  # ordinary tokens, before the special ones
    if name not in sizes:
        raise ValueError(f"tiktoken has no encoding {name!r}: use {' or '.join(sizes)}")
    source = toktok._encoding(name)

    def from_wheel(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        return {source.decode_single_token_bytes(i): i for i in range(sizes[name])}

    constructor = openai_public.ENCODING_CONSTRUCTORS[name]
    offline = type(constructor)(
        constructor.__code__, {**constructor.__globals__, "load_tiktoken_bpe": from_wheel}
    )
    return tiktoken.Encoding(**offline())


def to_json(value: object) -> str:
    """`value` as compact JSON text: no spaces, no ASCII escapes, always valid.

    What becomes of dates, decimals, data frames and the rest: see `plain.plain`, which raises
    `ValueError` for what has no honest JSON.
    """
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
