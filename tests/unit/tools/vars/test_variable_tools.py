"""ReadVar, ListVars, WriteVar and RemoveVars, and what is kept of the calls of other tools."""

import asyncio
import re
import time
from collections.abc import Mapping

import pytest

from agentui.errors import AgentUIError
from agentui.jsonio import Json, loads
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.tools.execution import Execution
from agentui.tools.tool import CallPlace, HostedTool, ToolAnswer, ToolCallContext
from agentui.tools.vars.errors import NoSuchVariable, RuleIsFixed
from agentui.tools.vars.kept import MAX_SHOWN, CallKeeper
from agentui.tools.vars.references import References
from agentui.tools.vars.system import VariableSystem
from agentui.tools.vars.tools import MAX_LISTED, MAX_LISTED_TEXT, MAX_READ, variable_tools
from tests.unit.tools.vars.clocks import system


def call(vars: VariableSystem, tool: str, **arguments: Json) -> ToolAnswer:
    """A model's call: its references resolved, then run."""
    found = {item.name: item for item in variable_tools(vars)}[tool]
    context = ToolCallContext("exec_1", CallPlace(DEFAULT_PRINCIPAL, "run_1"), time.perf_counter() + 5)

    async def run() -> ToolAnswer:
        return await found.handler(References(vars).resolve(arguments), context)

    return asyncio.run(run())


def test_a_variable_is_written_listed_read_and_removed() -> None:
    vars = system()
    assert call(vars, "WriteVar", name="plan", value="one two", desc="d", tags=["t"]).value == {
        "name": "plan",
        "action": "created",
        "length": 7,
    }
    assert call(vars, "ListVars", filter={"tag": "t"}).value == [
        {"name": "plan", "length": 7, "desc": "d", "type": "LLMAdd", "tags": ["t"]}
    ]
    assert call(vars, "ReadVar", name="plan", start=4, length=2).text == "tw"
    assert call(vars, "ReadVar", name="plan", start=4).text == "two"
    assert call(vars, "WriteVar", name="plan", desc="later").value["action"] == "updated"
    assert call(vars, "ReadVar", name="plan").text == "one two"
    assert call(vars, "RemoveVars", names=["plan", "other"]).value == {"removed": ["plan"], "failed": ["other"]}
    with pytest.raises(NoSuchVariable, match=r"^Variable 'plan' not found$"):
        call(vars, "ReadVar", name="plan")


def test_a_model_changes_no_rule() -> None:
    vars = system()
    vars.add("Rule/a/b", "be kind", "RULE", keep=True)
    for name in ("Rule/a/b", "Rule/a/new"):
        with pytest.raises(RuleIsFixed):
            call(vars, "WriteVar", name=name, value="be cruel")
    assert call(vars, "RemoveVars", names=["Rule/a/b"]).value["failed"] == ["Rule/a/b"]
    assert call(vars, "ReadVar", name="Rule/a/b").text == "be kind"


def test_what_a_model_copies_from_outside_stays_text() -> None:
    """A page that holds a reference, copied into the model's own variable, still reads nothing."""
    vars = system()
    vars.add("secret", "hunter2", "USER_ADD")
    vars.add("page_1_result", "$VAR_REF{{secret}}", "ToolCallResult")
    call(vars, "WriteVar", name="copy", value="$VAR_REF{{page_1_result}}")
    call(vars, "WriteVar", name="again", value={"a": ["$VAR_REF{{copy}}"]})
    assert References(vars).resolve(["$VAR_REF{{copy}}", "$VAR_REF{{again}}"]) == [
        "$VAR_REF{{secret}}",
        '{"a":["$VAR_REF{{secret}}"]}',
    ]


async def _nothing(_: Mapping[str, Json], __: ToolCallContext) -> ToolAnswer:
    return ToolAnswer("")


TOOL = HostedTool("fetch", "Fetch a page.", {}, _nothing, "web")


def keep(vars: VariableSystem, tool: HostedTool, id: str, arguments: Json, answer: ToolAnswer) -> ToolAnswer:
    """What the model is told of a call that was made."""
    execution = Execution(id, CallPlace(DEFAULT_PRINCIPAL, "run_1"), tool.name, "call_1", 1, arguments, 0)
    told, _ = CallKeeper(vars).keep(tool, execution, arguments, answer)
    return told


def name_in(answer: ToolAnswer) -> str:
    """The name of a result's variable, as the model is told of it."""
    found = re.search(r"variable (\S+):|\[Variable: (\S+)\]$", answer.text)
    assert found is not None
    return found[1] or found[2]


def test_arguments_and_results_of_calls_are_kept() -> None:
    vars = system()
    told = keep(vars, TOOL, "c1", {"url": "x"}, ToolAnswer("short", {"value": 1}))
    name = name_in(told)
    assert (told.text, told.value) == (f"short\n\n[Variable: {name}]", {"value": 1})
    assert re.fullmatch(r"fetch_[0-9a-f]{6}_result", name)
    kept = {variable.name: (variable.type, variable.value) for variable in vars.listed()}
    args = name.replace("_result", "_args")
    assert kept == {args: ("ToolCallArgs", '{"url":"x"}'), name: ("ToolCallResult", "short")}


def test_names_of_results_are_as_short_as_tells_them_apart_and_the_same_for_the_same_call() -> None:
    vars = system()
    ids = ["123456789abc-1", "123456789abc-2", "123456789abc-3", "123456789abc-4"]
    names = [name_in(keep(vars, TOOL, id, {}, ToolAnswer(id))) for id in ids]
    assert names[0] == name_in(keep(system(), TOOL, "another", {}, ToolAnswer("x")))
    assert names[1:] == ["fetch_123456_result", "fetch_123456789abc_result", "fetch_123456789abc-4_result"]
    assert [call(vars, "ReadVar", name=name).text for name in names if name != names[3]] == ids[:3]
    assert name_in(keep(vars, TOOL, "c9", {"url": "other"}, ToolAnswer("x"))) not in names


def test_a_long_variable_is_read_in_pieces_that_say_where_the_next_begins() -> None:
    vars = system()
    text = "".join(f"{number:07}\n" for number in range(12_500))
    vars.add("log", text, "LLMAdd")
    read, start = "", 0
    while True:
        answer = call(vars, "ReadVar", name="log", start=start)
        read += answer.text[: answer.value["length"]]
        assert len(answer.text) < MAX_READ + 200
        if "next_start" not in answer.value:
            break
        start = answer.value["next_start"]
        assert f'ReadVar({{"name":"log","start":{start}}})' in answer.text
    assert read == text
    assert len(call(vars, "ReadVar", name="log", length=10**6).text) < MAX_READ + 200
    assert call(vars, "ReadVar", name="log", length=8).text == "0000000\n"


def test_a_long_list_has_pages_that_say_where_the_next_begins() -> None:
    vars = system()
    for number in range(400):
        vars.add(f"note {number:03}", "x", "LLMAdd", "d" * (500 if number % 100 == 7 else 60), ["t"])
    names: list[str] = []
    asked: dict[str, Json] = {"filter": {"tag": "t"}}
    while True:
        answer = call(vars, "ListVars", **asked)
        assert len(answer.text) < MAX_LISTED_TEXT + 1000 and len(answer.value) <= MAX_LISTED
        names += [one["name"] for one in answer.value]
        *_, hint = answer.text.split("\n\n[")
        if not hint.startswith("Variables"):
            break
        asked = loads(hint[hint.index("(") + 1 : hint.rindex(")")])
    assert names == [f"note {number:03}" for number in range(400)]


def test_null_is_a_value_that_is_kept_as_its_json() -> None:
    vars = system()
    assert call(vars, "WriteVar", name="mood", value=None).value == {"name": "mood", "action": "created", "length": 4}
    assert call(vars, "ReadVar", name="mood").text == "null"
    vars.add("mood", "calm", "LLMAdd")
    call(vars, "WriteVar", name="mood", value=None)
    assert call(vars, "ReadVar", name="mood").text == "null"


def test_a_long_result_is_cut_with_a_hint_that_reads_the_rest() -> None:
    vars = system()
    text = "é" * (MAX_SHOWN + 5)
    answer = keep(vars, TOOL, "c1", {}, ToolAnswer(text))
    assert answer.text.startswith("é" * MAX_SHOWN + "\n")
    name = name_in(answer)
    assert f'ReadVar({{"name": "{name}", "start": {MAX_SHOWN}}})' in answer.text
    assert f"$VAR_REF{{{{{name}}}}}" in answer.text
    assert call(vars, "ReadVar", name=name, start=MAX_SHOWN).text == "é" * 5


def test_the_variables_own_tools_are_not_kept() -> None:
    assert not any(tool.is_cached for tool in variable_tools(system()))


def test_a_call_for_which_there_is_no_room_is_told_all_the_same() -> None:
    vars = system(total=10)
    vars.add("kept", "1234567890", "USER_ADD", keep=True)
    assert keep(vars, TOOL, "c1", {}, ToolAnswer("more")).text == "more"
    assert [variable.name for variable in vars.listed()] == ["kept"]


@pytest.mark.parametrize("name", ["x" * 500, "a{b}:c\n", "\0"])
def test_a_tool_of_any_name_has_its_variables(name: str) -> None:
    vars = system()
    tool = HostedTool(name, "", {}, _nothing, "web")
    for _ in range(2):
        keep(vars, tool, "call:{1}", {}, ToolAnswer("\0 \ud800"))
    assert len(vars.listed()) == 4
    for variable in (one.name for one in vars.listed()):
        assert References(vars).resolve(f"$VAR_REF{{{{{variable}}}}}") != f"$VAR_REF{{{{{variable}}}}}"


def test_only_reading_is_always_there() -> None:
    groups = {tool.name: tool.group for tool in variable_tools(system())}
    assert groups == {"ReadVar": "vars_reading", "ListVars": "vars_reading", "WriteVar": "vars", "RemoveVars": "vars"}
    assert issubclass(NoSuchVariable, AgentUIError)
