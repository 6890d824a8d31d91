"""A store of orders for property tests: filled anew for each example, since to start DuckDB takes
longer than most.
"""

from itertools import count

from workbook.examples.orders.store import OrderStore

FILLINGS = 20
"""How often one store is filled. DuckDB keeps deleted rows for a while, and a test wants a store
like anybody's.
"""

_fillings = count()
_stores: list[OrderStore] = []


def refilled(rows: list[dict]) -> OrderStore:
    """A store with just `rows` in it, good until the next is asked for. Not to be closed."""
    if next(_fillings) % FILLINGS == 0:
        while _stores:
            _stores.pop().close()
        _stores.append(OrderStore())
    (store,) = _stores
    store.delete([order["order_id"] for order in store.page(limit=10_000, columns=["order_id"])])
    store.insert(rows)
    return store
