"""A small assistant's tools (weather, time, currency, a blog) over fixed data, so that every run
says the same.

    tools = assistant_tools()
    tools["weather"].call({"city": "Hanoi"}).text

Cities, rates and posts are invented. How long a call takes is declared in `SECONDS`: nothing waits,
and nothing is timed. A `ModelledClock` adds those seconds up, so that a log of the calls can be
read for the slowest one.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Annotated

from pydantic import Field

from toolresults.tools import Number, Tool, ToolError, Whole

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
"""The moment at which the assistant lives."""

SECONDS = {"weather": 0.4, "time": 0.1, "currency": 0.3, "search_blog": 0.8, "get_blog": 0.2}
"""Declared seconds of one call, by tool."""

CITIES = {  # degrees Celsius, sky, humidity in per cent, hours from UTC
    "Hanoi": (31, "light rain", 84, 7),
    "Da Nang": (33, "clear", 66, 7),
    "Berlin": (19, "clouds", 58, 2),
    "Osaka": (27, "clear", 71, 9),
}

_PER_DOLLAR = {"USD": 1.0, "EUR": 0.8, "VND": 25_000.0, "JPY": 150.0}
"""What one dollar buys, by currency."""

POSTS = (
    (
        7,
        "How we pack lamps",
        "Two layers of paper, one box, no air. Since then one lamp in a thousand breaks.",
    ),
    (
        12,
        "Lamps for small rooms",
        "Light the corners first. One lamp for every nine square metres is enough.",
    ),
    (
        15,
        "A week in the workshop",
        "On Monday we cast, on Friday we ship. Visitors are welcome on Wednesdays.",
    ),
)
"""The blog: id, title and text of each post."""

City = Annotated[str, Field(description="Name of the city in English.")]
Code = Annotated[str, Field(description="Three letters, such as EUR.")]


class ModelledClock:
    """Seconds that pass only when somebody spends them; call it to read it."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def spend(self, seconds: float) -> None:
        """Lets `seconds` pass."""
        self.seconds += seconds


def _known(city: str) -> tuple[int, str, int, int]:
    if city not in CITIES:
        raise ToolError(f'There is no city "{city}". The cities are: {", ".join(CITIES)}.')
    return CITIES[city]


def weather(city: City) -> dict:
    """The weather in a city now."""
    celsius, sky, humidity, _ = _known(city)
    return {
        "city": city,
        "celsius": celsius,
        "humidity_percent": humidity,
        "summary": f"{sky.capitalize()} in {city}, {celsius} degrees.",
    }


def time(city: City) -> dict:
    """The local date and time in a city."""
    local = NOW + timedelta(hours=_known(city)[3])
    return {
        "city": city,
        "local_time": f"{local:%Y-%m-%d %H:%M}",
        "summary": f"It is {local:%H:%M} in {city}.",
    }


def currency(amount: Number, from_code: Code, to_code: Code) -> dict:
    """Converts an amount of money from one currency to another."""
    for code in (from_code, to_code):
        if code not in _PER_DOLLAR:
            raise ToolError(
                f'There is no rate for "{code}". The currencies are: {", ".join(_PER_DOLLAR)}.'
            )
    to_amount = round(amount / _PER_DOLLAR[from_code] * _PER_DOLLAR[to_code], 2)
    return {
        "to_amount": to_amount,
        "summary": f"{amount:,.2f} {from_code} are {to_amount:,.2f} {to_code}.",
    }


def search_blog(query: Annotated[str, Field(description="A word of the title.")]) -> dict:
    """Finds posts of the blog by their titles. Read one with get_blog."""
    found = [
        {"post_id": id, "title": title} for id, title, _ in POSTS if query.lower() in title.lower()
    ]
    return {
        "posts": found,
        "summary": f'{len(found)} of {len(POSTS)} posts have "{query}" in the title.',
    }


def get_blog(post_id: Annotated[Whole, Field(description="post_id of search_blog.")]) -> dict:
    """Reads one post of the blog."""
    for id, title, text in POSTS:
        if id == post_id:
            return {"post_id": id, "title": title, "text": text}
    raise ToolError(f"There is no post {post_id}. Use a post_id that search_blog returned.")


def assistant_tools(spend: Callable[[float], None] = lambda seconds: None) -> dict[str, Tool]:
    """The five tools by name. `spend(seconds)` is called with the declared seconds of each call as
    it is run.
    """

    def spending(function: Callable[..., dict]) -> Callable[..., dict]:
        @wraps(function)
        def run(**given: object) -> dict:
            spend(SECONDS[function.__name__])
            return function(**given)

        return run

    functions = (weather, time, currency, search_blog, get_blog)
    return {function.__name__: Tool(spending(function)) for function in functions}
