"""Running notebooks: what is run, what is said when one fails, what is written, and that nothing is
left behind.
"""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner
from rich.console import Console

from workbook.cli import cli
from workbook.run import Outcome, find, read, run_all, shown

FIGURE = """from workbook.plots import label, style
import matplotlib.pyplot as plt
style()
fig, ax = plt.subplots()
ax.bar(["all", "page"], [1_012_478, 1_135])
label(ax, title="A page is enough", x="what is returned", y="tokens (o200k_base)")
plt.show()"""

posix = pytest.mark.skipif(os.name != "posix", reason="symbolic links need rights on Windows")


def notebook(path: Path, *sources: str) -> Path:
    """Write a notebook of code cells; a source that starts with "# " is Markdown."""
    cells = [
        nbformat.v4.new_markdown_cell(s) if s.startswith("# ") else nbformat.v4.new_code_cell(s)
        for s in sources
    ]
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)), encoding="utf-8")
    return path


def printed(nb: dict) -> str:
    return "".join(out.get("text", "") for cell in nb["cells"] for out in cell.get("outputs", []))


def test_the_kernel_is_this_interpreter_whatever_the_home_holds(tmp_path, monkeypatch):
    spec = tmp_path / "share" / "kernels" / "python3"
    spec.mkdir(parents=True)
    argv = [sys.executable, "-c", "raise SystemExit('the wrong kernel')", "{connection_file}"]
    (spec / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "x", "language": "python"}), "utf-8"
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    sources = ("import os, sys", "print(sys.executable)", "print(os.getcwd())", "print(hash('x'))")
    path = notebook(tmp_path / "a.ipynb", *sources)
    [outcome] = run_all([path])
    assert outcome.error is None
    executable, folder, seeded = printed(outcome.nb).split()
    assert Path(executable) == Path(sys.executable)
    assert Path(folder) == tmp_path.resolve()
    hashed = [sys.executable, "-c", "print(hash('x'))"]
    expected = subprocess.run(
        hashed, env=os.environ | {"PYTHONHASHSEED": "0"}, capture_output=True, text=True
    )
    assert seeded == expected.stdout.strip()


def test_a_failure_is_named_and_the_rest_goes_on(tmp_path):
    bad = notebook(
        tmp_path / "00_bad.ipynb",
        "# Bad",
        "x = 1",
        "raise ValueError('no such\\norder')",
        "print('never')",
    )
    dead = notebook(tmp_path / "01_dead.ipynb", "# Dead", "import os", "os._exit(3)")
    good = notebook(
        tmp_path / "02_good.ipynb", "# Good, see [bad](00_bad.ipynb)", FIGURE, "print('1 < 2')"
    )
    before = good.read_bytes()
    out = tmp_path / "build"
    result = CliRunner().invoke(cli, ["run", str(bad), str(dead), str(good), "--out", str(out)])
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "00_bad.ipynb, cell 2: ValueError: no such",
        "01_dead.ipynb, cell 2: Kernel died",
    ]
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["00_bad", "01_dead", "02_good"]
    assert "2/2 cells" in lines[2] and lines[2].endswith("ok")
    assert lines[-1] == f"Report: {(out / 'report.html').resolve()}"
    assert good.read_bytes() == before
    assert "1 < 2" in printed(read(out / "02_good.ipynb"))

    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count('src="data:image/png;base64,') == 1
    assert (
        "1 &lt; 2" in page and "ValueError" in page and page.count('<section class="notebook"') == 3
    )
    assert 'href="#00_bad"' in page and 'id="00_bad"' in page and '.ipynb"' not in page
    assert "<script" not in page and 'src="http' not in page and "url(http" not in page
    assert page.count(' <span class="failed">failed</span>') == 2
    assert "Failed in cell 2: ValueError: no such" in page


BROKEN = {
    "empty": "",
    "cut off": '{"cells": [',
    "other JSON": "[1]",
    "no nbformat": "{}",
    "no cells": '{"nbformat": 4}',
}


def test_a_broken_file_is_that_notebooks_failure_alone(tmp_path):
    bad = [tmp_path / f"{name}.ipynb" for name in BROKEN]
    for path, text in zip(bad, BROKEN.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    bad.append(tmp_path / "latin.ipynb")
    bad[-1].write_bytes(b"\xe9")
    good = notebook(tmp_path / "good.ipynb", "print(1 + 1)")
    out = tmp_path / "build"
    result = CliRunner().invoke(cli, ["run", *map(str, bad), str(good), "--out", str(out)])
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert len(lines) == len(bad)
    for path, line in zip(bad, lines, strict=True):
        assert line.startswith(f"{path.name}, the file: not a notebook: ")
    assert printed(read(out / "good.ipynb")) == "2\n"
    assert {path.name for path in out.iterdir()} == {"good.ipynb", "report.html"}
    assert (out / "report.html").read_text(encoding="utf-8").count(
        "Failed in the file: not a notebook"
    ) == len(bad)
    before = bad[1].read_bytes()
    assert CliRunner().invoke(cli, ["notebooks", str(bad[1])]).exit_code == 1
    assert bad[1].read_bytes() == before


@pytest.mark.parametrize("out", ["a", ".", pytest.param("link", marks=posix)])
def test_a_folder_that_holds_the_notebooks_is_refused_before_anything_runs(tmp_path, out):
    (tmp_path / "a").mkdir()
    path = notebook(tmp_path / "a" / "n.ipynb", "open('ran', 'w')")
    if out == "link":
        (tmp_path / "link").symlink_to(tmp_path / "a", target_is_directory=True)
    before = path.read_bytes()
    result = CliRunner().invoke(cli, ["run", str(path), "--out", str(tmp_path / out)])
    assert (
        result.exit_code == 2
        and "another folder with --out" in result.stderr
        and result.stdout == ""
    )
    assert path.read_bytes() == before and not (tmp_path / "a" / "ran").exists()


def test_an_output_folder_that_cannot_be_made_is_said_before_anything_runs(tmp_path):
    path = notebook(tmp_path / "n.ipynb", "open('ran', 'w')")
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = CliRunner().invoke(cli, ["run", str(path), "--out", str(tmp_path / "file" / "build")])
    assert (
        result.exit_code == 2
        and "cannot be written to" in result.stderr
        and "--out" in result.stderr
    )
    assert not (tmp_path / "ran").exists()


def test_two_notebooks_of_one_name_are_refused(tmp_path):
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(str(notebook(tmp_path / folder / "n.ipynb", "open('ran', 'w')")))
    result = CliRunner().invoke(cli, ["run", *paths, "--out", str(tmp_path / "build")])
    assert result.exit_code == 2 and all(path in result.stderr for path in paths)
    assert not (tmp_path / "a" / "ran").exists() and not (tmp_path / "build").exists()


def test_a_report_of_some_notebooks_says_so(tmp_path):
    path = notebook(tmp_path / "n.ipynb", "1 + 1")
    result = CliRunner().invoke(cli, ["run", str(path), "--out", str(tmp_path / "build")])
    assert result.exit_code == 0
    assert "only the notebook that you named" in result.stdout


def test_refreshed_outputs_repeat_to_the_byte(tmp_path):
    path = notebook(
        tmp_path / "a.ipynb", "# A → Việt", FIGURE, "print('a')\nprint('b')", "{'x', 'y', 'z'}"
    )
    ran = CliRunner().invoke(cli, ["notebooks", str(path)])
    assert ran.exit_code == 0, ran.output
    first = path.read_bytes()
    nb = json.loads(first)
    assert [cell["execution_count"] for cell in nb["cells"][1:]] == [1, 2, 3]
    assert nb["metadata"]["kernelspec"]["name"] == "python3" and nb["metadata"][
        "language_info"
    ] == {"name": "python"}
    assert [cell["metadata"] for cell in nb["cells"]] == [{}] * 4
    assert b"\r" not in first and "Việt" in first.decode()
    assert CliRunner().invoke(cli, ["notebooks", str(path)]).exit_code == 0
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import warnings\nwarnings.warn('old')", "cell 1: writes to standard error"),
        ("1 / 0", "cell 1: ZeroDivisionError"),
    ],
)
def test_a_warning_or_an_error_is_never_written_into_a_notebook(tmp_path, source, said):
    path = notebook(tmp_path / "a.ipynb", source)
    before = path.read_bytes()
    result = CliRunner().invoke(cli, ["notebooks", str(path)])
    assert result.exit_code == 1 and said in result.stderr
    assert path.read_bytes() == before


def test_the_report_has_its_contents_and_keeps_links_inside(tmp_path):
    script = "<script>fetch('https://example.org')</script>"
    cells = [
        "# First `f(x)` & more",
        "# \n## Summary\n\n[there](sub/b.ipynb#Summary) [b](../b.ipynb) [here](#Summary)",
        "# \n## Summary\n\n[not run](c.ipynb) [out](https://example.org/x.html)",
        f"from IPython.display import HTML, Javascript, display\nHTML({script!r})",
        "display(Javascript('alert(1)'))",
    ]
    paths = [
        notebook(tmp_path / "a.ipynb", *cells),
        notebook(tmp_path / "b.ipynb", "# \n## Summary"),
    ]
    out = tmp_path / "build"
    ran = CliRunner().invoke(cli, ["run", *map(str, paths), "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    page = BeautifulSoup((out / "report.html").read_text(encoding="utf-8"), "html.parser")
    ids = [element["id"] for element in page.select("[id]")]
    assert len(ids) == len(set(ids)) and {"a-Summary", "a-Summary-1", "b-Summary"} < set(ids)
    links = {link.get_text(): link["href"] for link in page.select("main a")}
    outside = "https://example.org/x.html"
    assert links == {"there": "#b-Summary", "b": "#b", "here": "#a-Summary", "out": outside}
    contents = [(link.get_text(), link["href"]) for link in page.select("nav a")]
    first = [("First f(x) & more", "#a"), ("Summary", "#a-Summary"), ("Summary", "#a-Summary-1")]
    assert contents == [("Top", "#top"), *first, ("b", "#b"), ("Summary", "#b-Summary")]
    assert all(href[1:] in ids for _, href in contents)
    [policy] = page.select("head meta[http-equiv=Content-Security-Policy]")
    assert (
        policy["content"].startswith("default-src 'none'; ") and "script" not in policy["content"]
    )
    assert page.select("script") == []


@pytest.mark.skipif(
    sys.platform == "win32", reason="waits on a named pipe, and sends SIGINT to one process"
)
def test_an_interrupt_leaves_no_kernel_behind(tmp_path):
    pipe = tmp_path / "pids"
    os.mkfifo(pipe)
    tell = (
        "import os\nwith open('pids', 'w', encoding='utf-8') as f:\n    f.write(f'{os.getpid()} ')"
    )
    source = f"{tell}\nwhile True:\n    pass"
    paths = [str(notebook(tmp_path / name, source)) for name in ("a.ipynb", "b.ipynb")]
    command = [sys.executable, "-m", "workbook", "run", *paths, "--out", str(tmp_path / "build")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pids: list[int] = []
    while len(pids) < 2:  # opening blocks until a kernel has opened the other end
        pids += [int(pid) for pid in pipe.read_text(encoding="utf-8").split()]
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.strip() == "workbook: interrupted"
    assert [line.split()[0] for line in stdout.splitlines()] == ["a", "b"]
    assert all(line.endswith("stopped") for line in stdout.splitlines()) and "FAILED" not in stdout
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []


def test_notebooks_are_found_in_reading_order(tmp_path):
    hidden = [".ipynb_checkpoints/00_a.ipynb", "benchmarks/.x/y.ipynb"]
    for name in ["01_b.ipynb", "00_a.ipynb", "benchmarks/b1_x.ipynb", *hidden]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert [p.name for p in find(tmp_path)] == ["00_a.ipynb", "01_b.ipynb", "b1_x.ipynb"]


def outcome(path: str, **values):
    cells = [nbformat.v4.new_code_cell("x") for _ in range(3)]
    return Outcome(Path(path), nbformat.v4.new_notebook(cells=cells), **values)


def test_lines_keep_the_order_of_the_notebooks_and_bars_show_cells():
    first = outcome("a.ipynb", done=3, finished=True)
    second = outcome("b.ipynb", done=1, finished=True, error="cell 2: x [y]")
    plain, terminal = io.StringIO(), io.StringIO()
    with shown([first.path, second.path], Console(file=plain, width=200)) as tell:
        tell(second)
        assert plain.getvalue() == ""
        tell(first)
    assert [line.split()[0] for line in plain.getvalue().splitlines()] == ["a", "b"]
    assert plain.getvalue().splitlines()[1].endswith("FAILED in cell 2: x [y]")
    with shown(
        [first.path, second.path], Console(file=terminal, width=120, force_terminal=True)
    ) as tell:
        tell(first)
        tell(second)
    assert "cell 3/3" in terminal.getvalue() and "cell 1/3" in terminal.getvalue()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["run", "missing.ipynb"], 2, "does not exist"),
        (["call"], 2, "--list shows them. See workbook call"),
    ],
)
def test_a_mistake_is_one_line_and_no_traceback(arguments, code, said):
    result = subprocess.run(
        [sys.executable, "-m", "workbook", *arguments], capture_output=True, text=True
    )
    assert result.returncode == code
    assert said in result.stderr and len(result.stderr.splitlines()) == 1 and result.stdout == ""


@pytest.mark.parametrize(
    ("package", "commands"),
    [
        ("toolresults", ("count", "audit")),
        ("workbook", ("run", "lab", "notebooks", "test", "call", "bench")),
    ],
)
def test_help_lists_every_command_without_importing_what_they_need(package, commands):
    probe = f"""
import sys, {package}.cli as c
try: c.main()
except SystemExit: print(*sys.modules, file=sys.stderr)
"""
    result = subprocess.run([sys.executable, "-c", probe, "--help"], capture_output=True, text=True)
    assert all(f"  {name} " in result.stdout for name in commands)
    heavy = {
        "pandas",
        "matplotlib",
        "nbformat",
        "nbclient",
        "nbconvert",
        "duckdb",
        "pydantic",
        "tiktoken",
        "rich",
    }
    assert heavy & set(result.stderr.split()) == set()
