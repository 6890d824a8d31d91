"""Who calls, what they may do, and how they are refused.

A `Caller` is made by the host and bound to the functions before a model sees them. It is never an
argument that a model fills, so that nothing which a model writes can change whose data is read or
in whose name something is written.
"""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from toolresults.results.shape import clean, cut
from toolresults.tools import ToolError

SCOPES = {
    "crm:read": "customers, deals, tasks and notes",
    "crm:write": "changing them",
    "hr:read": "employees, teams and approvals; never a salary",
    "hr:request": "asking for leave in one's own name",
    "hr:approve": "deciding what others asked for",
    "hr:salary": "salaries",
    "reports:read": "listing and running saved reports",
    "reports:write": "saving and deleting reports",
}
"""What each scope opens."""

Function = TypeVar("Function", bound=Callable[..., object])


@dataclass(frozen=True)
class Caller:
    """Who calls: a user name, the tenant (the company whose data it is), and the scopes that the
    host granted.

    `scopes` may be given as any iterable. Raises `ValueError` for a scope that is not in `SCOPES`.
    """

    user: str
    tenant: str
    scopes: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        scopes = frozenset([self.scopes] if isinstance(self.scopes, str) else self.scopes)
        if unknown := scopes - set(SCOPES):
            raise ValueError(f"unknown scope {min(unknown)!r}: use {', '.join(SCOPES)}")
        object.__setattr__(self, "scopes", scopes)


class Refused(ToolError, PermissionError):
    """The caller may not do this."""


class NotFound(ToolError, LookupError):
    """There is no such row in the caller's tenant; whether another tenant has it is not told."""

    def __init__(self, kind: str, key: str, hint: str = "") -> None:
        super().__init__(f'There is no {kind} "{shown(key)}". {hint}'.strip())


class BadValue(ToolError, ValueError):
    """An argument that cannot be; the message says what can."""


def shown(text: str) -> str:
    """A caller's text, short and clean enough for a message."""
    return cut(clean(text), 40)


def needs(*scopes: str) -> Callable[[Function], Function]:
    """Marks a method of a `Service` with the scopes that it needs, all of them, and refuses callers
    without.

    The scopes are looked at before anything else: a caller without them learns nothing from the
    arguments' fate.
    """
    if not scopes or (unknown := set(scopes) - set(SCOPES)):
        raise ValueError(f"needs takes names of scopes, not {unknown if scopes else 'nothing'}")

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def guarded(self, *args, **kwargs):
            require(self.caller, scopes, f"{self.namespace}.{function.__name__}")
            return function(self, *args, **kwargs)

        guarded.scopes = scopes
        return guarded

    return decorate


def require(caller: Caller, scopes: Iterable[str], what: str) -> None:
    """Raises `Refused`, naming what is missing, unless the caller has all of `scopes`."""
    missing = [scope for scope in scopes if scope not in caller.scopes]
    if missing:
        raise Refused(
            f"{what} needs the scope {' and '.join(missing)}, which this caller was not granted. "
            "No argument changes that."
        )
