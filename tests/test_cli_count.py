"""`toolresults count`: the same numbers as the package, from files as people have them."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from toolresults.cli import cli
from toolresults.tokens import ENCODINGS, count_tokens

TEXT = "→ Việt: <|endoftext|> is plain text here.\r\n"


def count(*arguments: str, given: bytes | None = None):
    return CliRunner().invoke(cli, ["count", *arguments], input=given)


def test_exact_estimate_characters_and_bytes(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode("utf-8"))
    shown = count(str(path)).stdout
    numbers = [int(line.split()[0].replace(",", "")) for line in shown.splitlines()]
    assert numbers == [count_tokens(TEXT), len(TEXT) // 4, len(TEXT), len(TEXT.encode("utf-8"))]
    assert "o200k_base" in shown


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_number_alone_for_scripts(encoding):
    result = count("--quiet", "--encoding", encoding, given=TEXT.encode("utf-8"))
    assert result.stdout == f"{count_tokens(TEXT, encoding)}\n"


def test_every_encoding_at_once():
    result = count("-q", "--encoding", "all", "-", given=TEXT.encode("utf-8"))
    assert [int(line) for line in result.stdout.splitlines()] == [
        count_tokens(TEXT, name) for name in ENCODINGS
    ]


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_read_and_not_counted(codec):
    assert count("-q", given=TEXT.encode(codec)).stdout == f"{count_tokens(TEXT)}\n"


def test_zero_bytes_without_a_mark_are_characters():
    zeros = "\0" * 1_000
    assert count("-q", given=zeros.encode("utf-8")).stdout == f"{count_tokens(zeros)}\n"


def test_no_text_is_no_tokens():
    result = count(given=b"")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["0"] * 4


@pytest.mark.parametrize("command", ["count", "audit"])
@pytest.mark.parametrize(
    ("file", "given", "says"),
    [
        ("-", b"caf\xe9 au lait", "is not UTF-8 text"),
        ("-", b"\xff\xfea", "is not UTF-16 text"),
        ("-", b"\x80", "is not UTF-8 text"),
        ("no.txt", b"", "no.txt does not exist: check the path"),
        (".", b"", "is a folder: give one file inside it"),
        ("", b"", "there is no file with an empty name"),
        ("a\0b\x1b", b"", "a\\x00b\\x1b is not a path"),
    ],
)
def test_a_mistake_is_one_clear_line(command, file, given, says):
    result = CliRunner().invoke(cli, [command, file], input=given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr and result.stderr.count("\n") == 1


def test_an_unknown_encoding_is_told_the_known_ones():
    wrong = count("--encoding", "gpt-4", given=b"x")
    assert wrong.exit_code == 2
    assert "o200k_base, cl100k_base, qwen3.5, all" in wrong.stderr


def test_the_command_counts_a_pipe():
    run = [sys.executable, "-m", "toolresults", "count", "-q"]
    result = subprocess.run(run, input=TEXT.encode("utf-8"), capture_output=True)
    assert (result.returncode, result.stdout.split(), result.stderr) == (
        0,
        [str(count_tokens(TEXT)).encode()],
        b"",
    )


def test_help_imports_nothing_heavy():
    code = """if True:
        import sys
        from click.testing import CliRunner
        from toolresults.cli import cli
        for command in ([], ["count"], ["audit"]):
            CliRunner().invoke(cli, [*command, "--help"], catch_exceptions=False)
        heavy = {"toktok", "tiktoken", "duckdb", "pydantic", "rich", "pandas", "matplotlib"}
        print(heavy & set(sys.modules))
    """
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert result.stdout.strip() == "set()"
