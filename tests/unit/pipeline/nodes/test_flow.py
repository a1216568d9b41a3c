"""If, Switch, Merge and Return decide what runs and who answers."""

import asyncio
from collections.abc import Mapping

import pytest

from agentui.errors import InvalidPipeline, NodeFailed, Returned
from agentui.jsonio import Json, loads
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.preview import preview_node
from tests.unit.pipeline.parts import Ear, execute, make_incoming, make_run
from tests.unit.pipeline.test_executor import calling, of, say
from tests.unit.pipeline.test_ports import choose, codes, planned, skipped


def asking(text: str) -> Json:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


def when(condition: str, id: str = "if") -> Json:
    return of("If", id, config={"condition": condition})


# --- If and Switch ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("question", "answer"), [("some code, please", "A"), ("hello", "B")])
async def test_if_goes_one_of_two_ways(question: str, answer: str) -> None:
    nodes = [when('chat.last_user contains "code"'), say("a", "A"), say("b", "B")]
    ear = Ear()
    run = await execute(planned(nodes, "if.then>a if.else>b"), make_incoming(asking(question)), ear)
    assert ear.texts == [answer]
    operands = [{"name": "chat.last_user", "value": question, "is_missing": False}]
    assert run.out["if"] == {"port": "then" if answer == "A" else "else", "result": answer == "A", "operands": operands}


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ('chat.last_usr contains "code"', "chat has no member 'last_usr': did you mean chat.last_user?"),
        ("params.heat > 1", "params has no member 'heat'; it has max_tokens, stop, temperature, top_p."),
        ("incoming.header['x'] is missing", "incoming has no member 'header': did you mean incoming.headers?"),
        ('modle == "x"', "Nothing sets 'modle' here: did you mean model?"),
        ("mod > 3", "Nothing sets 'mod' here: did you mean mood?"),
        # A name that is like no other may be a stored variable; deeper members are what a request has.
        ("gold > 3 and chat.messages[0].content is empty and incoming.json.user is missing and mood > 1", None),
    ],
)
async def test_a_name_in_a_condition_that_nothing_gives_is_a_problem(condition: str, told: str | None) -> None:
    variables = of("SetVars", "set", config={"variables": [{"name": "mood", "value": "1"}]})
    plan = planned([variables, when(condition), say("a"), say("b", "B")], "set>if if.then>a if.else>b")
    assert [(problem.code, problem.severity, problem.node) for problem in plan.warnings] == (
        [("condition.unknown_name", "warning", "if")] if told else []
    )
    assert told is None or told in plan.warnings[0].message


async def test_a_variable_that_hides_the_context_may_have_any_members() -> None:
    variables = of("SetVars", "set", config={"variables": [{"name": "chat", "value": '{"mood": 1}', "mode": "json"}]})
    plan = planned([variables, when("chat.mood == 1"), say("a"), say("b", "B")], "set>if if.then>a if.else>b")
    run = await execute(plan, ear=Ear())
    assert (run.out["if"]["result"], plan.warnings) == (True, ())


async def test_what_a_condition_compared_is_told_also_where_it_is_missing() -> None:
    plan = planned([when('chat.last_usr contains "code" or not gold'), say("a"), say("b", "B")], "if.then>a if.else>b")
    run = await execute(plan, ear=Ear())
    assert run.out["if"]["operands"] == [
        {"name": "chat.last_usr", "value": None, "is_missing": True},
        {"name": "gold", "value": None, "is_missing": True},
    ]


async def test_what_is_missing_is_no_error_in_a_condition() -> None:
    plan = planned([when("OUT.a.text == 'x' or nothing.at.all > 3"), say("a"), say("b", "B")], "a>if if.then>b if.else>b")
    ear = Ear()
    await execute(plan, ear=ear)
    assert (ear.texts, plan.warnings) == (["B"], ())


def test_a_broken_condition_is_a_problem_of_its_node() -> None:
    assert codes([when("chat.last_user contains"), say("a"), say("b")], "if.then>a if.else>b") == ["condition.syntax"]


SWITCH: Json = of(
    "Switch",
    "s",
    config={
        "value": "{{ chat.last_user }}",
        "cases": [
            {"name": "code", "equals": " Code "},
            {"name": "long", "condition": "len(chat.last_user) > 10"},
            {"name": "maths", "equals": "maths"},
        ],
    },
)


@pytest.mark.parametrize(
    ("question", "port", "index"),
    [("code\n", "code", 0), ("a long question", "long", 1), ("Maths", "maths", 2), ("else", "default", None)],
)
async def test_switch_takes_the_first_case_that_fits(question: str, port: str, index: int | None) -> None:
    ends = ["code", "long", "maths", "default"]
    plan = planned([SWITCH, *(say(end, end) for end in ends)], " ".join(f"s.{end}>{end}" for end in ends))
    ear = Ear()
    run = await execute(plan, make_incoming(asking(question)), ear)
    assert ear.texts == [port]
    # Only those conditions are told of that were asked.
    asked = [] if port == "code" else [{"name": "chat.last_user", "value": question, "is_missing": False}]
    assert run.out["s"] == {"port": port, "index": index, "value": question, "operands": asked}


@pytest.mark.parametrize(
    ("cases", "code"),
    [
        ([{"name": "a", "condition": "true"}, {"name": "a", "condition": "true"}], "switch.name"),
        ([{"name": "default", "condition": "true"}], "switch.name"),
        ([{"name": "error", "condition": "true"}], "switch.name"),
        ([{"name": "a", "equals": "x"}], "switch.case"),
    ],
)
def test_cases_that_mean_nothing_are_problems(cases: Json, code: str) -> None:
    assert codes([of("Switch", "s", config={"cases": cases})], "") == [code]


# --- Merge -----------------------------------------------------------------------------------------------------------

BRANCHES = [say("a", "one"), say("b", "three"), say("c", "two")]


async def test_merge_gives_all_branches_in_the_order_of_the_plan() -> None:
    ear = Ear()
    run = await execute(planned([*BRANCHES, of("Merge", "m", config={"separator": "+"})], "c>m b>m a>m"), ear=ear)
    assert ear.texts == ["one+three+two"]
    assert run.out["m"]["from"] == ["a", "b", "c"]
    assert run.out["m"]["all"] == [{"text": "one"}, {"text": "three"}, {"text": "two"}]


async def test_merge_chooses_the_best_and_the_first_of_equals() -> None:
    best = of("Merge", "m", config={"mode": "best", "score": "len(candidate.text)"})
    ear = Ear()
    run = await execute(planned([*BRANCHES, best], "c>m b>m a>m"), ear=ear)
    assert ear.texts == ["three"]
    assert run.out["m"]["scores"] == {"a": 3, "b": 5, "c": 3}
    equal = of("Merge", "m", config={"mode": "best", "score": "candidate.out.nothing"})
    run = await execute(planned([*BRANCHES, equal], "c>m b>m a>m"))
    assert (run.out["m"]["from"], run.out["m"]["scores"]["a"]) == ("a", None)


async def test_merge_takes_the_first_and_cancels_the_others() -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def race(ctx: NodeContext) -> Mapping[str, Json]:
        if ctx.node_id == "quick":
            await begun.wait()
            return {"text": "quick"}
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return {}

    nodes = [of("Call", "slow"), of("Call", "quick"), of("Merge", "m", config={"mode": "first"})]
    ear = Ear()
    run = await execute(planned(nodes, "slow>m quick>m", calling(race)), ear=ear)
    assert ear.texts == ["quick"]
    assert run.out["m"]["from"] == "quick"
    assert stopped.is_set()
    assert skipped(run) == {"slow": {"reason": "another branch was first"}}


@pytest.mark.parametrize("mode", ["first", "all", "best"])
async def test_branches_that_exclude_each_other_answer_in_place_of_their_merge(mode: str) -> None:
    merge = of("Merge", "m", config={"mode": mode, "score": "1"})
    nodes = [choose("c", "right"), say("a", "A"), say("b", "B"), merge]
    ear = Ear()
    run = await execute(planned(nodes, "c.left>a c.right>b a>m b>m"), ear=ear)
    assert (ear.texts, run.answered_by) == (["B"], "b")
    assert run.out["m"]["text"] == "B"


def refuses(id: str) -> Json:
    """A node that fails, from which the run goes on."""
    return of("Refuse", id, on_error="continue")


async def test_the_first_is_no_branch_that_failed_and_goes_on() -> None:
    nodes = [refuses("no"), say("before"), say("a", "A"), of("Merge", "m", config={"mode": "first"})]
    ear = Ear()
    run = await execute(planned(nodes, "no>m before>a a>m"), ear=ear)
    assert ear.texts == ["A"]
    assert run.out["m"]["from"] == "a"


@pytest.mark.parametrize("mode", ["first", "best"])
async def test_where_all_branches_failed_one_of_them_is_chosen(mode: str) -> None:
    merge = of("Merge", "m", config={"mode": mode, "score": "len(candidate.text)"})
    run = await execute(planned([refuses("no"), refuses("neither"), merge], "no>m neither>m"))
    assert run.out["m"]["out"]["error"]["code"] == "node_failed"


async def test_a_failure_is_taken_once_it_is_known_that_nothing_else_comes() -> None:
    nodes = [choose("c", "left"), refuses("no"), say("a", "A"), say("b"), of("Merge", "m", config={"mode": "first"})]
    run = await execute(planned([*nodes, say("end")], "no>m c.right>a a>m c.left>b b>end m>end"))
    assert run.out["m"]["from"] == "no"


async def test_the_best_is_no_branch_that_failed_and_goes_on() -> None:
    merge = of("Merge", "m", config={"mode": "best", "score": "-len(candidate.text)"})
    run = await execute(planned([refuses("no"), say("a", "A"), merge], "no>m a>m"))
    assert (run.out["m"]["from"], run.out["m"]["scores"]) == ("a", {"a": -1})


def test_the_best_needs_a_formula() -> None:
    assert codes([*BRANCHES, of("Merge", "m", config={"mode": "best"})], "a>m b>m c>m") == ["merge.score"]


# --- Return ----------------------------------------------------------------------------------------------------------


def returns(id: str = "r", **config: Json) -> Json:
    return of("Return", id, config=config)


async def test_return_ends_the_run_and_what_still_runs_is_cancelled() -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def hang(ctx: NodeContext) -> Mapping[str, Json]:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            stopped.set()
            raise NodeFailed("Could not clean up.") from error
        return {}

    async def wait(ctx: NodeContext) -> Mapping[str, Json]:
        await begun.wait()
        return {}

    hanging, waiting = calling(hang), calling(wait)
    waiting.type_name = "Wait1"
    nodes = [of("Wait1", "w"), returns(text="{{ chat.last_user }}!"), of("Call", "slow"), say("end", "never")]
    ear = Ear()
    run = await execute(planned(nodes, "w>r slow>end", hanging, waiting), ear=ear)
    assert ear.texts == ["Hi!"]
    assert stopped.is_set()
    assert (run.state, run.answered_by) == ("finished", "r")
    assert skipped(run)["end"] == {"reason": "the run has ended", "node": "r"}
    assert [event.type for event in run.events.items].count("run.finished") == 1


async def test_return_answers_with_json_and_with_what_another_node_said() -> None:
    ear = Ear()
    run = await execute(planned([returns(what="json", body='{"n": {{ chat.last_user }}}')], ""), ear=ear)
    assert loads(ear.texts[0]) == {"n": "Hi"}
    assert run.out["r"]["json"] == {"n": "Hi"}

    async def call_tools(ctx: NodeContext) -> Mapping[str, Json]:
        return {"response_text": "Calling.", "tool_calls": [{"id": "1", "name": "look", "arguments": {"at": "it"}}]}

    ear = Ear()
    await execute(planned([of("Call", "a"), returns(what="node", node="a")], "a>r", calling(call_tools)), ear=ear)
    [reply] = ear.replies
    assert (reply.text, reply.choices[0].finish, reply.choices[0].tool_calls[0].name) == ("Calling.", "tool_calls", "look")


async def test_return_with_a_status_of_an_error_fails_the_run_with_its_text() -> None:
    ear = Ear()
    with pytest.raises(Returned, match=r"^Not here\.$") as caught:
        await execute(planned([returns(text="Not here.", status=451)], ""), ear=ear)
    assert (caught.value.status, ear.texts) == (451, [])


@pytest.mark.parametrize("pins", [{}, {"r": {"text": "pinned"}}])
async def test_return_says_nothing_where_somebody_speaks_already(pins: Mapping[str, Json]) -> None:
    said = asyncio.Event()

    async def speak(ctx: NodeContext) -> Mapping[str, Json]:
        if ctx.sink is None:
            await said.wait()
            return {}
        await ctx.sink.tokens(1, estimated=True)
        said.set()
        return {"text": "I"}

    speaking = calling(speak)
    speaking.calls_upstream = True
    ear = Ear()
    plan = planned([of("Call", "a"), of("Call", "b"), returns(text="no")], "b>r", speaking)
    run = await execute(plan, ear=ear, pins=pins)
    assert (ear.texts, run.answered_by) == ([], "a")
    assert pins or any(event.type == "run.warning" for event in run.events.items)


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"headers": {"set-cookie": "a"}}, "return.header"),
        ({"headers": {"x-agentui-run": "a"}}, "return.header"),
        ({"status": 302}, "return.status"),
        ({"what": "node"}, "return.node"),
        ({"what": "node", "node": "nobody"}, "read.unknown_node"),
    ],
)
def test_what_return_cannot_do_is_a_problem(config: Json, code: str) -> None:
    assert codes([returns(**config)], "") == [code]


# --- previews --------------------------------------------------------------------------------------------------------


async def test_a_preview_follows_the_way_that_would_be_taken() -> None:
    nodes = [
        when("chat.last_user == 'Hi'"),
        {"id": "a", "type": "SetVars", "config": {"variables": [{"name": "X", "value": "then"}]}},
        {"id": "b", "type": "SetVars", "config": {"variables": [{"name": "X", "value": "else"}]}},
        {"id": "end", "type": "SetVars", "config": {"variables": [{"name": "Y", "value": "[[X]]"}]}},
    ]
    plan = planned(nodes, "if.then>a if.else>b a>end b>end")
    shown = await preview_node(make_run(plan), "end", {})
    assert shown["preview"] == {"vars": {"Y": "then"}}
    shown = await preview_node(make_run(plan), "end", {"if": {"port": "else"}})
    assert shown["preview"] == {"vars": {"Y": "else"}}
    assert (await preview_node(make_run(plan), "b", {}))["preview"] == {"vars": {"X": "else"}}


def test_a_condition_that_is_not_there_is_told() -> None:
    with pytest.raises(InvalidPipeline):
        planned([when(""), say("a")], "if.then>a if.else>a")
