"""The APIs that the agent's tests run over, and what they ask of messages and requests."""

import pytest

from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.openai_chat import OPENAI_CHAT

APIS = (OPENAI_CHAT, ANTHROPIC)
EACH_API = pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)


def answered(api, message):
    """The ids of the calls that a message answers, by both ways to ask."""
    ids = api.answered(message)
    assert ids == [result.id for result in api.results(message)]
    return ids


def request_text(api, body):
    """The text that a request is counted over."""
    return "".join(part.text for part in api.request_parts(body))
