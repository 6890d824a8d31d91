"""The assistant of notebook 09: it says the same in every run, and takes the seconds declared."""

import json

import pytest

from workbook.examples.assistant import SECONDS, ModelledClock, assistant_tools


def test_it_spends_the_declared_seconds_of_each_call_that_is_run():
    clock = ModelledClock()
    tools = assistant_tools(spend=clock.spend)
    assert set(tools) == set(SECONDS)
    tools["weather"].call({"city": "Hanoi"})
    tools["time"].call({"city": "Atlantis"})  # it fails, and still took its time
    tools["get_blog"].call({"post": 7})  # refused before it is run
    assert clock() == SECONDS["weather"] + SECONDS["time"]


VND = {"amount": 100, "from_code": "EUR", "to_code": "VND"}
SMALL_ROOMS = {"post_id": 12, "title": "Lamps for small rooms"}


@pytest.mark.parametrize(
    ("name", "arguments", "field", "value"),
    [
        ("weather", {"city": "Hanoi"}, "summary", "Light rain in Hanoi, 31 degrees."),
        ("time", {"city": "Osaka"}, "local_time", "2026-07-01 21:00"),
        ("currency", VND, "to_amount", 3_125_000),
        ("currency", VND | {"to_code": "VDN"}, "error", 'There is no rate for "VDN". '),
        ("search_blog", {"query": "SMALL"}, "posts", [SMALL_ROOMS]),
        ("search_blog", {"query": "ships"}, "summary", '0 of 3 posts have "ships" in the title.'),
        ("get_blog", {"post_id": 12}, "title", "Lamps for small rooms"),
        (
            "get_blog",
            {"post_id": 1},
            "error",
            "There is no post 1. Use a post_id that search_blog returned.",
        ),
    ],
)
def test_it_says_the_same_in_every_run(name, arguments, field, value):
    found = json.loads(assistant_tools()[name].call(arguments).text)[field]
    assert found.startswith(value) if field == "error" else found == value
