"""The company behind the experiment: its first n functions for one caller, as tools and as a
registry.

    with Company(50) as company:
        company.tools["crm_get_task"].call({"task_id": "task_100042"})
        company.registry().execute("crm.get_task('task_100042')")

A company serves many plays: `forget` takes back the notes that one has written, so that the next
begins as it did.
"""

from functools import cache, cached_property, lru_cache
from hashlib import sha256

from toolresults.agent.api import Api
from toolresults.codemode.registry import Registry
from toolresults.tokens import to_json
from toolresults.tools import Tool
from workbook.examples.crm.access import SCOPES, Caller
from workbook.examples.crm.functions import company_functions
from workbook.examples.crm.shapes import Team
from workbook.examples.crm.store import NOW, TABLES, CrmStore, company_rows

from .search_recall import ranked, registry_of

CALLER = Caller("mai.tran", "acme", frozenset(SCOPES) - {"hr:salary", "hr:approve"})
"""Who asks in the notebook: an employee who may read and write, and see no salary."""

_FOUND = 5
"""Definitions that `find_tools` returns: about what a vendor's tool search loads for a question."""

Note = tuple[str, str, str]
"""What a note is about, its author and its text."""

_rows = lru_cache(maxsize=1)(company_rows)


def tool_name(path: str) -> str:
    """A path as a tool's name, which neither API lets have a dot."""
    return path.replace(".", "_")


class Company:
    """The company's first `n` functions for `CALLER`, over a store of its own, by path, and as
    `tools` by name.

    Raises `ValueError` for more than there are.
    """

    def __init__(self, n: int):
        self.store = CrmStore(_rows())
        self.functions = company_functions(
            n, self.store, CALLER, keys=("code mode",), clock=lambda: NOW
        )
        self.tools = {}
        for path, function in self.functions.items():
            tool = self.tools[tool_name(path)] = Tool(function, name=tool_name(path))
            tool.schema = cache(tool.schema)  # 500 of them, for hundreds of plays
        self._registries: dict[str, Registry] = {}
        self._old = len(self.rows("notes"))

    def __enter__(self) -> "Company":
        return self

    def __exit__(self, *_: object) -> None:
        for registry in self._registries.values():
            registry.close()
        self.store.close()

    def registry(self, language: str = "python") -> Registry:
        """The functions behind `search` and `execute`."""
        if language not in self._registries:
            self._registries[language] = registry_of(self.functions, language=language)
        return self._registries[language]

    def rows(self, table: str) -> list[dict[str, object]]:
        """What a table holds of the caller's own company."""
        return self.store.dump(table, CALLER.tenant)

    def written(self) -> list[Note]:
        """The notes that were written since the beginning."""
        notes = self.rows("notes")[self._old :]
        return [(note["about"], note["author"], note["text"]) for note in notes]

    def forget(self) -> None:
        """Takes back every note that was written since the beginning."""
        for note in self.rows("notes")[self._old :]:
            self.store.delete(CALLER.tenant, "notes", {"note_id = ?": note["note_id"]})

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
            for note in tables[f"{tenant} notes"]:
                note["note_id"] = ""
        return sha256(repr(tables).encode("utf-8")).hexdigest()[:12]

    def find_tools(self, api: Api) -> Tool:
        """A search over the definitions, which come as they are found: how vendors' tool search
        loads them.
        """

        def find_tools(query: str) -> str:
            """Finds tools by what they do, and makes them callable. Returns their definitions."""
            paths = ranked(self.registry(), query)[:_FOUND]
            return "\n".join(to_json(api.definition(self.tools[tool_name(p)])) for p in paths)

        return Tool(find_tools)

    @cached_property
    def follow_up(self) -> Tool:
        """The tool that somebody might have made for the week's question, and for nothing else."""
        list_tasks, add_note = self.functions["crm.list_tasks"], self.functions["crm.add_note"]

        def follow_up_overdue(team: Team) -> dict[str, int]:
            """Writes a follow-up note on each overdue task of a team. Returns how many each owner has."""  # noqa: E501 (a model reads it as it stands)
            owners: dict[str, int] = {}
            for task in list_tasks(team=team, overdue=True, limit=200)["items"]:
                text = f"Follow up: {task['title']} was due on {task['due_on']}."
                add_note(task["task_id"], text)
                owners[task["owner"]] = owners.get(task["owner"], 0) + 1
            return owners

        return Tool(follow_up_overdue)
