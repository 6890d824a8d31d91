"""The functions of the back end by path, bound to one caller.

    store = CrmStore.open()
    functions = crm_functions(store, Caller("mai.tran", "acme", {"crm:read"}), keys=["secret"])
    functions["crm.list_tasks"](team="sales", overdue=True)["total"]

Store, caller, keys and clock are bound here; what is left in a signature is what a model fills.
"""

import time
from collections.abc import Callable, Sequence

from toolresults.results.cursor import Cursors

from .access import Caller
from .people import People
from .reports import Reports
from .sales import Sales
from .store import CrmStore
from .tasks import Tasks
from .words import WORDS

FUNCTIONS = {
    "crm.list_tasks": Tasks,
    "crm.add_note": Tasks,
    "crm.get_customer": Sales,
    "crm.complete_task": Tasks,
    "crm.task_summary": Tasks,
    "crm.get_task": Tasks,
    "crm.create_task": Tasks,
    "crm.reassign_task": Tasks,
    "crm.postpone_task": Tasks,
    "crm.list_notes": Tasks,
    "crm.list_customers": Sales,
    "crm.update_customer": Sales,
    "crm.list_deals": Sales,
    "crm.get_deal": Sales,
    "crm.create_deal": Sales,
    "crm.move_deal": Sales,
    "crm.pipeline_summary": Sales,
    "hr.list_employees": People,
    "hr.get_employee": People,
    "hr.list_teams": People,
    "hr.org_chart": People,
    "hr.get_salary": People,
    "hr.payroll_summary": People,
    "hr.list_approvals": People,
    "hr.decide_approval": People,
    "hr.request_leave": People,
    "reports.list_reports": Reports,
    "reports.run_report": Reports,
    "reports.save_report": Reports,
    "reports.delete_report": Reports,
}
"""The service behind every path. The first five are enough for "overdue sales tasks, by owner, with
a note each".
"""

# bound methods take no attributes, but show those of the functions behind them
for _path, _kind in FUNCTIONS.items():
    getattr(_kind, _path.partition(".")[2]).search_words = WORDS[_path]


def crm_functions(
    store: CrmStore,
    caller: Caller,
    *,
    keys: Sequence[str | bytes],
    clock: Callable[[], float] = time.time,
) -> dict[str, Callable[..., object]]:
    """The functions by path, in the order of `FUNCTIONS`, for one caller.

    Each has the attribute `search_words`, from `words`: a registry indexes them. `keys` sign
    cursors (oldest first), `clock` gives the time in seconds. All functions are there whatever the
    caller's scopes: what a scope does not open is refused when it is called. Raises `ValueError`
    for a tenant that the store does not have.
    """
    if caller.tenant not in store.tenants:
        raise ValueError(
            f"no tenant {caller.tenant!r} in this store: it has {', '.join(store.tenants)}"
        )
    cursors = Cursors(keys, clock=clock)
    services = {kind: kind(store, caller, cursors, clock) for kind in set(FUNCTIONS.values())}
    return {
        path: getattr(services[kind], path.partition(".")[2]) for path, kind in FUNCTIONS.items()
    }
