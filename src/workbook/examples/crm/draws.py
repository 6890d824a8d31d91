"""Draws: a person's name and user name, and a choice by shares."""

import functools
import random
import unicodedata
from collections.abc import Mapping

from . import vocabulary as words

LANGUAGES = {"Vietnamese": 30, "English": 30, "German": 15, "Spanish": 15, "Japanese": 10}
"""Shares of the languages that people and customers come from, in percent."""


def draw_person(rng: random.Random, language: str | None = None) -> tuple[str, str]:
    """A full name as it is written in its language, and a user name for it."""
    language = language or pick(rng, LANGUAGES)
    given, family = rng.choice(words.GIVEN[language]), rng.choice(words.FAMILY[language])
    parts = [family, given] if language in ("Vietnamese", "Japanese") else [given, family]
    return " ".join(part.partition("|")[0] for part in parts), f"{_plain(given)}.{_plain(family)}"


@functools.cache
def _plain(name: str) -> str:
    spelling = name.partition("|")[2] or name
    letters = unicodedata.normalize("NFKD", spelling.lower().replace("đ", "d"))
    return "".join(letter for letter in letters if letter.isascii())


def pick(rng: random.Random, shares: Mapping[str, int]) -> str:
    """One of the keys of `shares`, each as often as its share says."""
    return rng.choices(list(shares), weights=list(shares.values()))[0]
