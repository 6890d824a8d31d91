"""`workbook call`: exactly what a model would see, and a signing key that lasts from one call to
the next.
"""

import json
import os
import stat
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner

from toolresults.cli import Fault
from toolresults.tokens import count_tokens, to_json
from workbook.cli import cli
from workbook.commands.state import FILE, VARIABLE, signing_keys
from workbook.examples.orders.store import OrderFilter, OrderStore

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(VARIABLE, "a secret of these tests")


@pytest.fixture(scope="module")
def account():
    """The account, loaded once for all calls in this process; those in a process of their own load
    it themselves.
    """
    with OrderStore.open() as store:
        yield store


@pytest.fixture
def call(account, monkeypatch):
    monkeypatch.setattr("workbook.commands.call._account", lambda: account)

    def run(*arguments: str, given: bytes | None = None):
        return CliRunner().invoke(cli, ["call", *arguments], input=given)

    return run


def test_a_limit_of_5000_shows_50_and_says_so(call):
    result = call("search_orders", '{"limit":5000}')
    page = json.loads(result.stdout)
    assert result.exit_code == 0
    assert page["shown"] == len(page["items"]) == 50
    assert "50" in page["note"]
    assert result.stdout.endswith("}\n") and result.stderr == ""


def test_a_budget_of_200_holds_with_a_note_and_a_cursor(call):
    result = call(
        "search_orders", '{"status":"refunded","response_format":"detailed"}', "--budget", "200"
    )
    page = json.loads(result.stdout)
    assert count_tokens(result.stdout.removesuffix("\n")) <= 200
    assert page["note"] and page["next_cursor"] and page["items"]


def test_following_the_cursors_reaches_every_refunded_order_of_a_region_once(call, account):
    seen, cursor = [], None
    while True:
        asked = {
            "status": "refunded",
            "region": "north",
            "response_format": "detailed",
            "limit": 50,
            "cursor": cursor,
        }
        page = json.loads(call("search_orders", to_json(asked)).stdout)
        seen += [item["order_id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    wanted = OrderFilter(status="refunded", region="north")
    assert len(seen) == page["total_matches"] > 500
    assert seen == [
        row["order_id"] for row in account.page(wanted, limit=10_000, columns=["order_id"])
    ]


def test_a_cursor_is_for_its_caller_and_its_key(call, monkeypatch):
    cursor = json.loads(call("search_orders", "{}").stdout)["next_cursor"]
    arguments = to_json({"cursor": cursor})
    assert call("search_orders", arguments).exit_code == 0
    assert call("search_orders", arguments, "--caller", "somebody else").exit_code == 1
    monkeypatch.setenv(VARIABLE, "a secret of these tests,a newer one")
    assert call("search_orders", arguments).exit_code == 0
    monkeypatch.setenv(VARIABLE, "a newer one")
    result = call("search_orders", arguments)
    assert result.exit_code == 1
    assert "without a cursor" in json.loads(result.stdout)["error"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("search_orders", '{"limit":'), "not valid JSON"),
        (("search_orders", "{limit:5}"), "not valid JSON"),
        (("search_orders", "[1]"), "JSON object"),
        (("search_orders", '{"status":"lost"}'), "refunded"),
        (("search_orders", '{"page":2}'), "page"),
        (("no_such_tool", "{}"), "search_orders, get_order_payload"),
        (("multi_tool_use.parallel", "{}"), "search_orders, get_order_payload"),
    ],
)
def test_a_models_mistake_is_an_error_result_on_standard_output(call, arguments, says):
    result = call(*arguments)
    assert result.exit_code == 1
    assert says in json.loads(result.stdout)["error"]
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("search_orders", "--budget", "119"), "120 tokens"),
        (("search_orders", "--budget", "-1"), "120 tokens"),
        (("search_orders", "--budget", "many"), "--budget"),
        (
            ("search_orders", '{"response_format":"detailed"}', "--budget", "150"),
            "detailed results need a budget of 200 tokens at least, got 150",
        ),
        (
            ("get_order_payload", "{}", "--budget", "119"),
            "get_order_payload needs a budget of 120 tokens",
        ),
        ((), "--list"),
    ],
)
def test_a_hosts_mistake_is_on_standard_error_with_exit_code_2(call, arguments, says):
    result = call(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr


def test_the_smallest_budget_gives_concise_rows(call):
    result = call("search_orders", "{}", "--budget", "120")
    assert result.exit_code == 0
    assert count_tokens(result.stdout.removesuffix("\n")) <= 120


def test_arguments_from_standard_input_and_without_any(call):
    for given in (b'{"limit": 2}', b'\xef\xbb\xbf{"limit": 2}\r\n'):
        assert json.loads(call("search_orders", "-", given=given).stdout)["shown"] == 2
    assert json.loads(call("search_orders").stdout)["shown"] == 20
    assert call("search_orders", "-", given=b"\xff").exit_code == 2


@posix
@pytest.mark.parametrize(
    "command", ["workbook call search_orders -", "toolresults count", "toolresults audit"]
)
def test_a_closed_standard_input_is_one_clear_line(command):
    run = ["sh", "-c", f'exec "$0" -m {command} <&-', sys.executable]
    result = subprocess.run(run, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert "standard input is closed" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="a disk that is full is a device of Linux"
)
@pytest.mark.parametrize(
    "command",
    [
        "workbook call search_orders",
        "toolresults count README.md",
        "toolresults audit data.json",
        "workbook --help",
    ],
)
def test_a_full_disk_is_one_clear_line(command, tmp_path):
    (tmp_path / "data.json").write_text('[{"a":1}]', encoding="utf-8")
    (tmp_path / "README.md").write_text("text", encoding="utf-8")
    with open("/dev/full", "wb") as full:
        run = [sys.executable, "-m", *command.split()]
        result = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert result.returncode == 1
    assert "the output cannot be written" in result.stderr and result.stderr.count("\n") == 1


def test_list_prints_the_definitions_and_their_cost(call):
    shown = call("--list").stdout
    openai, anthropic = (
        json.JSONDecoder().raw_decode(part)[0]
        for part in (shown[shown.index("[\n") :], shown[shown.rindex("\n[\n") + 1 :])
    )
    assert [one["function"]["name"] for one in openai] == [one["name"] for one in anthropic]
    for definitions in (openai, anthropic):
        assert f"{count_tokens(to_json(definitions)):,}" in shown
        for one in definitions:
            assert f"{count_tokens(to_json(one)):,}" in shown


def test_the_command_prints_utf8_whatever_the_console(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = [sys.executable, "-m", "workbook", "call", "search_orders", '{"limit":50}']
    result = subprocess.run(run, capture_output=True, env=environment)
    assert (result.returncode, result.stderr) == (0, b"")
    text = result.stdout.decode("utf-8")
    assert not text.isascii() and "?" not in text.split('"note"')[0]
    assert text.count("\n") == 1


# The key


@pytest.fixture
def no_variable(monkeypatch):
    monkeypatch.delenv(VARIABLE)


def test_the_key_is_made_once_and_lasts(no_variable, tmp_path):
    folder = tmp_path / "state" / "toolresults"
    keys = signing_keys(folder)
    assert signing_keys(folder) == keys
    assert [path.name for path in folder.iterdir()] == [FILE]
    assert signing_keys(tmp_path / "other") != keys


@posix
def test_only_the_owner_can_read_it(no_variable, tmp_path):
    folder = tmp_path / "toolresults"
    folder.mkdir(mode=0o755)
    signing_keys(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / FILE).stat().st_mode) == 0o600


def test_first_calls_at_the_same_time_agree(no_variable, tmp_path):
    found, ready = [], threading.Barrier(8)

    def first_call():
        ready.wait()
        found.append(signing_keys(tmp_path / "toolresults")[0])

    threads = [threading.Thread(target=first_call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(found)) == 1


def _spoil(path, how):
    if how == "readable by others":
        path.chmod(0o640)
    elif how == "damaged":
        path.write_text("short", encoding="ascii")
    elif how == "a folder":
        path.unlink()
        path.mkdir()
    elif how == "a link":
        path.rename(path.with_name("elsewhere"))
        path.symlink_to(path.with_name("elsewhere"))


@posix
@pytest.mark.parametrize("how", ["readable by others", "damaged", "a folder", "a link"])
def test_a_key_that_cannot_be_trusted_is_one_clear_line(no_variable, tmp_path, how):
    signing_keys(tmp_path)
    _spoil(tmp_path / FILE, how)
    with pytest.raises(Fault) as caught:
        signing_keys(tmp_path)
    assert str(tmp_path / FILE) in caught.value.message and "\n" not in caught.value.message


def test_a_folder_that_cannot_be_made_is_one_clear_line(no_variable, tmp_path):
    (tmp_path / "file").write_text("", encoding="ascii")
    with pytest.raises(Fault, match=VARIABLE):
        signing_keys(tmp_path / "file" / "toolresults")


def test_keys_from_the_environment(monkeypatch):
    monkeypatch.setenv(VARIABLE, "old, new")
    assert signing_keys() == [b"old", b"new"]
    for nothing in (" , ", " ", ""):
        monkeypatch.setenv(VARIABLE, nothing)
        with pytest.raises(Fault, match="holds no key"):
            signing_keys()
