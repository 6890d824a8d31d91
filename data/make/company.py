"""Makes the invented company's rows: the same from the same seed.

`python data/make/company.py` writes `data/company/*.parquet` again and prints their sha256. Names
and sentences stand in `company_words.json` beside this file. All are invented, or too common to be
anybody's. A name is written as the person writes it; behind `|` stands its spelling in a user name
where that is not the same letters without accents.

Users' names and customers' names may be the same in two tenants, as in life. Ids are not: each
tenant numbers from a block of its own (the first task of the first tenant is `task_100001`, of the
second `task_200001`).
"""

import functools
import hashlib
import json
import random
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb

from workbook.examples.crm.store import (
    APPROVAL_KINDS,
    NOW,
    OPEN_STAGES,
    PREFIXES,
    REPORT_KINDS,
    SEED,
    SEGMENTS,
    TABLES,
)

TODAY = datetime.fromtimestamp(NOW, UTC).date()
WORDS = json.loads(Path(__file__).with_name("company_words.json").read_text(encoding="utf-8"))

_LANGUAGES = {"Vietnamese": 30, "English": 30, "German": 15, "Spanish": 15, "Japanese": 10}
"""Shares of the languages that people and customers come from, in percent."""


@dataclass(frozen=True)
class Volume:
    """How many rows a tenant has in each table, and how many overdue tasks each late seller has.

    There are at least 8 employees, so that every team has a head, and more sellers than entries in
    `overdue`.
    """

    customers: int
    deals: int
    tasks: int
    notes: int
    employees: int
    approvals: int
    reports: int
    overdue: tuple[int, ...]


VOLUMES = {
    "acme": Volume(2_000, 3_000, 5_000, 4_000, 300, 400, 30, (11, 9, 7, 6, 4, 3, 2)),
    "globex": Volume(300, 400, 700, 500, 60, 60, 8, (4, 3, 1)),
    "initech": Volume(120, 150, 250, 200, 24, 30, 5, (2, 1)),
}
"""The three tenants. acme is the one that the notebooks ask about: 42 overdue sales tasks of seven
owners.
"""

_SHARES = {
    "sales": 30,
    "support": 22,
    "success": 12,
    "marketing": 10,
    "engineering": 14,
    "finance": 7,
    "people": 5,
}
_GROUP = 8  # people under one lead
_MOMENT = datetime.fromtimestamp(NOW, UTC).replace(tzinfo=None)


def generate(seed: int = SEED, volumes: Mapping[str, Volume] = VOLUMES) -> dict[str, list[dict]]:
    """The rows of every table, each with its `tenant`. Amounts are `Decimal`, times are UTC without
    an offset.
    """
    tables: dict[str, list[dict]] = {table: [] for table in TABLES}
    for number, tenant in enumerate(sorted(volumes), 1):
        for table, rows in _company(
            seed, tenant, volumes[tenant], first=number * 100_000 + 1
        ).items():
            tables[table] += [{"tenant": tenant, **row} for row in rows]
    return tables


def _company(seed: int, tenant: str, volume: Volume, first: int) -> dict[str, list[dict]]:
    people = list(
        _employees(random.Random(f"crm {seed} {tenant} employees"), tenant, volume.employees)
    )
    sellers = [person["username"] for person in people if person["team"] == "sales"]
    made = {"employees": people}
    steps = {  # in this order: a deal belongs to a customer, a note is about either
        "customers": lambda rng: _customers(rng, volume.customers, sellers),
        "deals": lambda rng: _deals(rng, volume.deals, made["customers"]),
        "tasks": lambda rng: _tasks(rng, volume, people, made["customers"]),
        "notes": lambda rng: _notes(rng, volume.notes, people, made),
        "approvals": lambda rng: _approvals(rng, volume.approvals, people),
        "reports": lambda rng: _reports(rng, volume.reports, people),
    }
    for table, make in steps.items():
        # a stream for each table, so that one volume can change without changing what came before
        # it
        rows = make(random.Random(f"crm {seed} {tenant} {table}"))
        key, prefix = next(iter(TABLES[table])), PREFIXES[table]
        made[table] = [{key: f"{prefix}_{i}", **row} for i, row in enumerate(rows, first)]
    return made


def _employees(rng: random.Random, tenant: str, n: int) -> Iterator[dict]:
    teams = ["management", *_SHARES]
    sizes = Counter([*teams, *(_pick(rng, _SHARES) for _ in range(n - len(teams)))])
    taken: Counter[str] = Counter()
    managing = None
    for team in teams:
        head = lead = None
        for i in range(sizes[team]):
            name, username = _person(rng)
            taken[username] += 1
            if taken[username] > 1:
                username += str(taken[username])
            rank = 0 if i == 0 else 1 if i % _GROUP == 1 and sizes[team] > _GROUP else 2
            yield {
                "username": username,
                "name": name,
                "team": team,
                "title": WORDS["titles"][team][rank],
                "manager": (managing, head, lead or head)[rank],
                "email": f"{username}@{tenant}.example",
                "started_on": TODAY - timedelta(days=rng.randrange(30, 3_650)),
                "salary": Decimal(
                    rng.randrange((90_000, 62_000, 34_000)[rank], (160_000, 88_000, 61_000)[rank])
                ),
            }
            managing = managing or username
            head = head or username
            lead = username if rank == 1 else lead


def _customers(rng: random.Random, n: int, sellers: list[str]) -> Iterator[dict]:
    for _ in range(n):
        language = _pick(rng, _LANGUAGES)
        contact, username = _person(rng, language)
        company = rng.choice(WORDS["companies"][language]).format(
            rng.choice(WORDS["words"][language])
        )
        place = rng.choice(WORDS["places"][language])
        yield {
            "name": f"{company} {place}",
            "segment": _pick(rng, dict(zip(SEGMENTS, (50, 35, 15), strict=True))),
            "country": rng.choice(WORDS["countries"][language]),
            "contact": contact,
            "email": f"{username}{rng.randrange(10, 1_000)}@mail.example",
            "owner": rng.choice(sellers),
            "since": TODAY - timedelta(days=rng.randrange(2_500)),
        }


def _deals(rng: random.Random, n: int, customers: list[dict]) -> Iterator[dict]:
    for _ in range(n):
        customer = rng.choice(customers)
        stage = _pick(
            rng,
            {"won": 38, "lost": 27, "lead": 12, "qualified": 10, "proposal": 8, "negotiation": 5},
        )
        days = rng.randrange(120) if stage in OPEN_STAGES else -rng.randrange(1, 900)
        yield {
            "title": f"{rng.choice(WORDS['products'])} "
            f"{rng.choice(('A', 'B', 'C'))}{rng.randrange(10, 100)}",
            "customer_id": customer["customer_id"],
            "owner": customer["owner"],
            "stage": stage,
            "amount": Decimal(rng.randrange(800, 60_000))
            + rng.choice((Decimal(0), Decimal("0.50"), Decimal("0.90"))),
            "close_on": TODAY + timedelta(days=days),
        }


def _tasks(
    rng: random.Random, volume: Volume, people: list[dict], customers: list[dict]
) -> Iterator[dict]:
    """Exactly `volume.overdue` for late sellers, about one task in eighty overdue elsewhere, the
    others on time.
    """
    teams = {
        person["username"]: person["team"] for person in people if person["team"] in WORDS["tasks"]
    }
    sellers = [name for name, team in teams.items() if team == "sales"]
    others = [name for name, team in teams.items() if team != "sales"]
    late = [rng.choice(others) for _ in range(volume.tasks // 80)]
    for seller, n in zip(rng.sample(sellers[1:], len(volume.overdue)), volume.overdue, strict=True):
        late += [seller] * n
    plan = [(owner, True) for owner in late]
    plan += [(rng.choice([*sellers, *others]), False) for _ in range(volume.tasks - len(plan))]
    rng.shuffle(plan)
    for owner, overdue in plan:
        done = not overdue and rng.randrange(100) < 88
        days = (
            -rng.randrange(1, 40) if overdue else -rng.randrange(500) if done else rng.randrange(45)
        )
        yield {
            "title": rng.choice(WORDS["tasks"][teams[owner]]),
            "owner": owner,
            "customer_id": rng.choice(customers)["customer_id"]
            if teams[owner] != "marketing"
            else None,
            "priority": _pick(rng, {"normal": 70, "low": 15, "high": 15}),
            "status": "done" if done else "open",
            "due_on": TODAY + timedelta(days=days),
        }


def _notes(
    rng: random.Random, n: int, people: list[dict], made: dict[str, list[dict]]
) -> Iterator[dict]:
    about = [row[f"{kind}_id"] for kind in ("customer", "deal", "task") for row in made[f"{kind}s"]]
    for when in _times(rng, n, days=400):
        person, _ = _person(rng)
        yield {
            "about": rng.choice(about),
            "author": rng.choice(people)["username"],
            "text": rng.choice(WORDS["notes"]).format(person=person),
            "created_at": when,
        }


def _approvals(rng: random.Random, n: int, people: list[dict]) -> Iterator[dict]:
    for when in _times(rng, n, days=200):
        kind = rng.choice(APPROVAL_KINDS)
        # what is old has been decided
        recent = (_MOMENT - when).days < 14
        status = "pending" if recent else _pick(rng, {"approved": 85, "rejected": 15})
        requester, decider = rng.sample(people, 2)
        yield {
            "kind": kind,
            "requester": requester["username"],
            "detail": rng.choice(WORDS["reasons"][kind]),
            "amount": None
            if kind == "leave"
            else Decimal(rng.randrange(2_000, 200_000)).scaleb(-2),
            "status": status,
            "requested_at": when,
            "decided_by": None if status == "pending" else decider["username"],
        }


def _reports(rng: random.Random, n: int, people: list[dict]) -> Iterator[dict]:
    for _ in range(n):
        kind = rng.choice(REPORT_KINDS)
        yield {
            "name": f"{rng.choice(WORDS['reports'])}: {kind.replace('_', ' ')}",
            "kind": kind,
            "created_by": rng.choice(people)["username"],
            "created_on": TODAY - timedelta(days=rng.randrange(700)),
        }


def _times(rng: random.Random, n: int, days: int) -> list[datetime]:
    """`n` moments before now, the oldest first, so that ids rise with time."""
    return sorted(_MOMENT - timedelta(seconds=rng.randrange(1, days * 86_400)) for _ in range(n))


def _person(rng: random.Random, language: str | None = None) -> tuple[str, str]:
    """A full name as it is written in its language, and a user name for it."""
    language = language or _pick(rng, _LANGUAGES)
    given, family = rng.choice(WORDS["given"][language]), rng.choice(WORDS["family"][language])
    parts = [family, given] if language in ("Vietnamese", "Japanese") else [given, family]
    return " ".join(part.partition("|")[0] for part in parts), f"{_plain(given)}.{_plain(family)}"


@functools.cache
def _plain(name: str) -> str:
    spelling = name.partition("|")[2] or name
    letters = unicodedata.normalize("NFKD", spelling.lower().replace("đ", "d"))
    return "".join(letter for letter in letters if letter.isascii())


def _pick(rng: random.Random, shares: Mapping[str, int]) -> str:
    """One of the keys of `shares`, each as often as its share says."""
    return rng.choices(list(shares), weights=list(shares.values()))[0]


def main() -> None:
    folder = Path(__file__).resolve().parents[1] / "company"
    folder.mkdir(exist_ok=True)
    for table, rows in generate().items():
        path, types = folder / f"{table}.parquet", {"tenant": "VARCHAR", **TABLES[table]}
        lists = ", ".join(f"unnest(CAST(? AS {kind}[])) AS {name}" for name, kind in types.items())
        with duckdb.connect() as db:
            db.execute(f"CREATE TABLE t AS SELECT {lists}", [[r[c] for r in rows] for c in types])
            db.execute(f"COPY t TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
        print(path.name, hashlib.sha256(path.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
