"""`workbook call TOOL '{json}'`: what a model would see, with cursors that last from one call on
the command line to the next.

The key that signs them comes from the environment (`TOOLRESULTS_KEY`), else from a file that only
its owner can read, made at the first call.
"""

import json
import logging
import os
import re
import secrets
import stat
import sys
import tempfile
from pathlib import Path

import click
import platformdirs

from toolresults.cli import Fault

VARIABLE = "TOOLRESULTS_KEY"
FILE = "cursor.key"
_OTHERWISE = f"or set {VARIABLE} to a secret of your own"


@click.command()
@click.argument("tool", required=False)
@click.argument("arguments", default="{}", metavar="['{JSON}'|-]")
@click.option("--budget", default=25_000, help="Most tokens that the result may take.")
@click.option("--caller", default="me", metavar="NAME", help="Who calls; cursors are theirs alone.")
@click.option("--list", "show", is_flag=True, help="Print the tools' definitions, and their cost.")
@click.pass_context
def call(
    context: click.Context, tool: str | None, arguments: str, budget: int, caller: str, show: bool
) -> None:
    """Call a tool as a model would, and print what it would see.

    TOOL runs on the account of 10,000 orders, and what is printed is exactly the text that a
    model would get. The arguments are one JSON object; - reads them from standard input, which
    spares you the quoting on Windows. An error result is printed too, with exit code 1. Cursors
    are signed with TOOLRESULTS_KEY (several keys with commas between, oldest first), or with a
    key that is kept in your state folder.

    \b
    workbook call search_orders '{"status": "refunded", "limit": 5}'
    workbook call search_orders '{"response_format": "detailed"}' --budget 200
    """
    if show:
        _list()
        return
    if tool is None:
        raise click.UsageError("name a tool; --list shows them", context)
    if arguments == "-":
        arguments = _standard_input()
    result = _call(tool, arguments, budget, caller)
    click.echo(result.text.encode("utf-8") + b"\n", nl=False)
    if result.is_error:
        context.exit(1)


def _call(tool: str, arguments: str, budget: int, caller: str):
    from workbook.examples.orders.tools import LEAST_BUDGET, order_tools

    detailed = tool == "search_orders" and _wants_detail(arguments)
    least = LEAST_BUDGET["detailed" if detailed else "concise"]
    if budget < least:
        what = "detailed results need" if detailed else f"{tool} needs"
        raise Fault(f"{what} a budget of {least} tokens at least, got {budget}: raise --budget")
    # a tool that fails logs its traceback for the host's eyes
    if not os.environ.get("TOOLRESULTS_DEBUG"):
        logging.getLogger("toolresults").addHandler(logging.NullHandler())
    # a budget that only concise results fit offers only those
    formats = [name for name, tokens in LEAST_BUDGET.items() if budget >= tokens]
    keys = signing_keys()
    tools = order_tools(_account(), keys=keys, caller=caller, budget=budget, formats=formats)
    if tool in tools:
        return tools[tool].call(arguments)
    any_tool = next(iter(tools.values()))
    return any_tool.error(f'There is no tool "{tool}". Use one of: {", ".join(tools)}.')


def _account():
    import duckdb

    from workbook.examples.orders.store import OrderStore

    try:
        return OrderStore.open()
    except (OSError, duckdb.Error) as error:
        reason = f"the orders cannot be loaded ({str(error).splitlines()[0]})"
        raise Fault(f"{reason}: get a whole copy of the project") from None


def _wants_detail(arguments: str) -> bool:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return False  # the tool says so, to the model
    return isinstance(given, dict) and given.get("response_format") == "detailed"


def _standard_input() -> str:
    if sys.stdin is None:
        instead = "give the arguments on the command line, or pipe them in"
        raise Fault(f"standard input is closed: {instead}")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"standard input is not UTF-8 text (byte {error.start:,})"
        raise Fault(f"{where}: give the arguments as UTF-8") from None


def _list() -> None:
    from toolresults.agent.anthropic import ANTHROPIC
    from toolresults.agent.openai_chat import OPENAI_CHAT
    from toolresults.tokens import count_tokens, to_json
    from workbook.examples.orders.store import OrderStore
    from workbook.examples.orders.tools import order_tools

    tools = order_tools(OrderStore(), keys=["no cursor is signed here"], caller="me").values()
    costs, texts = [], []
    apis = {OPENAI_CHAT: "OpenAI (Chat Completions)", ANTHROPIC: "Anthropic (Messages)"}
    for api, title in apis.items():
        definitions = {tool.name: api.definition(tool) for tool in tools}
        whole = list(definitions.values())
        for name, value in {**definitions, "all of them, as one list": whole}.items():
            costs.append(f"{count_tokens(to_json(value)):>7,}  {title}: {name}")
        texts += ["", f"{title}:", json.dumps(whole, indent=2, ensure_ascii=False)]
    head = "Tokens that the definitions add to every request (o200k_base, compact JSON):"
    click.echo("\n".join([head, "", *costs, *texts]).encode("utf-8"))


def signing_keys(folder: Path | None = None) -> list[bytes]:
    """The keys, oldest first: the last one signs, all are accepted.

    `TOOLRESULTS_KEY` may hold several, with commas between: append the new one, and drop the old
    one when its cursors have expired. `folder` is where the file is, the user's state folder unless
    given. Raises `Fault`.
    """
    given = os.environ.get(VARIABLE)
    if given is not None:
        keys = [os.fsencode(key.strip()) for key in given.split(",") if key.strip()]
        if not keys:
            raise Fault(f"{VARIABLE} holds no key: set it to a secret, or unset it")
        return keys
    path = (folder or platformdirs.user_state_path("toolresults", appauthor=False)) / FILE
    try:
        if not os.path.lexists(path):
            _create(path)
        return [_read(path)]
    except OSError as error:
        reason = f"no signing key can be kept in {path} ({error.strerror or type(error).__name__})"
        raise Fault(f"{reason}: delete it and make its folder writable, {_OTHERWISE}") from None


def _read(path: Path) -> bytes:
    # without O_NOFOLLOW a link in a shared folder could make us trust somebody else's file
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, os.O_RDONLY | careful), "rb") as file:
        about = os.fstat(file.fileno())
        text = file.read(200).strip()
    if hasattr(os, "getuid"):  # Windows keeps the profile folder to its owner by other means
        if about.st_uid != os.getuid():
            owner = f"the signing key {path} belongs to another user"
            raise Fault(f"{owner}: remove it, {_OTHERWISE}")
        if stat.S_IMODE(about.st_mode) & 0o077:
            others = f"others can use the signing key {path}"
            raise Fault(f"{others}: delete it, and a new one is made ({_OTHERWISE})")
    if not re.fullmatch(rb"[0-9a-f]{64}", text):
        raise Fault(f"the signing key {path} is damaged: delete it, and a new one is made")
    return text


def _create(path: Path) -> None:
    """Write a new key, unless another first call has just done so. The file appears whole, or not
    at all.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)  # it may have been there, with a wider mode
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".key-")  # mode 0600
    try:
        with open(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32) + "\n")
            file.flush()
            os.fsync(handle)
        # Both refuse to replace a file that is there: the first call wins, and the second reads its
        # key.
        (os.rename if sys.platform == "win32" else os.link)(temporary, path)
    except FileExistsError:
        pass
    finally:
        Path(temporary).unlink(missing_ok=True)
