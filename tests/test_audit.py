"""`toolresults audit`: what it measures is exact, its advice saves what it says, and no file makes
it fall over.
"""

import json
import os
import random
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from toolresults.audit import show as audit_show
from toolresults.audit.advise import REF
from toolresults.audit.load import InputError
from toolresults.audit.show import audit_file
from toolresults.audit.weigh import dump, fields_of, into_pages, row_texts
from toolresults.cli import cli
from toolresults.tokens import ENCODINGS, count_tokens, to_json

WORDS = "the order was sent late and the customer asked twice about it đơn hàng".split()


def orders(n: int, seed: int = 1) -> list[dict]:
    rng = random.Random(seed)
    return [
        {
            "id": i,
            "status": rng.choice(("paid", "refunded", "failed")),
            "state": None,
            "source": "api",
            "deleted_at": None,
            "note": " ".join(rng.choice(WORDS) for _ in range(rng.choice((5, 10, 120)))),
            "address": {"city": "Hà Nội", "geo": {"lat": rng.random(), "lng": rng.random()}},
            "payload": json.dumps({"numbers": [rng.random() for _ in range(10)]}),
        }
        for i in range(n)
    ]


@pytest.fixture
def audit(tmp_path):
    """Audits a value (as compact JSON), a text or bytes, and gives the report as `--json` has
    it.
    """

    def run(content: object, **options) -> dict:
        path = tmp_path / "file.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(
                content if isinstance(content, str) else to_json(content),
                encoding="utf-8",
                newline="",
            )
        return audit_file(str(path), **options).to_dict()

    return run


def advice(report: dict) -> dict:
    return {(one["action"], one["field"]): one["saves_tokens"] for one in report["advice"]}


def test_sizes_are_those_of_the_text(audit):
    rows = orders(40)
    text = json.dumps(rows, indent=2)
    report = audit(text)
    for name, expected in (("as_written", text), ("compact", to_json(rows))):
        size = report[name]
        assert size["tokens"] == {
            encoding: count_tokens(expected, encoding) for encoding in ENCODINGS
        }
        assert size["characters"] == len(expected)
        assert size["bytes"] == len(expected.encode("utf-8"))
        assert size["estimate"] == len(expected) // 4
    exact = report["compact"]["tokens"]["o200k_base"]
    off = 100 * (report["compact"]["estimate"] - exact) / exact
    assert report["compact"]["estimate_error_percent"] == pytest.approx(off, abs=0.06)
    assert report["budgets_filled"] == round(exact / 25_000, 2)


def test_fields_add_up_to_the_whole_and_come_heaviest_first(audit):
    rows = orders(200)
    report = audit(rows)
    total = report["compact"]["tokens"]["o200k_base"]
    weights = [field["tokens"] for field in report["fields"]]
    assert weights == sorted(weights, reverse=True)
    # the braces between rows are all that is not in a field: at most two tokens a row
    assert total - 2 * len(rows) <= sum(weights) <= total + len(weights)
    without = [{key: value for key, value in row.items() if key != "payload"} for row in rows]
    payload = next(field["tokens"] for field in report["fields"] if field["name"] == "payload")
    assert payload == pytest.approx(total - count_tokens(to_json(without)), abs=len(rows) * 0.05)


def test_presence_nulls_and_the_heaviest_nested_path(audit):
    rows = [
        {"a": 1, "b": None, "c": {"d": {"e": "word " * 30, "f": 1}}},
        {"a": "", "c": {"d": {"e": "x", "f": 2}}},
    ]
    fields = {field["name"]: field for field in audit(rows)["fields"]}
    assert (fields["a"]["present"], fields["a"]["null"], fields["a"]["empty"]) == (2, 0, 1)
    assert (fields["b"]["present"], fields["b"]["null"], fields["b"]["empty"]) == (1, 1, 1)
    assert fields["c"]["heaviest_path"] == "c.d.e"
    assert 30 < fields["c"]["heaviest_tokens"] < fields["c"]["tokens"]


def test_a_list_inside_rows_is_followed(audit):
    rows = [
        {"id": i, "lines": [{"sku": "A", "text": "several words about it " * 5} for _ in range(3)]}
        for i in range(5)
    ]
    lines = next(field for field in audit(rows)["fields"] if field["name"] == "lines")
    assert lines["heaviest_path"] == "lines[].text"


@pytest.mark.parametrize("budget", [30, 200, 1_000, 10**6])
@pytest.mark.parametrize("kind", ["objects", "keys of punctuation", "lists"])
def test_rows_that_fit_is_exact(audit, budget, kind):
    # a tokenizer joins `},{"_` and `],[` across rows, so the rows' own counts add up to less, or
    # more, than the whole
    rows = {
        "objects": orders(60),
        "keys of punctuation": [{"_id": i} for i in range(400)],
        "lists": [[i % 10] for i in range(400)],
    }[kind]
    fit = audit(rows, budget=budget)["rows_that_fit"]
    assert count_tokens(to_json(rows[:fit])) <= budget or fit == 0
    assert fit == len(rows) or count_tokens(to_json(rows[: fit + 1])) > budget


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=50)
@given(st.lists(json_values, max_size=8), st.integers(1, 200))
def test_any_rows_are_put_together_as_to_json_does_and_pages_hold_them_all(values, budget):
    rows = json.loads(to_json(values))
    texts = row_texts(rows, fields_of(rows))
    assert f"[{','.join(texts)}]" == to_json(rows)
    each, fit, pages = into_pages(texts, budget)
    assert len(each) == len(rows)
    assert fit == 0 or count_tokens(to_json(rows[:fit])) <= budget
    assert fit == len(rows) or count_tokens(to_json(rows[: fit + 1])) > budget
    assert pages <= len(rows)
    assert into_pages(texts, 10**9)[2] == min(1, len(rows))


@given(json_values)
def test_dump_is_to_json(value):
    assert dump(json.loads(to_json(value))) == to_json(value)


# What to do first


def test_each_kind_of_advice_with_its_saving(audit):
    rows = orders(400)
    for row in rows:
        row["state"] = row["status"]
    report = audit(rows, budget=2_000)
    found = advice(report)
    assert list(found)[:2] == [("ref", "payload"), ("shorten", "note")]
    assert {("drop", "source"), ("drop", "deleted_at"), ("page", None), ("filter", None)} <= set(
        found
    )
    # of two equal fields one goes, never both
    assert len({("drop", "state"), ("drop", "status")} & set(found)) == 1
    filters = next(one["reason"] for one in report["advice"] if one["action"] == "filter")
    assert "status" in filters or "state" in filters


def test_the_savings_are_what_doing_it_saves(audit):
    rows = orders(300)
    report = audit(rows)
    found = advice(report)
    done = [dict(row) for row in rows]
    for action, field in found:
        for row in done if field else ():
            if action == "drop":
                del row[field]
            elif action == "ref" and len(row[field]) > 100:
                row[field] = REF
            elif action == "shorten" and len(row[field]) > 200:
                row[field] = row[field][:199].rstrip() + "…"
    total = report["compact"]["tokens"]["o200k_base"]
    assert report["after"]["tokens"] == count_tokens(to_json(done))
    fields = sum(saves for (_, field), saves in found.items() if field)
    assert total - report["after"]["tokens"] == pytest.approx(fields, rel=0.02)


def test_how_a_file_is_written_is_the_first_thing_to_mend(audit):
    rows = orders(50)
    report = audit(json.dumps(rows, indent=4))
    first = report["advice"][0]
    assert (first["action"], first["field"]) == ("compact", None)
    assert first["saves_tokens"] == count_tokens(json.dumps(rows, indent=4)) - count_tokens(
        to_json(rows)
    )
    assert "\\u" in first["reason"]
    assert "\\u" not in audit(json.dumps(rows, indent=4, ensure_ascii=False))["advice"][0]["reason"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("data:image/png;base64," + "iVBORw0KGgo" * 2_000, "image/png"),
        (json.dumps({"card": {"number": list(range(200))}}), "JSON kept as text"),
        ("0123456789abcdef" * 50, "opaque text"),
        ("a few huge words " * 500, "huge value"),
        ({"lines": [{"sku": "A-1", "text": "some words"}] * 60}, "nested"),
    ],
)
def test_what_is_not_for_reading_becomes_a_ref(audit, value, expected):
    only = [one for one in audit([{"id": 1, "field": value}])["advice"] if one["field"] == "field"]
    assert [one["action"] for one in only] == ["ref"]
    assert expected in only[0]["reason"]


def test_long_text_in_any_script_is_shortened_and_not_called_opaque(audit):
    rows = [
        {"id": i, "note": "注文の発送が遅れたためお客様から二度の問い合わせがありました。" * 12}
        for i in range(3)
    ]
    assert ("shorten", "note") in advice(audit(rows))


def test_a_small_file_needs_nothing(audit):
    report = audit([{"id": 1, "name": "Ana"}, {"id": 2, "name": "Bo"}])
    assert report["advice"] == []
    assert report["rows_that_fit"] == 2


def test_rows_too_large_for_a_page_are_said(audit):
    report = audit([{"id": i, "text": f"{i} words " * 400} for i in range(3)], budget=100)
    assert report["rows_that_fit"] == 0


# Where the rows are


@pytest.mark.parametrize(
    ("value", "path", "rows"),
    [
        ([{"a": 1}, {"a": 2}], "$", 2),
        (
            {"meta": {"n": [1, 2, 3, 4]}, "data": [{"a": 1}, {"a": 2}], "tags": [{"t": 1}]},
            "$.data",
            2,
        ),
        ({"page": {"items": [{"a": [{"b": 1}] * 9}] * 3}}, "$.page.items", 3),
        ({f"id{i}": {"a": i} for i in range(12)}, "$.*", 12),
        ([[{"a": 1}], [{"a": 2}, {"a": 3}]], "$[*]", 3),
        ([{"data": [{"a": 1}, {"a": 2}]}], "$[0].data", 2),
        ([[1, 2], [3, 4]], "$", 2),
        ({"a": 1, "b": {"c": 2}}, "$", 1),
        ([1, "x", None, {"a": 1}], "$", 4),
        ([], "$", 0),
        ({}, "$", 1),
        (42, "$", 1),
    ],
)
def test_rows_are_found(audit, value, path, rows):
    report = audit(value)
    assert (report["rows_path"], report["rows"]) == (path, rows)
    assert report["compact"]["tokens"]["o200k_base"] == count_tokens(to_json(value))


def test_another_list_can_be_asked_for(audit):
    value = {"data": [{"a": 1}] * 3, "included": [{"b": 1}] * 2}
    assert audit(value, rows="included")["rows"] == audit(value, rows="$.included")["rows"] == 2
    with pytest.raises(InputError, match=r"\$\.data"):
        audit(value, rows="nope")


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1}\n{"a":2}\n',
        '{"a":1}\r\n\r\n{"a":2}',
        '{\n "a": 1\n}\n{\n "a": 2\n}',
        '\x1e{"a":1}\n\x1e{"a":2}\n',
    ],
)
def test_json_lines_in_every_spelling(audit, text):
    report = audit(text)
    assert (report["format"], report["rows"]) == ("json lines", 2)


def test_an_mcp_result_is_measured_as_the_text_that_the_model_sees(audit):
    text = json.dumps([{"id": i, "name": "Ana"} for i in range(5)])
    result = {
        "content": [{"type": "text", "text": text}, {"type": "image", "data": "aa"}],
        "structuredContent": {},
    }
    for value in (result, {"jsonrpc": "2.0", "id": 1, "result": result}):
        report = audit(value)
        assert (report["format"], report["rows"]) == ("mcp", 5)
        assert report["as_written"]["tokens"]["o200k_base"] == count_tokens(text)
        assert len(report["warnings"]) == 2
    # a block for each item, as some servers send a list
    report = audit({"content": [{"type": "text", "text": to_json({"id": i})} for i in range(3)]})
    assert report["rows"] == 3
    plain = audit({"content": [{"type": "text", "text": "It rains."}]})
    assert plain["as_written"]["characters"] == len("It rains.")


def test_json_inside_a_string_is_unwrapped(audit):
    report = audit(json.dumps(json.dumps([{"a": 1}, {"a": 2}])))
    assert (report["format"], report["rows"]) == ("json text", 2)
    assert audit('"just a text"')["format"] == "json"


# Odd files


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_encodings_with_and_without_a_mark(audit, encoding):
    text = to_json([{"name": "→ Việt"}])
    report = audit(text.encode(encoding))
    assert report["as_written"]["tokens"]["o200k_base"] == count_tokens(text)
    assert report["warnings"] == []


@pytest.mark.parametrize(
    ("text", "warning", "compact"),
    [
        (
            '[{"a":NaN,"b":-Infinity,"c":1e999}]',
            "NaN or Infinity, 3 times",
            '[{"a":null,"b":null,"c":null}]',
        ),
        ('[{"a":1,"a":2}]', "a key twice", '[{"a":2}]'),
        ('[{"a":%s}]' % ("9" * 5_000), "4,300 digits", '[{"a":"%s"}]' % ("9" * 5_000)),
    ],
)
def test_what_is_not_quite_json_is_read_and_said(audit, text, warning, compact):
    report = audit(text)
    assert warning in report["warnings"][0]
    assert report["compact"]["tokens"]["o200k_base"] == count_tokens(compact)


def test_lone_surrogates_are_counted_as_the_model_would_get_them(audit):
    report = audit('[{"a":"x\\ud83d y"}]')
    assert report["compact"]["tokens"]["o200k_base"] == count_tokens('[{"a":"x\ufffd y"}]')


def test_records_with_differing_keys(audit):
    report = audit('{"a":1}\n{"b":2}\n[1,2]\n5\n"x"\nnull\n')
    assert {field["name"]: field["present"] for field in report["fields"]} == {
        "a": 1,
        "b": 1,
        "[0]": 1,
        "[1]": 1,
        "(value)": 3,
    }


def test_a_position_in_a_list_is_not_mistaken_for_a_key(audit):
    long = "some words of a text " * 40
    report = audit([{"[0]": long}, [long], {"[0]": long}])
    assert report["rows"] == 3
    assert report["after"]["tokens"] < report["compact"]["tokens"]["o200k_base"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"Dear customer, your order", "line 1, column 1"),
        (b"id,name\n1,a\n", "give a JSON list or object"),
        (b'[{"a":1},{"a":', "line 1, column 15"),
        (b'{"a":1}\n{"a":2}\n{oops}\n', "line 3, column 2 after 2 good values"),
        (b'{"a":1}\n{"a":\n{"a":3}\n', "line 2, column 6 after 1 good value"),
        (b'{"a":1}\r\n{"a":[1,2\r\n{"a":3}\r\n{"a":4}\r\n', "line 2, column 10 after 1 good value"),
        (b'{"a":1\n{"a":2}\n', "line 1, column 7"),
        (b'{"a":1}\n{\n "a": 1,\n "b" 2\n}\n', "line 4, column 6 after 1 good value"),
        (b'[\n {"a":1}\n {"a":2}\n]\n', "line 3, column 2"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        ('[{"a":"é"}]'.encode("latin-1"), "not UTF-8 text (byte 7)"),
        (bytes(range(256)) * 10, "binary file"),
        (b"\x1f\x8b\x08\x00", "gzip file: unpack it"),
        (b"PAR1\x00", "Parquet file"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_line(audit, content, says):
    with pytest.raises(InputError) as caught:
        audit(content)
    message = str(caught.value)
    assert says in message
    assert "\n" not in message and len(message) < 300


def test_errors_on_the_command_line_are_one_line_and_exit_code_2(tmp_path):
    for path, says in ((tmp_path, "is a folder"), (tmp_path / "no.json", "does not exist")):
        result = CliRunner().invoke(cli, ["audit", str(path)])
        assert (result.exit_code, result.stdout) == (2, "")
        assert says in result.stderr and result.stderr.count("\n") == 1


def test_no_value_and_no_endless_name_is_shown(tmp_path):
    rows = [
        {"password": "hunter2 " * 500, "t" * 5_000: "sk-live-1", "\x1b[31mred": 1, "[bold]": 2}
        for _ in range(6)
    ]
    path = tmp_path / "secret.json"
    path.write_text(to_json(rows), encoding="utf-8")
    for options in ([], ["--json"]):
        shown = CliRunner().invoke(cli, ["audit", str(path), *options]).stdout
        assert "hunter2" not in shown and "sk-live" not in shown
        assert "t" * 100 not in shown and "\x1b" not in shown
        assert "[bold]" in shown


# The command


def test_the_table_has_the_numbers(tmp_path):
    rows = orders(300)
    path = tmp_path / "orders.json"
    path.write_text(json.dumps({"data": rows}, indent=2), encoding="utf-8")
    run = [sys.executable, "-m", "toolresults", "audit", str(path)]
    # UTF-8 whatever the console says
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "60"}
    result = subprocess.run(run, capture_output=True, encoding="utf-8", env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert "300 rows at $.data" in result.stdout
    assert f"{count_tokens(to_json({'data': rows})):,}" in result.stdout
    for encoding in ENCODINGS:
        assert encoding in result.stdout
    assert result.stdout.index("1. compact") < result.stdout.index("2. ref payload")
    assert "\x1b" not in result.stdout


def test_json_has_the_documented_keys_and_stdin_works(tmp_path):
    text = json.dumps(orders(20))
    run = [sys.executable, "-m", "toolresults", "audit", "-", "--json", "--budget", "1000"]
    result = subprocess.run(run, input=text, capture_output=True, encoding="utf-8")
    report = json.loads(result.stdout)
    for key in report:
        assert key in audit_show.__doc__
    assert report["file"] == "standard input"
    assert report["budget"] == 1_000
    assert report["as_written"]["tokens"]["qwen3.5"] == count_tokens(text, "qwen3.5")
