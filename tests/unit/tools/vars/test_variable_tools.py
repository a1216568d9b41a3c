"""ReadVar, ListVars, WriteVar and RemoveVars, and what is kept of the calls of other tools."""

import asyncio
import time
from collections.abc import Mapping

import pytest

from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.tools.execution import Execution
from agentui.tools.tool import CallPlace, HostedTool, ToolAnswer, ToolCallContext
from agentui.tools.vars.errors import NoSuchVariable, RuleIsFixed
from agentui.tools.vars.kept import MAX_SHOWN, CallKeeper, arguments_name, result_name
from agentui.tools.vars.references import References
from agentui.tools.vars.system import VariableSystem
from agentui.tools.vars.tools import variable_tools
from tests.unit.tools.vars.clocks import system


def call(vars: VariableSystem, tool: str, **arguments: Json) -> ToolAnswer:
    """A model's call: its references resolved, then run."""
    found = {item.name: item for item in variable_tools(vars)}[tool]
    context = ToolCallContext("exec_1", CallPlace("run_1"), time.perf_counter() + 5)

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
    execution = Execution(id, CallPlace("run_1"), tool.name, "call_1", 1, arguments, 0)
    return CallKeeper(vars).keep(tool, execution, arguments, answer)


def test_arguments_and_results_of_calls_are_kept() -> None:
    vars = system()
    answer = ToolAnswer("short")
    assert keep(vars, TOOL, "c1", {"url": "x"}, answer) is answer
    kept = {variable.name: (variable.type, variable.value) for variable in vars.listed()}
    assert kept == {"fetch_c1_args": ("ToolCallArgs", '{"url":"x"}'), "fetch_c1_result": ("ToolCallResult", "short")}


def test_a_long_result_is_cut_with_a_hint_that_reads_the_rest() -> None:
    vars = system()
    text = "é" * (MAX_SHOWN + 5)
    answer = keep(vars, TOOL, "c1", {}, ToolAnswer(text))
    assert answer.text.startswith("é" * MAX_SHOWN + "\n")
    assert f'ReadVar({{"name": "fetch_c1_result", "start": {MAX_SHOWN}}})' in answer.text
    assert "$VAR_REF{{fetch_c1_result}}" in answer.text
    assert call(vars, "ReadVar", name="fetch_c1_result", start=MAX_SHOWN).text == "é" * 5


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
    keep(vars, tool, "call:{1}", {}, ToolAnswer("\0 \ud800"))
    for variable in (result_name(name, "call:{1}"), arguments_name(name, "call:{1}")):
        assert References(vars).resolve(f"$VAR_REF{{{{{variable}}}}}") != f"$VAR_REF{{{{{variable}}}}}"


def test_only_reading_is_always_there() -> None:
    groups = {tool.name: tool.group for tool in variable_tools(system())}
    assert groups == {"ReadVar": "vars_reading", "ListVars": "vars_reading", "WriteVar": "vars", "RemoveVars": "vars"}
    assert issubclass(NoSuchVariable, AgentUIError)
