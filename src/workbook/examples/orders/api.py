"""The shop's HTTP API over its orders: a small ASGI application, called without a port.

- `GET /orders` with `status`, `region`, `min_amount`, `max_amount`, `placed_after`,
  `placed_before`, `fields` (names, with commas), `limit` (100 unless said, 1,000 at most) and
  `cursor` answers `{"data": […], "next": …}`, newest first; `next` is null exactly when nothing
  remains.
- `GET /orders/{id}` (with `fields`) answers the order, or 404.

What is wrong with a request is said in one line: status 400 and `{"error": "…"}`.

The API's cursor is readable and unsigned, as those of most APIs are: base64 of JSON. It protects
nothing, and need not, since whoever calls may read every order; notebook 03 edits one. The tools'
cursors are another thing, and signed. `app.state.paging` may be switched between "keyset" and
"offset" at any time: cursors of either kind are always accepted, and go on as the kind that is in
force, so that a caller half-way through a listing notices nothing.

`OrdersClient` calls it, and counts what comes over the wire.
"""

import asyncio
import base64
import json
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

import httpx2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolresults.tokens import repair, to_json
from workbook.examples.orders.store import COLUMNS, Key, OrderFilter, OrderStore

_PAGING = ("keyset", "offset")
DEFAULT_LIMIT, MAX_LIMIT = 100, 1_000
_RANGES = {
    "min_amount": Decimal,
    "max_amount": Decimal,
    "placed_after": datetime,
    "placed_before": datetime,
}
_PARAMETERS = ("status", "region", *_RANGES, "fields", "limit", "cursor")


def create_app(store: OrderStore, paging: str = "keyset") -> Starlette:
    """The API over `store`. Raises `ValueError` for a `paging` other than "keyset" and "offset"."""
    if paging not in _PAGING:
        raise ValueError(f"unknown paging {paging!r}: use {' or '.join(_PAGING)}")
    app = Starlette(
        routes=[Route("/orders", _list_orders), Route("/orders/{order_id}", _get_order)],
        exception_handlers={HTTPException: _refusal},
    )
    app.state.store = store
    app.state.paging = paging
    return app


def _list_orders(request: Request) -> Response:
    try:
        query = _query(request, _PARAMETERS)
        ranges = {
            name: _parse(kind, query[name], name) for name, kind in _RANGES.items() if name in query
        }
        wanted = OrderFilter(status=query.get("status"), region=query.get("region"), **ranges)
        limit, fields = _limit(query.get("limit")), _fields(query.get("fields"))
        start = _decode(query["cursor"]) if "cursor" in query else None
    except ValueError as error:
        raise HTTPException(400, str(error)) from None
    keyset = request.app.state.paging == "keyset"
    if start is None and not keyset:
        start = 0
    store: OrderStore = request.app.state.store
    # the sort key makes the next cursor; one row more than asked for tells whether anything remains
    columns = list(dict.fromkeys([*fields, "placed_at", "order_id"]))
    if isinstance(start, int):
        rows = store.offset_page(wanted, offset=start, limit=limit + 1, columns=columns)
    else:
        rows = store.page(wanted, after=start, limit=limit + 1, columns=columns)
    following: Key | int | None = None
    if len(rows) > limit:
        last = rows[limit - 1]["placed_at"], rows[limit - 1]["order_id"]
        if keyset:
            following = last
        else:
            offset = isinstance(start, int)
            following = start + limit if offset else store.position(wanted, last)
    data = [{name: row[name] for name in fields} for row in rows[:limit]]
    return _json({"data": data, "next": None if following is None else _encode(following)})


def _get_order(request: Request) -> Response:
    try:
        fields = _fields(_query(request, ("fields",)).get("fields"))
    except ValueError as error:
        raise HTTPException(400, str(error)) from None
    order = request.app.state.store.get(request.path_params["order_id"], fields)
    if order is None:
        raise HTTPException(404, "no such order")
    return _json(order)


def _query(request: Request, known: tuple[str, ...]) -> dict[str, str]:
    pairs = request.query_params.multi_items()
    names = [name for name, _ in pairs]
    for name in names:
        if name not in known:
            raise ValueError(f"unknown parameter {name[:40]!r}: use {', '.join(known)}")
        if names.count(name) > 1:
            raise ValueError(f"{name} is given twice")
    return dict(pairs)


def _parse(kind: type, text: str, name: str) -> Decimal | datetime:
    if kind is Decimal:
        if not re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", text):
            raise ValueError(f"{name} is a decimal number such as 99.50")
        return Decimal(text)
    try:
        # a "+" in a query string that was not escaped arrives as a blank
        time = datetime.fromisoformat(text.replace(" ", "+") if re.search(r"T.* ", text) else text)
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (ValueError, OverflowError):
        raise ValueError(
            f"{name} is a date or time in ISO 8601 such as 2026-06-30 or 2026-06-30T12:00:00Z"
        ) from None


def _limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= MAX_LIMIT:
        raise ValueError(f"limit is a whole number from 1 to {MAX_LIMIT}")
    return int(text)


def _fields(text: str | None) -> list[str]:
    names = list(COLUMNS) if text is None else list(dict.fromkeys(text.split(",")))
    if not set(names) <= set(COLUMNS):
        raise ValueError(f"fields takes names, with commas: {', '.join(COLUMNS)}")
    return names


def _encode(position: Key | int) -> str:
    content = (
        {"offset": position}
        if isinstance(position, int)
        else {"after": [position[0].isoformat(), position[1]]}
    )
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def _decode(cursor: str) -> Key | int:
    try:
        content = json.loads(
            base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
        match content:
            case {"offset": int(offset)} if type(offset) is int and 0 <= offset < 2**53:
                return offset
            case {"after": [str(placed_at), str(order_id)]}:
                order_id.encode()  # a lone surrogate cannot be bound
                time = datetime.fromisoformat(placed_at)
                if time.tzinfo is None:
                    return time, order_id
    except (ValueError, RecursionError):  # base64's, JSON's, Unicode's and the dates' are the first
        pass
    raise ValueError("cursor is not one of this API's: start again without it")


def _json(content: object, status: int = 200) -> Response:
    return Response(to_json(content), status, media_type="application/json")


def _refusal(request: Request, error: Exception) -> Response:
    return _json({"error": error.detail}, error.status_code)


class OrdersAPIError(Exception):
    """The API refused a request. `status` is HTTP's; the message is the API's one line."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class OrdersClient:
    """Calls an ASGI application (`create_app`) in this process, without a port, from ordinary
    code.

    `requests` and `bytes_received` (of response bodies) count what was asked and what came back. It
    works inside Jupyter too, where a loop is running already: the application runs in a loop of its
    own, in a thread.
    """

    def __init__(self, app) -> None:
        self.requests = 0
        self.bytes_received = 0
        self._count = threading.Lock()
        self._loop = asyncio.new_event_loop()
        # a daemon: a forgotten client delays no exit
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._http = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://orders.example"
        )

    def __enter__(self) -> "OrdersClient":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Ends the client's thread."""
        if not self._loop.is_closed():
            self._wait(self._http.aclose())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def reset(self) -> None:
        """Starts counting anew."""
        self.requests = self.bytes_received = 0

    def orders(self, **parameters: object) -> dict:
        """One page, `{"data": […], "next": …}`, for the parameters of `GET /orders`; None stands
        for "not given".

        `fields` may be a list; dates and datetimes are sent in ISO 8601. Raises `OrdersAPIError`.
        """
        return self._get("/orders", parameters)

    def order(self, order_id: str, **parameters: object) -> dict:
        """One order. Raises `OrdersAPIError`, with status 404 where there is none."""
        return self._get(f"/orders/{order_id}", parameters)

    def all_orders(self, **parameters: object) -> Iterator[dict]:
        """Every matching order, page after page."""
        while True:
            page = self.orders(**parameters)
            yield from page["data"]
            if page["next"] is None:
                return
            parameters["cursor"] = page["next"]

    def _get(self, path: str, parameters: dict) -> dict:
        query = {name: _text(value) for name, value in parameters.items() if value is not None}
        response = self._wait(self._http.get(path, params=query))
        with self._count:
            self.requests += 1
            self.bytes_received += len(response.content)
        if response.status_code != 200:
            raise OrdersAPIError(response.status_code, response.json()["error"])
        return response.json()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def _wait(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(value)
    return repair(value.isoformat() if hasattr(value, "isoformat") else str(value))
