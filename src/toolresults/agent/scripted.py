"""A scripted model behind the real SDKs: it decides nothing, and it is as strict as a real API.

    model = ScriptedModel(lambda messages: Reply("Hello."))
    client = model.openai()            # a real openai.OpenAI, whose requests end here and not on a network
    client.chat.completions.create(model="any", messages=[{"role": "user", "content": "Hi"}])
    model.requests                     # the bodies that the SDK sent

A policy, a plain function from the messages to the next `Reply`, stands in for the model. Every
request is checked by the API's rules (`wire.fault`), measured against the context window, counted
(`request_text`), and refused with HTTP 400 where the real API would refuse it. Same requests, same
ids, same usage: nothing here is random.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import scripted_anthropic, scripted_openai
from .fragments import style_of
from .reply import Reply, Sent
from .request_text import Part, request_parts, request_text, tokens_of
from .wire import calls_of, fault

if TYPE_CHECKING:
    import anthropic
    import httpx2
    import openai

__all__ = ["Reply", "ScriptedModel", "request_text"]

WINDOW = 200_000
"""Default context window, in tokens: Claude's."""

DIALECTS = {"openai": scripted_openai, "anthropic": scripted_anthropic}


class ScriptedModel:
    """A model whose replies a policy makes, spoken to through the real clients.

    - `policy(messages)`: the next `Reply`; it gets the messages of the request, as they were sent.
      What it raises comes back as an HTTP 500 that says so and is not retried (the SDKs'
      `InternalServerError`).
    - `window`: the largest request that is accepted, in tokens of `request_text`.
    - `cache`: anything with `read(parts) -> (cached, written)`, in tokens. It is called once for
      each request that is accepted, in order, with `request_text.request_parts` of the request: the
      text's pieces, and on Anthropic where its breakpoints stand. Usage then reports both numbers
      as each vendor does, and `written_1h`, an attribute that the cache may have, as the part of
      the last `written` that is kept for an hour. None: nothing is cached.
    - `fragments`: how streams are cut: a name in `fragments.STYLES`, or "awkward" for each awkward
      style in turn.
    - `errors`: HTTP statuses to answer the first requests with (None for a normal answer), so that
      the SDKs' retries can be seen; each comes with a wait of one millisecond.

    A reply longer than the request's `max_tokens` is cut, with the stop reason for it. Call ids
    count up from call_1 (toolu_1), above any that stand in the messages. Raises `ValueError` for an
    unknown `fragments`.
    """

    def __init__(
        self,
        policy: Callable[[list[dict[str, Any]]], Reply],
        *,
        window: int = WINDOW,
        cache: Any = None,
        fragments: str | None = None,
        errors: Sequence[int | None] = (),
    ):
        style_of(fragments, 0)
        self.policy, self.window, self.cache, self.fragments = policy, window, cache, fragments
        self.requests: list[dict[str, Any]] = []
        """The bodies of all requests in the order in which they came, refused and retried ones
        among them.
        """
        self._errors = list(errors)
        self._lock = (
            threading.RLock()
        )  # clients are used from several threads, and a policy may ask this model too
        self._replies = self._calls = 0
        self._issued: dict[str, list[dict[str, Any]]] = {}

    def openai(self, **options: Any) -> "openai.OpenAI":
        """A real OpenAI client whose requests this model answers. `options` go to its
        constructor.
        """
        import openai

        return openai.OpenAI(**self._options("https://model.invalid/v1", options))

    def anthropic(self, **options: Any) -> "anthropic.Anthropic":
        """A real Anthropic client whose requests this model answers. `options` go to its
        constructor.
        """
        import anthropic

        return anthropic.Anthropic(**self._options("https://model.invalid", options))

    def _options(self, base_url: str, options: Mapping[str, Any]) -> dict[str, Any]:
        import httpx2

        client = httpx2.Client(transport=httpx2.MockTransport(self.handle))
        return {"api_key": "scripted", "base_url": base_url, "http_client": client, **options}

    def handle(self, request: "httpx2.Request") -> "httpx2.Response":
        """Answers one HTTP request: POST to …/chat/completions, …/messages or
        …/messages/count_tokens.
        """
        api = "openai" if request.url.path.endswith("/chat/completions") else "anthropic"
        if api == "anthropic" and not re.search(r"/messages(/count_tokens)?$", request.url.path):
            return self._refuse("openai", 404, f"there is nothing at {request.url.path}")
        body = json.loads(request.content)
        with self._lock:
            self.requests.append(body)
            status = self._errors.pop(0) if self._errors else None
            if status:
                return self._refuse(
                    api, status, f"scripted answer {status}", headers={"retry-after-ms": "1"}
                )
            return self._answer(api, body, counting=request.url.path.endswith("/count_tokens"))

    def _answer(self, api: str, body: dict[str, Any], counting: bool) -> "httpx2.Response":
        dialect = DIALECTS[api]
        try:
            broken = fault(api, body.get("messages"), self._issued) or dialect.odd_request(body)
            parts = [] if broken else request_parts(api, body)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            broken = f"tools, tool_choice or system are not in this API's form ({type(error).__name__}: {error})"
        if broken:
            return self._refuse(api, 400, broken)
        total = tokens_of(parts)
        if counting:
            return self._respond(200, {"input_tokens": total})
        if total > self.window:
            return self._refuse(api, 400, *dialect.too_long(total, self.window))
        try:
            return self._reply(api, body, parts, total)
        except (
            Exception
        ) as error:  # raised as it is, one SDK would take it for a lost connection, and try again
            text = f"the script failed: {type(error).__name__}: {error}"
            return self._refuse(api, 500, text, headers={"x-should-retry": "false"})

    def _reply(
        self, api: str, body: dict[str, Any], parts: list[Part], total: int
    ) -> "httpx2.Response":
        dialect = DIALECTS[api]
        reply = self.policy(body["messages"])
        _obey(*dialect.choice(body), reply)
        cached, written = (0, 0) if self.cache is None else self.cache.read(parts)
        ids = self._new_ids(api, body["messages"], len(reply.calls))
        if most := dialect.most_output(body):
            reply = reply.within(most, lambda start: dialect.size(start, ids))
        written_1h = getattr(self.cache, "written_1h", 0)
        used = dialect.usage(total, cached, written, written_1h, dialect.size(reply, ids), reply)
        self._replies += 1
        sent = Sent(self._replies, body, reply, ids, used)
        if api == "anthropic":
            thinking = [
                block
                for block in dialect.message(reply, ids)["content"]
                if block["type"] == "thinking"
            ]
            self._issued.update(dict.fromkeys(ids, thinking))
        if body.get("stream"):
            return _stream(dialect.events(sent, style_of(self.fragments, self._replies - 1)))
        return self._respond(200, dialect.response(sent))

    def _new_ids(self, api: str, messages: list[dict[str, Any]], count: int) -> list[str]:
        """Ids above every one before, in this model's life and in the messages: a resumed session
        has older ones.
        """
        prefix = DIALECTS[api].ID
        seen = [
            call.id.removeprefix(prefix) for message in messages for call in calls_of(api, message)
        ]
        first = 1 + max(
            [
                self._calls,
                *(int(tail) for tail in seen if re.fullmatch("[0-9]{1,9}", tail, re.ASCII)),
            ]
        )
        self._calls = first + count - 1
        return [f"{prefix}{first + k}" for k in range(count)]

    def _refuse(
        self,
        api: str,
        status: int,
        text: str,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ):
        return self._respond(status, DIALECTS[api].error(status, text, code), headers)

    def _respond(
        self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ):
        import httpx2

        # ASCII escapes, since half a surrogate pair has no UTF-8
        content = json.dumps(body).encode("ascii")
        return httpx2.Response(
            status, content=content, headers={"content-type": "application/json", **(headers or {})}
        )


def _stream(events: Iterator[str]) -> "httpx2.Response":
    import httpx2

    class Body(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            return (event.encode("utf-8") for event in events)

    return httpx2.Response(
        200, stream=Body(), headers={"content-type": "text/event-stream; charset=utf-8"}
    )


def _obey(must: bool, allowed: set[str] | None, reply: Reply) -> None:
    """Raises `ValueError` if a policy does what `tool_choice` rules out, which a real model never
    does.
    """
    names = [name for name, _ in reply.calls]
    if must and not names:
        raise ValueError("tool_choice asks for a call, but the policy makes none")
    if outside := [name for name in names if allowed is not None and name not in allowed]:
        raise ValueError(
            f"tool_choice allows {', '.join(sorted(allowed)) or 'no call'}, the policy calls {outside[0]}"
        )
