"""What happens to a call before, while and after its tool runs."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from agentui.chat.messages import ToolCall
from agentui.errors import BadRequest
from agentui.jsonio import Json, dumps_text
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.redaction import Redactor
from agentui.tools.arguments import MAX_ARGUMENTS
from agentui.tools.catalog import Catalog
from agentui.tools.execution import Execution
from agentui.tools.executor import MAX_RESULT, Executor, Surroundings
from agentui.tools.permissions import CallBudget, Permissions
from agentui.tools.tool import CallPlace, HostedTool, ToolAnswer, ToolCallContext

PLACE = CallPlace(DEFAULT_PRINCIPAL, "run_1")
ON = Permissions(enabled=True)


async def _echo(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
    return ToolAnswer(dumps_text(dict(arguments)), dict(arguments))


ECHO = HostedTool(
    "echo",
    "Says it again.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False},
    _echo,
    "test",
)


class Listener:
    """Remembers what it hears."""

    def __init__(self) -> None:
        self.opened: list[Execution] = []
        self.closed: list[Execution] = []

    async def started(self, execution: Execution) -> None:
        self.opened.append(execution)

    async def finished(self, execution: Execution) -> None:
        self.closed.append(execution)


async def test_a_call_is_executed_and_recorded() -> None:
    heard = Listener()
    executor = Executor(Catalog.of([ECHO]), ON, PLACE, Surroundings(listeners=[heard]))
    result = await executor.execute(ToolCall("call_1", "echo", '{"text": "hi"}'), step=2)
    assert (result.call_id, result.name, result.text, result.is_error) == ("call_1", "echo", '{"text":"hi"}', False)
    (opened,), (closed,) = heard.opened, heard.closed
    assert (opened.id, opened.status, opened.lifecycle_state) == (closed.id, "running", "opened")
    assert (closed.status, closed.lifecycle_state, closed.commit_outcome) == ("success", "finished", "pending")
    assert (closed.arguments, closed.result, closed.step, closed.call_id) == ({"text": "hi"}, {"text": "hi"}, 2, "call_1")
    assert closed.finished_at is not None and closed.finished_at >= closed.started_at and closed.duration_ms is not None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ('{"text": 1}', "/text"),
        ("{}", "'text' is a required property"),
        ('{"text": "", "more": 1}', "'more'"),
        ('{"text": "' + "x" * 10 * MAX_ARGUMENTS + '"}', f"longer than {MAX_ARGUMENTS} bytes"),
        ('{"text": ' + "[" * 5000, "no JSON"),
    ],
)
async def test_arguments_that_do_not_fit_never_reach_the_tool(arguments: str, told: str) -> None:
    heard = Listener()
    result = await Executor(Catalog.of([ECHO]), ON, PLACE, Surroundings(listeners=[heard])).execute(
        ToolCall("1", "echo", arguments)
    )
    assert result.is_error and told in result.text and len(result.text) < 1000
    assert heard.opened == [] and [(one.status, one.error_message) for one in heard.closed] == [("error", result.text)]


async def test_a_tool_that_is_not_there_is_an_error_that_is_recorded() -> None:
    heard = Listener()
    result = await Executor(Catalog.of([]), ON, PLACE, Surroundings(listeners=[heard])).execute(ToolCall("1", "no" * 5000))
    assert result.is_error and [(one.error_code, one.provider_type) for one in heard.closed] == [("unknown_tool", "unknown")]
    assert len(heard.closed[0].tool_name) == 200


@pytest.mark.parametrize(
    ("permissions", "tool"),
    [
        (Permissions(), ECHO),
        (ON, replace(ECHO, side_effect="irreversible")),
        (ON, replace(ECHO, slots=frozenset({"memory"}))),
        (replace(ON, slot_allow_list={"narrator": frozenset({"other"})}), ECHO),
        (replace(ON, slot_allow_list={"narrator": frozenset({"*"})}, slot_deny_list={"narrator": frozenset({"echo"})}), ECHO),
        (replace(ON, slot_deny_list={"narrator": frozenset({"*"})}), ECHO),
        (replace(ON, slot_deny_list={"narrator": frozenset({f"group:{ECHO.group}"})}), ECHO),
        (replace(ON, slot_allow_list={"narrator": frozenset({"group:other", "mcp:server"})}), ECHO),
        (replace(ON, slot_allow_list={"narrator": frozenset()}), replace(ECHO, group="vars_reading")),
        (replace(ON, slot_deny_list={"narrator": frozenset({"group:vars_reading"})}), replace(ECHO, group="vars_reading")),
    ],
)
async def test_what_is_not_permitted_is_neither_offered_nor_run(permissions: Permissions, tool: HostedTool) -> None:
    heard = Listener()
    executor = Executor(Catalog.of([tool]), permissions, PLACE, Surroundings(listeners=[heard]))
    assert list(executor.offered()) == []
    result = await executor.execute(ToolCall("1", "echo", '{"text": "hi"}'))
    assert result.is_error and heard.opened == [] and [one.status for one in heard.closed] == ["denied"]


@pytest.mark.parametrize(
    ("listed", "tool"),
    [
        ("echo", ECHO),
        (f"group:{ECHO.group}", ECHO),
        ("other", replace(ECHO, group="vars_reading")),
        ("mcp:files", replace(ECHO, provider_type="mcp", provider_id="server-1", group="mcp:files")),
        ("mcp:server-1", replace(ECHO, provider_type="mcp", provider_id="server-1", group="mcp:files")),
    ],
)
async def test_lists_name_tools_as_nodes_do_and_leave_what_reads_variables(listed: str, tool: HostedTool) -> None:
    permissions = replace(ON, slot_allow_list={"narrator": frozenset({listed})})
    executor = Executor(Catalog.of([tool]), permissions, PLACE)
    assert [one.name for one in executor.offered()] == ["echo"]
    assert not (await executor.execute(ToolCall("1", "echo", '{"text": "hi"}'))).is_error


async def test_ten_thousand_calls_run_as_often_as_is_allowed_and_leave_one_record_of_the_rest() -> None:
    heard, budget = Listener(), CallBudget(20)
    executor = Executor(Catalog.of([ECHO]), ON, PLACE, Surroundings(listeners=[heard]), budget)
    results = await executor.execute_all([ToolCall(str(number), "echo", '{"text": ""}') for number in range(10_000)])
    assert [result.call_id for result in results] == [str(number) for number in range(10_000)]
    assert len(heard.opened) == 20 and [one.status for one in heard.closed].count("blocked") == 1 and len(heard.closed) == 21
    other = Executor(Catalog.of([ECHO]), ON, PLACE, Surroundings(), budget)
    assert (await other.execute(ToolCall("1", "echo", '{"text": ""}'))).is_error


async def test_calls_of_one_answer_run_side_by_side() -> None:
    both = asyncio.Barrier(2)

    async def meet(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        await both.wait()
        return ToolAnswer("met")

    catalog = Catalog.of([HostedTool("meet", "", {"type": "object"}, meet, "test")])
    results = await Executor(catalog, ON, PLACE).execute_all([ToolCall("1", "meet"), ToolCall("2", "meet")])
    assert [result.text for result in results] == ["met", "met"]


async def test_a_tool_that_fails_is_told_without_what_it_said_of_itself() -> None:
    async def fail(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        raise RuntimeError("the password is 1234")

    async def refuse(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        raise BadRequest("There is no such page.")

    async def hang(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    heard = Listener()
    tools = [HostedTool(work.__name__, "", {"type": "object"}, work, "test", timeout=0.01) for work in (fail, refuse, hang)]
    executor = Executor(Catalog.of(tools), ON, PLACE, Surroundings(listeners=[heard]))
    told = [await executor.execute(ToolCall("1", name)) for name in ("fail", "refuse", "hang")]
    assert all(result.is_error for result in told)
    assert [result.text for result in told] == [
        "Error: The tool failed.",
        "Error: There is no such page.",
        "Error: The tool did not answer within 0.01 seconds.",
    ]
    assert [one.status for one in heard.closed] == ["error", "error", "timeout"]


async def test_a_result_that_is_too_long_is_cut_and_the_model_told() -> None:
    async def flood(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        return ToolAnswer("x" * 5 * MAX_RESULT)

    heard = Listener()
    catalog = Catalog.of([HostedTool("flood", "", {"type": "object"}, flood, "test")])
    result = await Executor(catalog, ON, PLACE, Surroundings(listeners=[heard])).execute(ToolCall("1", "flood"))
    assert len(result.text) < MAX_RESULT + 200 and result.text.endswith("Ask for less.]") and heard.closed[0].is_truncated


async def test_secrets_are_in_no_record_and_no_result() -> None:
    def redact(value: Json) -> Json:
        return value.replace("sk-secret", "***") if isinstance(value, str) else {k: redact(v) for k, v in value.items()}

    heard = Listener()
    around = Surroundings(listeners=[heard], redact=lambda value: None if value is None else redact(value))
    result = await Executor(Catalog.of([ECHO]), ON, PLACE, around).execute(ToolCall("1", "echo", '{"text": "sk-secret"}'))
    assert "sk-secret" not in result.text and "sk-secret" not in repr(heard.closed) + repr(heard.opened)


async def test_what_is_kept_for_later_calls_holds_no_secret() -> None:
    kept: list[Json] = []

    class Keeper:
        def keep(
            self, tool: HostedTool, execution: Execution, arguments: Mapping[str, Json], answer: ToolAnswer
        ) -> tuple[ToolAnswer, bool]:
            kept.extend([dict(arguments), answer.text, answer.value])
            return ToolAnswer("a part", answer.value), True

    heard, known = Listener(), Redactor()
    known.register("sk-secret")
    around = Surroundings(keeper=Keeper(), listeners=[heard], redact=known.redact_json)
    result = await Executor(Catalog.of([ECHO]), ON, PLACE, around).execute(ToolCall("1", "echo", '{"text": "sk-secret"}'))
    assert "sk-secret" not in repr(kept) and len(kept) == 3
    assert result.text == "a part" and heard.closed[0].is_truncated


async def test_a_record_holds_no_more_than_the_model_is_told() -> None:
    async def flood(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        return ToolAnswer("many", ["x" * 1000] * 5000)

    async def plain(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        return ToolAnswer("x" * 5 * MAX_RESULT, "x" * 5 * MAX_RESULT)

    heard = Listener()
    tools = [HostedTool(work.__name__, "", {"type": "object"}, work, "test") for work in (flood, plain)]
    executor = Executor(Catalog.of(tools), ON, PLACE, Surroundings(listeners=[heard]))
    for tool in tools:
        await executor.execute(ToolCall("1", tool.name))
    assert [one.result for one in heard.closed] == ["many", "x" * MAX_RESULT]


async def test_calls_that_cannot_be_made_are_not_looked_at_for_ever() -> None:
    heard = Listener()
    executor = Executor(Catalog.of([ECHO]), ON, PLACE, Surroundings(listeners=[heard]))
    await executor.execute_all([ToolCall(str(number), "none") for number in range(10_000)])
    assert [one.error_code for one in heard.closed].count("unknown_tool") == 120 and len(heard.closed) == 121


async def test_no_call_goes_on_once_another_has_ended_the_run() -> None:
    ended: list[str] = []
    begun = asyncio.Event()

    async def slow(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("slow")
        raise AssertionError

    class Full(Listener):
        async def started(self, execution: Execution) -> None:
            if execution.tool_name == "echo":
                await begun.wait()
                raise BadRequest("The store is full.")

    catalog = Catalog.of([ECHO, HostedTool("slow", "", {"type": "object"}, slow, "test")])
    with pytest.raises(BadRequest):
        await Executor(catalog, ON, PLACE, Surroundings(listeners=[Full()])).execute_all(
            [ToolCall("1", "slow"), ToolCall("2", "echo", '{"text": ""}')]
        )
    assert ended == ["slow"]


async def test_references_are_resolved_before_the_schema_and_the_permission_are_asked() -> None:
    async def resolve(arguments: dict[str, Json]) -> dict[str, Json]:
        if arguments["text"] == "gone":
            raise BadRequest("Variable 'gone' not found")
        return {"text": arguments["text"] * 2}

    executor = Executor(Catalog.of([ECHO]), ON, PLACE, Surroundings(resolve=resolve))
    assert (await executor.execute(ToolCall("1", "echo", '{"text": "a"}'))).text == '{"text":"aa"}'
    assert (await executor.execute(ToolCall("1", "echo", '{"text": "gone"}'))).text == "Error: Variable 'gone' not found"
    too_large = await executor.execute(ToolCall("1", "echo", dumps_text({"text": "x" * (MAX_ARGUMENTS - 100)})))
    assert "Use slices" in too_large.text
