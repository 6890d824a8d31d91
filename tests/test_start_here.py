"""The first notebook's setup check finds what is missing, and its figure, which is the README's
too, shows the current numbers.
"""

from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest

from workbook import plots
from workbook.checks import n00

ROOT = Path(__file__).resolve().parents[1]


def test_setup_is_ready_here(capsys):
    assert n00.setup()
    lines = capsys.readouterr().out.splitlines()
    assert [line[0] for line in lines[:-1]] == ["✓"] * 4
    assert lines[-1] == "Ready."


@pytest.mark.parametrize("wanted", ["duckdb>=999", "click<2", "no-such-package>=1.0"])
def test_setup_names_the_package_that_is_missing_or_old(wanted, monkeypatch, capsys):
    monkeypatch.setattr(
        metadata, "requires", lambda name: ["click>=8.0.0", wanted, "nor-this>=9; extra == 'dev'"]
    )
    assert not n00.setup()
    out = capsys.readouterr().out
    assert f"✗  packages   missing or unfit: {wanted}. Run: pip install" in out
    assert out.splitlines()[-1].startswith("Not ready")


def test_setup_goes_on_where_a_check_raises(monkeypatch, capsys):
    monkeypatch.setattr(n00, "_account", lambda: Path("no such\nfolder").stat())
    assert not n00.setup()
    out = capsys.readouterr().out.splitlines()
    assert out[3].startswith("✗  account    FileNotFoundError")
    assert len(out) == 5


@pytest.fixture(scope="module")
def headline() -> pd.DataFrame:
    from workbook.bench.headline import headline

    return headline()


def test_the_headline_figure_shows_every_step_and_the_cap(headline):
    axes = plots.headline_figure(headline).axes[0]
    assert [bar.get_height() for bar in axes.patches] == list(headline["exact"])
    colours = [bar.get_facecolor() for bar in axes.patches]
    assert colours[2] != colours[3]
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
