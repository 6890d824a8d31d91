"""Secrets are taken out of a text before anything else happens to it.

Before, because a secret that lies across the edge of two windows can be put together from both. The
rules work on plain text, on JSON, and on JSON inside JSON, where quotes carry backslashes; valid
JSON stays valid.

    redact('{"card_token":"tok_abc","amount":5}')  # {"card_token":"[redacted]","amount":5}
"""

import re
from functools import lru_cache

REDACTED = "[redacted]"

MAX_PASSES = 8
"""A secret that is glued to another is seen only once that one is gone: two passes, and seldom a
third, find all.
"""

_SECRET_KEYS = (
    "password", "passwd", "passphrase", "secret", "secret_key", "api_key", "access_key",
    "private_key", "access_token", "refresh_token", "id_token", "auth_token", "session_token",
    "card_token", "card_number", "authorization", "cookie", "cvv", "cvc",
)  # fmt: skip
"""A key that ends in one of these has its value removed; case does not matter, and `_` may be `-`
or left out.
"""

_ENDINGS = "|".join(name.replace("_", "[-_]?") for name in _SECRET_KEYS)
_NAME = rf"(?:[\w-]{{0,40}}(?:{_ENDINGS})|token)"  # `token` alone: next_page_token is no secret
_SPACE = r"(?:\s|\\+[nrt])*+"  # line breaks of nested JSON are escapes
_KEY = re.compile(
    rf"(?<!\\)(?P<slashes>\\*+)(?P<quote>[\"']){_NAME}(?P=slashes)(?P=quote){_SPACE}:{_SPACE}",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?<!\\)(?P<slashes>\\*)(?P<quote>[\"'])|(?<!\\)\\+[nrt]|[\[\]{},\s]")

# In JSON, the letter before a secret may be the end of an escape, as in `\nsk-…` or `\u0026token=…`
_ESCAPE = r"(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})"
_START = rf"(?:\b|{_ESCAPE})"
_PATTERNS = (
    # its end may be missing: then it goes as far as the string that it stands in
    re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^\"'\\]|\\+[^\"'\\])*?"
        r"(?:-----END [A-Z ]*PRIVATE KEY-----|(?=\\*(?:[\"']|\Z)))"
    ),
    # a JSON Web Token, RFC 7519; the look ahead keeps a long run that is none from being read again
    # and again
    re.compile(
        rf"(?<![\w-])(?=[\w-]*+\.[\w-]{{8,}}+\.)[\w-]*?{_START}(?P<value>eyJ[\w-]{{8,}}\.[\w-]+\.[\w-]*)"
    ),
    # RFC 6750, RFC 7617; `\/` is how PHP writes a slash in JSON
    re.compile(rf"{_START}bearer (?P<value>(?:[\w.~+/-]|\\+/){{8,}}=*)", re.IGNORECASE),
    re.compile(rf"{_START}basic (?P<value>(?:[A-Za-z0-9+/]|\\+/){{12,}}=*)", re.IGNORECASE),
    # keys and card tokens of payment and AI APIs
    re.compile(rf"{_START}(?:(?:tok|sk|rk|pk)_(?:live|test)_\w{{6,}}|sk-[\w-]{{16,}})"),
    # AWS, GitHub, Slack
    re.compile(
        rf"{_START}(?:(?:AKIA|ASIA)[0-9A-Z]{{16}}\b|gh[pousr]_\w{{20,}}|xox[abprs]-[\w-]{{10,}})"
    ),
    # a query string, a .env file
    re.compile(
        rf"(?:(?<![\w-])|{_ESCAPE})(?=[\w-]*+=){_NAME}=(?P<value>(?:[^\s&;,\"'\\]|\\+/)+)",
        re.IGNORECASE,
    ),
    # a header on a line of its own, and inside a string, where a line break is an escape
    re.compile(
        r"^[ \t]*(?:proxy-)?(?:authorization|(?:set-)?cookie|x-api-key):[ \t]*(?P<value>\S.*)$",
        re.I | re.M,
    ),
    re.compile(
        r"(?:(?<=[\"'])|(?<=\\[nrt]))(?:proxy-)?(?:authorization|(?:set-)?cookie|x-api-key):[ \t]*"
        r"(?P<value>[^\s\"'\\][^\"'\\\r\n]*)",
        re.IGNORECASE,
    ),
)
# 13 to 19 digits in a card issuer's range (ISO/IEC 7812), bare or in groups
_CARD = re.compile(rf"(?:(?<![\w.-])|{_ESCAPE})[3-6](?:[ -]?\d){{12,18}}(?![\w.-]?\d|[eE][+-])")


# all windows of a payload, one after the other, begin with the redacted whole
@lru_cache(maxsize=8)
def redact(text: str) -> str:
    """`text` with every secret that the rules know replaced by `[redacted]` (a bare JSON number by
    `null`).
    """
    for _ in range(MAX_PASSES):
        before, text = text, _pass(text)
        if text == before:
            break
    return text


def _pass(text: str) -> str:
    text = _CARD.sub(_card, _by_key(text))
    for pattern in _PATTERNS:
        text = pattern.sub(_replace, text)
    return text


def _replace(match: re.Match) -> str:
    if "value" not in match.re.groupindex:
        return REDACTED
    return match[0][: match.start("value") - match.start()] + REDACTED


def _card(match: re.Match) -> str:
    if not _luhn(re.sub(r"\D", "", match[0])):
        return match[0]
    before = match.string[max(match.start() - 40, 0) : match.start()].rstrip()[-1:]
    return "null" if match[0].isdigit() and before in ("", ":", ",", "[") else REDACTED


def _luhn(digits: str) -> bool:
    """The check digit of ISO/IEC 7812, which nine of ten random numbers fail."""
    doubled = [int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def _level(slashes: str) -> int:
    """How many strings a quote behind `slashes` is nested in: JSON puts 2^k - 1 backslashes before
    it at level k.

    More may stand before those, and belong to the text; each of them is doubled k + 1 times, so
    that the number's trailing ones, in binary, still say the level.
    """
    return ((len(slashes) ^ (len(slashes) + 1)).bit_length()) - 1


def _by_key(text: str) -> str:
    parts, done, read, depth = [], 0, 0, 0
    for key in _KEY.finditer(text):
        if key.start() < done:
            continue  # inside a value that is already gone
        level = _level(key["slashes"])
        # Python's way of writing: as deep as the double quotes that are open around it
        if key["quote"] == "'":
            for slashes in re.findall(r'(?<!\\)(\\*)"', text[read : key.start()]):
                depth = min(_level(slashes), depth) if _level(slashes) != depth else depth + 1
            read, level = key.start(), depth
        end = _value_end(text, key.end(), level, key["quote"])
        value = text[key.end() : end]
        if value and value != "null":
            opening = re.match(r"(\\*)[\"']", value)
            if opening and key["quote"] == '"':
                # no string of JSON begins like this
                if value[opening.end() - 1] == "'" or _level(opening[1]) != level:
                    opening = None
            instead = f"{opening[0]}{REDACTED}{opening[0]}" if opening else "null"
            parts += [text[done : key.end()], instead]
            done = end
    return "".join([*parts, text[done:]])


def _value_end(text: str, start: int, level: int, quote: str) -> int:
    """Where the value that starts at `start`, and whose key has its quotes at `level`, ends.

    That is the end of the string around it, or of the text, if it was cut off before.
    """
    opened, depth = None, 0
    for mark in _MARK.finditer(text, start):
        found = mark[0]
        if mark["quote"]:
            at = _level(mark["slashes"])
            if mark["quote"] == '"' and at < level:
                return mark.start()
            if opened == (mark["quote"], at):
                opened = None
                if depth == 0:
                    return mark.end()
            elif opened is None and (quote == "'" or (mark["quote"] == '"' and at == level)):
                opened = mark["quote"], at
        elif opened:
            continue
        elif found in "[{":
            depth += 1
        elif found in "]}":
            depth -= 1
            if depth <= 0:
                return mark.start() if depth < 0 else mark.end()
        elif depth == 0:
            return mark.start()
    return len(text)
