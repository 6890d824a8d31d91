"""A small client of the shop's API, which counts what comes over the wire."""

import asyncio
import threading
from collections.abc import Iterator

import httpx2

from toolresults.tokens import repair


class OrdersAPIError(Exception):
    """The API refused a request. `status` is HTTP's; the message is the API's one line."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class OrdersClient:
    """Calls an ASGI application (`api.create_app`) in this process, without a port, from ordinary
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
        self._thread = threading.Thread(
            target=self._run, daemon=True
        )  # daemon: a forgotten client delays no exit
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
