"""`workbook call TOOL '{json}'`: what a model would see."""

import json
import logging
import os
import sys

import click

from toolresults.cli import Fault


@click.command()
@click.argument("tool", required=False)
@click.argument("arguments", default="{}", metavar="['{JSON}'|-]")
@click.option(
    "--budget",
    type=int,
    default=25_000,
    show_default=True,
    help="Most tokens that the result may take.",
)
@click.option(
    "--caller",
    default="me",
    show_default=True,
    metavar="NAME",
    help="Who calls; a cursor is good for its caller alone.",
)
@click.option(
    "--list",
    "show",
    is_flag=True,
    help="Print the tools' definitions, and what they cost in tokens.",
)
@click.pass_context
def call(
    context: click.Context, tool: str | None, arguments: str, budget: int, caller: str, show: bool
) -> None:
    """Run TOOL as a model would, on the account of 10,000 orders, and print exactly the text that
    the model would see.

    The arguments are one JSON object; - reads them from standard input, which spares you the
    quoting on Windows. An error result is printed too, with exit code 1. Cursors are signed with
    TOOLRESULTS_KEY (several keys with commas between, oldest first), or with a key that is kept in
    your state folder.

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
    from toolresults.results.budget import BudgetError
    from workbook.commands.state import signing_keys
    from workbook.examples.orders.tools import LEAST_BUDGET, order_tools

    least = LEAST_BUDGET["concise"]
    if tool == "get_order_payload" and budget < least:
        raise Fault(
            f"{tool} needs a budget of {least} tokens at least, got {budget}: raise --budget"
        )
    least = LEAST_BUDGET["detailed"]
    if (
        tool == "search_orders"
        and LEAST_BUDGET["concise"] <= budget < least
        and _wants_detail(arguments)
    ):
        raise Fault(
            f"detailed results need a budget of {least} tokens at least, got {budget}: raise --budget"
        )
    keys = signing_keys()
    if not os.environ.get(
        "TOOLRESULTS_DEBUG"
    ):  # a tool that fails logs its traceback for the host's eyes
        logging.getLogger("toolresults").addHandler(logging.NullHandler())
    # a budget that only concise results fit offers only those; none at all is refused by
    # `order_tools`
    formats = [name for name, tokens in LEAST_BUDGET.items() if budget >= tokens] or list(
        LEAST_BUDGET
    )
    try:
        tools = order_tools(_account(), keys=keys, caller=caller, budget=budget, formats=formats)
        if tool in tools:
            return tools[tool].call(arguments)
        return next(iter(tools.values())).error(
            f'There is no tool "{tool}". Use one of: {", ".join(tools)}.'
        )
    except BudgetError as error:
        raise Fault(f"{error}: raise --budget") from None


def _account():
    import duckdb

    from workbook.examples.orders.store import OrderStore

    try:
        return OrderStore.open()
    except (OSError, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        raise Fault(
            f"the orders cannot be loaded ({reason}): get a whole copy of the project"
        ) from None


def _wants_detail(arguments: str) -> bool:
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        return False  # the tool says so, to the model
    return isinstance(given, dict) and given.get("response_format") == "detailed"


def _standard_input() -> str:
    if sys.stdin is None:
        raise Fault(
            "standard input is closed: give the arguments on the command line, or pipe them in"
        )
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Fault(
            f"standard input is not UTF-8 text (byte {error.start:,}): give the arguments as UTF-8"
        ) from None


def _list() -> None:
    from toolresults.tokens import count_tokens, to_json
    from workbook.examples.orders.store import OrderStore
    from workbook.examples.orders.tools import order_tools

    tools = order_tools(OrderStore(), keys=["no cursor is signed here"], caller="me").values()
    apis = {"openai": "OpenAI (Chat Completions)", "anthropic": "Anthropic (Messages)"}
    definitions = {api: [tool.definition(api) for tool in tools] for api in apis}
    lines = ["Tokens that the definitions add to every request (o200k_base, compact JSON):", ""]
    for api, title in apis.items():
        for tool, definition in zip(tools, definitions[api], strict=True):
            lines.append(f"{count_tokens(to_json(definition)):>7,}  {title}: {tool.name}")
        lines.append(
            f"{count_tokens(to_json(definitions[api])):>7,}  {title}: all of them, as one list"
        )
    for api, title in apis.items():
        lines += ["", f"{title}:", json.dumps(definitions[api], indent=2, ensure_ascii=False)]
    click.echo("\n".join(lines).encode("utf-8"))
