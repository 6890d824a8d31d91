"""The company behind the experiment: its first n functions for one caller, as tools and as a
registry.

    with Company(50) as company:
        company.tools["crm_get_task"].call({"task_id": "task_100042"})
        company.registry().execute("crm.get_task('task_100042')")

A company serves many plays: `forget` takes back the notes that one has written, so that the next
begins as it did.
"""

from collections.abc import Callable
from functools import cache, cached_property, lru_cache
from hashlib import sha256

from toolresults.codemode.registry import Registry, SearchIndex
from toolresults.tokens import to_json
from toolresults.tools import Tool
from workbook.examples.crm.access import SCOPES, Caller
from workbook.examples.crm.catalogue import definitions
from workbook.examples.crm.functions import crm_functions
from workbook.examples.crm.generate import generate
from workbook.examples.crm.schema import NOW, TABLES
from workbook.examples.crm.shapes import Team
from workbook.examples.crm.store import CrmStore

from .code_mode_schemas import tool_name

CALLER = Caller("mai.tran", "acme", frozenset(SCOPES) - {"hr:salary", "hr:approve"})
"""Who asks in the notebook: an employee who may read and write, and see no salary."""

REAL, MOST = 30, 500
"""Functions that do something, and functions in all."""

FOUND = 5
"""Definitions that `find_tools` returns: about what a vendor's tool search loads for a question."""

_rows = lru_cache(maxsize=1)(generate)


@cache
def _further() -> dict[str, Tool]:
    """A tool for each of the company's functions that is a definition only, by path."""
    return {path: _tool(path, function) for path, function in definitions(MOST - REAL).items()}


def _tool(path: str, function: Callable[..., object]) -> Tool:
    tool = Tool(function, name=tool_name(path))
    tool.definition = cache(tool.definition)  # 500 of them, for hundreds of plays
    return tool


class Company:
    """The company's first `n` functions for `caller`, over a store of its own. `ValueError` if
    there are fewer.
    """

    def __init__(self, n: int, caller: Caller = CALLER):
        if not 0 < n <= MOST:
            raise ValueError(f"the company has 1 to {MOST} functions, not {n}")
        self.store = CrmStore(_rows())
        self.caller = caller
        real = crm_functions(self.store, caller, keys=("code mode",), clock=lambda: NOW)
        tools = {path: _tool(path, function) for path, function in list(real.items())[:n]}
        self._by_path = tools | dict(list(_further().items())[: max(n - REAL, 0)])
        self.tools = {tool.name: tool for tool in self._by_path.values()}
        self.functions = {path: tool.function for path, tool in self._by_path.items()}
        self._registries: dict[str, Registry] = {}
        self._notes = len(self.store.dump("notes", caller.tenant))

    def __enter__(self) -> "Company":
        return self

    def __exit__(self, *_: object) -> None:
        for registry in self._registries.values():
            registry.close()
        self.store.close()

    def registry(self, language: str = "python") -> Registry:
        """The functions behind `search` and `execute`."""
        if language not in self._registries:
            self._registries[language] = registry = Registry(language=language)
            for path, function in self.functions.items():
                registry.register(function, *path.split("."))
        return self._registries[language]

    def written(self) -> list[tuple[str, str, str]]:
        """What each note is about, its author and its text, for those that were written since the
        beginning.
        """
        notes = self.store.dump("notes", self.caller.tenant)[self._notes :]
        return [(note["about"], note["author"], note["text"]) for note in notes]

    def state(self) -> str:
        """A digest of all that the tables hold, but for the ids of notes, which are never given
        twice.
        """
        tables = {
            f"{tenant} {table}": self.store.dump(table, tenant)
            for tenant in self.store.tenants
            for table in TABLES
        }
        for tenant in self.store.tenants:
            tables[f"{tenant} notes"] = [
                {**note, "note_id": ""} for note in tables[f"{tenant} notes"]
            ]
        return sha256(repr(tables).encode("utf-8")).hexdigest()[:12]

    def forget(self) -> None:
        """Takes back every note that was written since the beginning."""
        for note in self.store.dump("notes", self.caller.tenant)[self._notes :]:
            self.store.delete(self.caller.tenant, "notes", {"note_id = ?": note["note_id"]})

    @cached_property
    def index(self) -> SearchIndex:
        """A search over the functions, for the way that finds definitions."""
        index = SearchIndex()
        for function in self.registry().functions.values():
            index.add(function)
        return index

    def find_tools(self, api: str) -> Tool:
        """A search over the definitions, which come as they are found: how vendors' tool search
        loads them.
        """

        def find_tools(query: str) -> str:
            """Finds tools by what they do, and makes them callable. Returns their definitions."""
            found = [self._by_path[path] for path in self.index.rank(query)[:FOUND]]
            return "\n".join(to_json(tool.definition(api)) for tool in found)

        return Tool(find_tools)

    @cached_property
    def follow_up(self) -> Tool:
        """The tool that somebody might have made for the week's question, and for nothing else."""
        list_tasks, add_note = self.functions["crm.list_tasks"], self.functions["crm.add_note"]

        def follow_up_overdue(team: Team) -> dict[str, int]:
            """Writes a follow-up note on each overdue task of a team. Returns how many each owner
            has.
            """
            owners: dict[str, int] = {}
            for task in list_tasks(team=team, overdue=True, limit=200)["items"]:
                add_note(
                    task["task_id"], f"Follow up: {task['title']} was due on {task['due_on']}."
                )
                owners[task["owner"]] = owners.get(task["owner"], 0) + 1
            return owners

        return Tool(follow_up_overdue)
