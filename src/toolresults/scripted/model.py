"""The scripted model: a policy's replies, served by the endpoint of whichever API is spoken."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..agent.api import Api, Part, tokens_of
from .anthropic import AnthropicEndpoint
from .endpoint import Endpoint, Sent, style_of
from .openai_chat import OpenAIChatEndpoint
from .reply import Reply

if TYPE_CHECKING:
    import httpx2

WINDOW = 200_000
"""Default context window, in tokens: Claude's."""

_ENDPOINTS: tuple[Endpoint, ...] = (OpenAIChatEndpoint(), AnthropicEndpoint())

HOST = "https://model.invalid"


class Refused(Exception):
    """A request that the API answers with an HTTP error: its `status`, its text, its `code`."""

    def __init__(
        self,
        status: int,
        text: str,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(text)
        self.status, self.code, self.headers = status, code, headers


class ScriptedModel:
    """A model whose replies a policy makes, spoken to through the real clients.

    A policy, a plain function from the messages to the next `Reply`, stands in for the model: it
    decides nothing. Every request is checked by the API's rules (`Api.fault`), measured against the
    context window, counted (`Api.request_parts`), and refused with HTTP 400 where the real API
    would refuse it. Same requests, same ids, same usage: nothing here is random.

    - `policy(messages)`: the next `Reply`; it gets the messages of the request, as they were sent.
      What it raises comes back as an HTTP 500 that says so and is not retried (the SDKs'
      `InternalServerError`).
    - `window`: the largest request that is accepted, in tokens (`math.inf`: any).
    - `cache`: anything with `read(parts) -> (cached, written)`, in tokens. It is called once for
      each request that is accepted, in order, with the request's parts. Usage then reports both
      numbers as each vendor does, and `written_1h`, an attribute that the cache may have, as the
      part of the last `written` that is kept for an hour. None: nothing is cached.
    - `fragments`: how streams are cut: a name in `STYLES`, or "awkward" for each awkward style in
      turn.
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
        window: float = WINDOW,
        cache: Any = None,
        fragments: str | None = None,
        errors: Sequence[int | None] = (),
    ):
        style_of(fragments, 0)
        self.policy, self.window, self.cache, self.fragments = policy, window, cache, fragments
        self.requests: list[dict[str, Any]] = []
        """The bodies of all requests in the order in which they came, refused and retried ones
        among them."""
        self._errors = list(errors)
        # clients are used from several threads, and a policy may ask this model too
        self._lock = threading.RLock()
        self._replies = self._calls = 0
        self._issued: dict[str, Any] = {}

    def client(self, api: Api, **options: Any) -> Any:
        """A real client of `api`'s SDK whose requests this model answers. `options` go to its
        constructor."""
        import httpx2

        [endpoint] = [one for one in _ENDPOINTS if one.api is api]
        http = httpx2.Client(transport=httpx2.MockTransport(self.handle))
        return endpoint.client({"api_key": "scripted", "http_client": http, **options}, HOST)

    def handle(self, request: "httpx2.Request") -> "httpx2.Response":
        """Answers one HTTP request: POST to the path of an endpoint, or to its `/count_tokens`."""
        path = request.url.path
        counting = path.endswith("/count_tokens")
        bare = path.removesuffix("/count_tokens")
        endpoint = next((one for one in _ENDPOINTS if bare.endswith(one.path)), None)
        if endpoint is None:
            return _refuse(_ENDPOINTS[0], Refused(404, f"there is nothing at {path}"))
        body = json.loads(request.content)
        with self._lock:
            self.requests.append(body)
            status = self._errors.pop(0) if self._errors else None
            try:
                if status:
                    text, wait = f"scripted answer {status}", {"retry-after-ms": "1"}
                    raise Refused(status, text, headers=wait)
                parts = self._checked(endpoint, body)
                if counting:
                    return _respond(200, {"input_tokens": tokens_of(parts)})
                return self._over_http(endpoint, body, parts)
            except Refused as refused:
                return _refuse(endpoint, refused)

    def answer(
        self, api: Api, body: dict[str, Any], *, use: tuple[int, int, int] | None = None
    ) -> dict[str, Any]:
        """Answers one request without HTTP: the body of an unstreamed response.

        `use` has the request's tokens, and of them those that the cache gives and those written to
        it, where the caller has counted them: then nothing is counted here, and `cache` not asked.
        Raises `Refused` for what HTTP would refuse; what the policy raises passes through.
        """
        [endpoint] = [one for one in _ENDPOINTS if one.api is api]
        with self._lock:
            parts = self._checked(endpoint, body, counted=use is not None)
            return endpoint.response(self._reply(endpoint, body, parts, use))

    def _checked(
        self, endpoint: Endpoint, body: dict[str, Any], *, counted: bool = False
    ) -> list[Part]:
        """The parts of a request that the API accepts (none if they are `counted` already)."""
        api = endpoint.api
        try:
            broken = api.fault(body.get("messages"), self._issued) or endpoint.odd_request(body)
            parts = [] if broken or counted else api.request_parts(body)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {error}"
            broken = f"tools, tool_choice or system are not in this API's form ({why})"
        if broken:
            raise Refused(400, broken)
        return parts

    def _over_http(
        self, endpoint: Endpoint, body: dict[str, Any], parts: list[Part]
    ) -> "httpx2.Response":
        try:
            sent = self._reply(endpoint, body, parts)
            if body.get("stream"):
                return _stream(endpoint.events(sent, style_of(self.fragments, sent.number - 1)))
            return _respond(200, endpoint.response(sent))
        except Refused:
            raise
        # raised as it is, one SDK would take it for a lost connection, and try again
        except Exception as error:
            text = f"the script failed: {type(error).__name__}: {error}"
            raise Refused(500, text, headers={"x-should-retry": "false"}) from error

    def _reply(
        self,
        endpoint: Endpoint,
        body: dict[str, Any],
        parts: list[Part],
        use: tuple[int, int, int] | None = None,
    ) -> Sent:
        total = use[0] if use else tokens_of(parts)
        if total > self.window:
            raise Refused(400, *endpoint.too_long(total, self.window))
        reply = self.policy(body["messages"])
        _obey(*endpoint.choice(body), reply)
        cached, written = use[1:] if use else (0, 0)
        if self.cache is not None and not use:
            cached, written = self.cache.read(parts)
        ids = self._new_ids(endpoint, body["messages"], len(reply.calls))
        if most := endpoint.api.most_output(body):
            reply = reply.within(most, lambda start: endpoint.size(start, ids))
        hour, size = getattr(self.cache, "written_1h", 0), endpoint.size(reply, ids)
        used = endpoint.usage(total, cached, written, hour, size, reply)
        self._replies += 1
        self._issued |= endpoint.issued(reply, ids)
        return Sent(self._replies, body, reply, ids, used)

    def _new_ids(self, endpoint: Endpoint, messages: list[dict[str, Any]], count: int) -> list[str]:
        """Ids above every one before, in this model's life and in the messages: a resumed session
        has older ones."""
        prefix = endpoint.id_prefix
        calls = [call for message in messages for call in endpoint.api.calls(message)]
        tails = [call.id.removeprefix(prefix) for call in calls]
        used = [int(tail) for tail in tails if re.fullmatch("[0-9]{1,9}", tail, re.ASCII)]
        first = 1 + max([self._calls, *used])
        self._calls = first + count - 1
        return [f"{prefix}{first + k}" for k in range(count)]


def _refuse(endpoint: Endpoint, refused: Refused) -> "httpx2.Response":
    body = endpoint.error(refused.status, str(refused), refused.code)
    return _respond(refused.status, body, refused.headers)


def _respond(
    status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> "httpx2.Response":
    import httpx2

    # ASCII escapes, since half a surrogate pair has no UTF-8
    content = json.dumps(body).encode("ascii")
    headers = {"content-type": "application/json", **(headers or {})}
    return httpx2.Response(status, content=content, headers=headers)


def _stream(events: Iterator[str]) -> "httpx2.Response":
    import httpx2

    class Body(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            return (event.encode("utf-8") for event in events)

    headers = {"content-type": "text/event-stream; charset=utf-8"}
    return httpx2.Response(200, stream=Body(), headers=headers)


def _obey(must: bool, allowed: set[str] | None, reply: Reply) -> None:
    """Raises `ValueError` if a policy does what `tool_choice` rules out, which a real model never
    does."""
    names = [name for name, _ in reply.calls]
    if must and not names:
        raise ValueError("tool_choice asks for a call, but the policy makes none")
    if outside := [name for name in names if allowed is not None and name not in allowed]:
        which = ", ".join(sorted(allowed)) or "no call"
        raise ValueError(f"tool_choice allows {which}, the policy calls {outside[0]}")
