"""The definitions that make a surface of five functions one of five hundred."""

import inspect
from typing import get_type_hints

import pytest

from apis import ANTHROPIC, APIS, OPENAI_CHAT
from makers import maker
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.stubs import pyi
from toolresults.tokens import to_json
from toolresults.tools import Tool, ToolError
from workbook.examples.crm.access import SCOPES, Caller
from workbook.examples.crm.definitions import DefinitionOnly, definitions, first_thirty
from workbook.examples.crm.functions import company_functions
from workbook.examples.crm.store import CrmStore
from workbook.paths import data_path

MOST = 504
COMPANY = maker("company")
SMALL = {"acme": COMPANY.Volume(2, 2, 4, 2, 20, 2, 2, (1,))}


@pytest.fixture(scope="module")
def company():
    with CrmStore(COMPANY.generate(volumes=SMALL)) as store:
        yield lambda n: company_functions(
            n, store, Caller("mai.tran", "acme", SCOPES), keys=["key"]
        )


def test_every_definition_has_a_path_a_sentence_and_a_typed_signature():
    made = definitions(MOST)
    assert len(made) == MOST and not set(made) & set(first_thirty())
    for path, function in made.items():
        namespace, _, name = path.partition(".")
        assert namespace.isidentifier() and name.isidentifier() and function.__name__ == name
        assert function.definition_only and "," in function.search_words
        assert function.__doc__.endswith(".") and len(function.__doc__.split()) > 2
        hints = get_type_hints(function, include_extras=True)
        assert list(hints) == [*inspect.signature(function).parameters, "return"]
        tool = Tool(function)
        assert to_json(OPENAI_CHAT.definition(tool)) and to_json(ANTHROPIC.definition(tool))


def test_the_generator_makes_the_committed_definitions_again():
    catalogue = maker("catalogue")
    text = data_path("company_catalogue.json").read_text(encoding="utf-8")
    assert catalogue.as_text(catalogue.make_catalogue()) == text


def test_sentences_are_told_apart_by_their_words():
    sentences = [function.__doc__ for function in definitions(MOST).values()]
    assert len(set(sentences)) > MOST - 5  # two systems each have audiences, and the like


def test_a_definition_reads_as_a_function_that_a_company_might_have():
    made = definitions(MOST)
    send = made["billing.send_invoice"]
    assert send.__doc__ == "Sends an invoice to the customer by e-mail."
    assert list(inspect.signature(send).parameters) == ["invoice_id", "comment"]
    schema = Tool(made["billing.create_invoice"]).schema()
    assert schema["properties"]["status"]["enum"] == ["draft", "sent", "paid", "void"]
    assert schema["properties"]["due_on"] == {"format": "date", "type": "string"}
    assert schema["required"] == ["status", "customer_id", "amount", "due_on"]
    assert made["recruiting.close_vacancy"].__doc__ == "Closes a vacancy after a hire."
    assert "recruiting.list_vacancies" in made and "recruiting.list_agencies" in made
    stubs = pyi([HostFunction(made["billing.list_invoices"], "billing")])
    for field in ("note: NotRequired[str]", "items: list[Invoice]", "amount: float", "due_on: str"):
        assert f"    {field}\n" in stubs


def test_a_definitions_arguments_are_read_as_a_model_sends_them():
    given = {"status": "paid", "customer_id": "cus_1", "amount": "12.50", "due_on": "2026-07-01"}
    tool = Tool(definitions(MOST)["billing.create_invoice"])
    assert "definition only" in tool.call(given).text
    assert "number" in tool.call({**given, "amount": "much"}).text
    assert "ISO 8601" in tool.call({**given, "due_on": "soon"}).text


def test_search_words_are_of_verb_and_object_and_cost_nothing(company):
    made = company(MOST)
    assert "pay back" in made["billing.refund_payment"].search_words
    assert "money received" in made["billing.refund_payment"].search_words
    assert "money received" in made["billing.list_payments"].search_words
    assert "time off" in made["hr.request_leave"].search_words
    for path, function in made.items():
        assert 5 <= function.search_words.count(",") + 1 <= 12, path
        for api in APIS:
            assert function.search_words not in to_json(api.definition(Tool(function)))
    assert "time off" not in to_json(OPENAI_CHAT.definition(Tool(made["hr.request_leave"])))


def test_calling_one_says_that_nothing_is_behind_it():
    send = definitions(7)["billing.send_invoice"]
    with pytest.raises(DefinitionOnly, match="billing.send_invoice is a definition only") as error:
        send(invoice_id="inv_1")
    assert isinstance(error.value, ToolError)
    assert "definition only" in Tool(send).call({"invoice_id": "inv_1"}).text
    assert "missing" in Tool(send).call({}).text


def test_the_same_ones_come_first_every_time_and_no_more_than_there_are():
    assert list(definitions(70)) == list(definitions(MOST))[:70]
    assert len({path.partition(".")[0] for path in definitions(84)}) == 12
    for n in (-1, MOST + 1):
        with pytest.raises(ValueError, match="there are 504"):
            definitions(n)


@pytest.mark.parametrize("n", [0, 5, 30, 31, 500, MOST + 30])
def test_the_real_functions_come_first(company, n):
    functions = company(n)
    assert len(functions) == n
    assert list(functions)[:30] == list(first_thirty())[:n]
    real = [path for path, made in functions.items() if not hasattr(made, "definition_only")]
    assert real == [path for path, made in first_thirty().items() if made is None][: len(real)]
    assert len(real) == {0: 0, 5: 3}.get(n, 9)


def test_five_functions_are_enough_for_the_weeks_question(company):
    functions = company(5)
    late = functions["crm.list_tasks"](team="sales", overdue=True)["items"]
    assert late and all(
        functions["crm.add_note"](task["task_id"], "Call today")["note_id"] for task in late
    )
