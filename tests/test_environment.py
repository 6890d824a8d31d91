"""The three lists of what the project needs say the same: pyproject.toml, environment.yml and
requirements.lock.
"""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
CONDA_NAMES = {"python-duckdb": "duckdb"}  # conda-forge's `duckdb` is the command-line program
# not on conda-forge, or only in an older major version
ONLY_PIP = {"genai-prices", "httpx2", "mcp", "mini-racer", "pydantic-monty", "toktok-rs"}


def bounds(lines: list[str]) -> dict[str, str]:
    """Canonical name and version bound of each requirement."""
    requirements = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): str(r.specifier) for r in requirements}


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def wanted() -> dict[str, str]:
    lists = [project()["dependencies"], *project()["optional-dependencies"].values()]
    return bounds([line for lines in lists for line in lines])


def conda() -> tuple[dict[str, str], list[str]]:
    """Bounds of the conda packages, under the names that pip knows, and the lines under pip."""
    entries = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    found = bounds([entry for entry in entries if isinstance(entry, str)])
    [pip] = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    return {CONDA_NAMES.get(name, name): bound for name, bound in found.items()}, pip


def locked() -> dict[str, list[str]]:
    """Every version in the lock; a package may have one for each range of Python versions."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE):
        found.setdefault(canonicalize_name(name), []).append(version)
    return found


def test_conda_and_pip_together_have_every_bound_of_pyproject():
    from_conda, pip_lines = conda()
    from_pip = bounds([line for line in pip_lines if not line.startswith("-")])
    assert from_conda.pop("python") == project()["requires-python"]
    assert from_conda.pop("pip") == ""
    assert set(from_pip) == ONLY_PIP
    assert from_conda | from_pip == wanted()


def test_conda_installs_the_project_itself_without_fetching_a_build_backend():
    assert [line for line in conda()[1] if line.startswith("-")] == [
        "--no-build-isolation",
        "--editable .",
    ]


def test_the_build_backend_is_locked_like_everything_else():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"][
        "requires"
    ]
    assert bounds(build).items() <= wanted().items()


@pytest.mark.parametrize("name", sorted(wanted()))
def test_each_requirement_is_locked_within_its_bound(name):
    requirement = Requirement(f"{name}{wanted()[name]}")
    assert locked()[name] and all(
        requirement.specifier.contains(version) for version in locked()[name]
    )


def test_each_bound_is_the_locked_release_so_that_the_oldest_allowed_is_tested():
    loose = {}
    for name, bound in wanted().items():
        parts = re.search(r">=([\d.]+)", bound)[1].split(".")
        if not all(version.split(".")[: len(parts)] == parts for version in locked()[name]):
            loose[name] = (bound, locked()[name])
    assert loose == {}


def test_the_lock_has_a_hash_for_each_file_and_names_no_machine_or_host():
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(entries) > 100
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"https?://|file:|index-url|find-links|@ ", text) == []


def test_the_lock_is_for_every_platform_and_not_only_for_this_one():
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "sys_platform == 'win32'" in text and "sys_platform == 'darwin'" in text
