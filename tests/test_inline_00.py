"""Notebook 00: its inline tool says the same as the package, its setup check finds faults, the
figure is current.
"""

import json
from importlib import metadata
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from toolresults.tokens import to_json
from workbook import plots
from workbook.checks import n00
from workbook.examples.orders.data import classic_orders

ROOT = Path(__file__).resolve().parents[1]


def inline() -> dict:
    """What the notebook's inline cells define."""
    nb = nbformat.read(ROOT / "notebooks" / "00_start_here.ipynb", as_version=4)
    names = {"json": json}
    for cell in nb.cells:
        if "inline" in cell.metadata.get("tags", []):
            exec(cell.source, names)
    return names


def test_the_inline_tool_sends_the_same_values_as_the_package():
    orders = classic_orders(20)
    assert json.loads(inline()["list_orders"](orders)) == json.loads(to_json(orders)) == orders


def test_setup_is_ready_here(capsys):
    assert n00.setup()
    lines = capsys.readouterr().out.splitlines()
    assert [line[0] for line in lines[:-1]] == ["✓"] * 4
    assert lines[-1] == "Ready."


@pytest.mark.parametrize("wanted", ["duckdb>=999", "no-such-package>=1.0"])
def test_setup_names_the_package_that_is_missing_or_old(wanted, monkeypatch, capsys):
    monkeypatch.setattr(
        metadata, "requires", lambda name: ["click>=1.0", wanted, "nor-this>=9; extra == 'dev'"]
    )
    assert not n00.setup()
    out = capsys.readouterr().out
    assert f"✗  packages   missing or too old: {wanted.replace('>=', ' ')}. Run: pip install" in out
    assert out.splitlines()[-1].startswith("Not ready")


def test_setup_goes_on_where_a_check_raises(monkeypatch, capsys):
    monkeypatch.setattr(n00, "_account", lambda: Path("no such\nfolder").stat())
    assert not n00.setup()
    out = capsys.readouterr().out.splitlines()
    assert out[3].startswith("✗  account    FileNotFoundError")
    assert len(out) == 5


@pytest.mark.parametrize(
    ("found", "least", "ok"),
    [("2.0", "2.0.0", True), ("2.0.0", "2", True), ("1.10", "1.9", True), ("3rc1", "4", False)],
)
def test_versions_compare_as_numbers(found, least, ok):
    assert (n00._numbers(found) >= n00._numbers(least)) is ok


@pytest.fixture(scope="module")
def headline() -> pd.DataFrame:
    from workbook.bench.headline import headline

    return headline()


def test_the_headline_figure_shows_every_step_and_the_cap(headline):
    axes = plots.headline_figure(headline).axes[0]
    assert [bar.get_height() for bar in axes.patches] == list(headline["exact"])
    assert [bar.get_facecolor() for bar in axes.patches][2] != [
        bar.get_facecolor() for bar in axes.patches
    ][3]
    assert axes.get_yscale() == "log"
    assert [line.get_ydata()[0] for line in axes.lines] == [25_000]


def test_the_figure_in_the_readme_shows_the_current_numbers(headline):
    """If it fails: plots.save_headline(headline(), "docs/headline.svg") draws it again."""
    committed = (ROOT / "docs" / "headline.svg").read_text(encoding="utf-8")
    assert plots.headline_description(headline) in committed


def test_saving_a_figure_twice_gives_the_same_bytes(headline, tmp_path):
    for name in ("a.svg", "b.svg"):
        plots.save_headline(headline, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
