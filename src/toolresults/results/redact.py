"""Secrets are taken out of a text before anything else happens to it.

Before, because a secret that lies across the edge of two windows can be put together from both. The rules work on
plain text, on JSON, and on JSON inside JSON, where quotes carry backslashes; valid JSON stays valid.

    redact('{"card_token":"tok_abc","amount":5}')  # {"card_token":"[redacted]","amount":5}
"""

import re

REDACTED = "[redacted]"

SECRET_KEYS = (
    "password", "passwd", "passphrase", "secret", "secret_key", "api_key", "access_key", "private_key", "access_token",
    "refresh_token", "id_token", "auth_token", "session_token", "card_token", "card_number", "authorization", "cookie",
    "cvv", "cvc",
)  # fmt: skip
"""A key that ends in one of these has its value removed; case does not matter, and `_` may be `-` or left out."""

_ENDINGS = "|".join(name.replace("_", "[-_]?") for name in SECRET_KEYS)
_NAME = rf"(?:[\w-]{{0,40}}(?:{_ENDINGS})|token)"  # `token` alone: next_page_token is no secret
_SPACE = r"(?:\s|\\{1,16}[nrt]){0,40}"  # line breaks of nested JSON are escapes
_KEY = re.compile(
    rf"(?<!\\)(?P<slashes>\\{{0,63}})(?P<quote>[\"']){_NAME}(?P=slashes)(?P=quote){_SPACE}:{_SPACE}", re.IGNORECASE
)

_PATTERNS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),  # a JSON Web Token, RFC 7519
    re.compile(r"(?<=\bbearer )[\w.~+/-]{8,}=*|(?<=\bbasic )[A-Za-z0-9+/]{12,}=*", re.IGNORECASE),  # RFC 6750, RFC 7617
    re.compile(
        r"\b(?:tok|sk|rk|pk)_(?:live|test)_\w{6,}|\bsk-[\w-]{16,}"
    ),  # keys and card tokens of payment and AI APIs
    re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{20,}|\bxox[abprs]-[\w-]{10,}"),  # AWS, GitHub, Slack
    re.compile(rf"(?<![\w-]){_NAME}=(?P<value>[^\s&;,\"'\\]+)", re.IGNORECASE),  # a query string, a .env file
)
_HEADER = re.compile(r"(?im)^((?:proxy-)?authorization|(?:set-)?cookie|x-api-key):[ \t]*(?!\[redacted\]$)\S.*$")
# 13 to 19 digits in a card issuer's range (ISO/IEC 7812), bare or in groups
_CARD = re.compile(r"(?<![\w.-])[3-6](?:[ -]?\d){12,18}(?![\w.-]?\d)")


def redact(text: str) -> str:
    """`text` with every secret that the rules know replaced by `[redacted]` (a bare JSON number by `null`)."""
    text = _by_key(text)
    for pattern in _PATTERNS:
        text = pattern.sub(_replace, text)
    text = _HEADER.sub(rf"\1: {REDACTED}", text)
    return _CARD.sub(_card, text)


def _replace(match: re.Match) -> str:
    if "value" not in match.re.groupindex:
        return REDACTED
    return match[0][: match.start("value") - match.start()] + REDACTED


def _card(match: re.Match) -> str:
    if not _luhn(re.sub(r"\D", "", match[0])):
        return match[0]
    bare = match[0].isdigit() and match.string[: match.start()].rstrip()[-1:] in (":", ",", "[")
    return "null" if bare else REDACTED


def _luhn(digits: str) -> bool:
    """The check digit of ISO/IEC 7812, which nine of ten random numbers fail."""
    doubled = [int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def _by_key(text: str) -> str:
    parts, done = [], 0
    for key in _KEY.finditer(text):
        if key.start() < done:
            continue  # inside a value that is already gone
        slashes, quote = key["slashes"], key["quote"]
        end = _value_end(text, key.end(), slashes, quote)
        value = text[key.end() : end]
        if value and value != "null":
            is_text = value.startswith(slashes + quote)
            parts += [text[done : key.end()], f"{slashes}{quote}{REDACTED}{slashes}{quote}" if is_text else "null"]
            done = end
    return "".join([*parts, text[done:]])


def _value_end(text: str, start: int, slashes: str, quote: str) -> int:
    """Where the JSON value that starts at `start` ends; the end of the text if it was cut off.

    At nesting level k a quote is written with 2^k - 1 backslashes. A run of backslashes before a quote closes the
    string of that level when its length is 2^k - 1 modulo 2^(k+1); any other belongs to the text inside.
    """
    level, depth, inside = len(slashes), 0, False
    for mark in re.compile(rf"(?<!\\)(\\*){quote}|[\[\]{{}},]|[\s]").finditer(text, start):
        found = mark[0]
        if found.endswith(quote):
            if len(mark[1]) % (2 * (level + 1)) == level:
                inside = not inside
                if not inside and depth == 0:
                    return mark.end()
        elif inside:
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
