"""What a ProviderCall wants of an answer: a schema, another try, and a part of it."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace

import pytest
from aiohttp import ClientSession

from agentui.errors import InvalidPipeline, NodeFailed, UpstreamInvalid
from agentui.jsonio import Json, dumps_text, loads
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.run import Run
from agentui.upstream.client import Upstream
from tests.conftest import StartServer, call
from tests.unit.pipeline.parts import Ear, compiled, execute, heard, make_incoming, make_run, make_services
from tests.upstreams.server import API_KEY, Call, Mock, Step

SCHEMA = '{"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"], "additionalProperties": false}'
VENDORS = ("openai", "openai_responses", "claude", "gemini")
AFTER = {"id": "n2", "type": "Text", "config": {"text": "{{ OUT.n1.response_text }}"}}


class Asker:
    """Runs a ProviderCall against the mock, as the answering node or before one."""

    def __init__(self, mock: Mock, upstream: Upstream) -> None:
        self.mock = mock
        self.services = replace(make_services(), upstream=upstream)
        self.ear = Ear()

    async def ask(self, steps: Iterable[Step], *, answers: bool = False, provider: str = "openai", **config: Json) -> Run:
        self.mock.script(steps)
        config = {"provider": provider, "base_url": self.mock.origin, **config}
        nodes = [{"id": "n1", "type": "ProviderCall", "config": config}]
        plan = compiled(nodes if answers else [*nodes, AFTER], [] if answers else [("n1", "n2")])
        body = {"model": "text", "messages": [{"role": "user", "content": "Hi"}]}
        headers = {"authorization": f"Bearer {API_KEY}"}
        return await execute(plan, make_incoming(body, headers=headers), self.ear, services=self.services)


@pytest.fixture
async def asker(mock: Mock) -> AsyncIterator[Asker]:
    async with Upstream() as upstream:
        yield Asker(mock, upstream)


@pytest.mark.parametrize("provider", VENDORS)
@pytest.mark.parametrize("answers", [False, True])
async def test_a_provider_is_told_of_the_schema_in_its_own_way(asker: Asker, provider: str, answers: bool) -> None:
    run = await asker.ask([Step(text='{"age": 3}')], answers=answers, provider=provider, response_schema=SCHEMA)
    assert '"age"' in dumps_text(asker.mock.last.body)
    assert "json" not in run.out["n1"] and run.out["n1"]["response_text"] == '{"age": 3}'


HI: Json = [{"role": "user", "content": "Hi"}]
OWN: list[tuple[str, Json]] = [
    ("/v1/chat/completions", {"model": "text", "messages": HI, "response_format": {"type": "json_object"}, "store": False}),
    ("/v1/responses", {"model": "text", "input": "Hi", "text": {"verbosity": "low"}, "store": False}),
    ("/v1/messages", {"model": "text", "messages": HI, "max_tokens": 9, "metadata": {"user_id": "u"}}),
    (
        "/v1beta/models/text:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "generationConfig": {"mediaResolution": "LOW"}},
    ),
]


@pytest.mark.parametrize(("path", "body"), OWN)
async def test_the_callers_own_request_is_changed_by_the_schema_alone(asker: Asker, path: str, body: Json) -> None:
    config = {"provider": "caller", "base_url": asker.mock.origin, "response_schema": SCHEMA}
    plan = compiled([{"id": "n1", "type": "ProviderCall", "config": config}])
    incoming = make_incoming(body, path, headers={"authorization": f"Bearer {API_KEY}"})
    node = plan.nodes[0].node
    [preview] = [await node.preview(NodeContext(make_run(plan, incoming), "n1", "ProviderCall", asker.ear))]
    sent = preview["body"]
    assert "age" in dumps_text(sent) and "json_object" not in dumps_text(sent)
    for name, value in body.items():
        if name in ("response_format", "model"):
            continue
        assert sent[name] == value if not isinstance(value, dict) else value.items() <= sent[name].items()


@pytest.mark.parametrize("provider", VENDORS)
@pytest.mark.parametrize("answers", [False, True])
async def test_a_model_is_told_what_is_wrong_and_asked_again(asker: Asker, provider: str, answers: bool) -> None:
    steps = [Step(text="I am three."), Step(text='{"age": "3"}'), Step(text='{"age": 3}')]
    run = await asker.ask(steps, answers=answers, provider=provider, response_schema=SCHEMA, validate_retries=2)
    out = run.out["n1"]
    assert (out["json"], out["response_text"]) == ({"age": 3}, '{"age": 3}')
    assert out["usage"]["output_tokens"] == 21, "of all three"
    last = dumps_text(asker.mock.last.body)
    assert "I am three." in last and "/age: '3' is not of type 'integer'" in last
    assert [kind for kind, _ in heard(run)].count("run.warning") >= 2
    assert asker.ear.texts == ['{"age": 3}']


async def test_an_answer_that_gets_no_better_fails_and_reaches_nobody(asker: Asker) -> None:
    for answers in (False, True):
        with pytest.raises(UpstreamInvalid, match="does not follow"):
            await asker.ask([Step(text="No.")] * 3, answers=answers, response_schema=SCHEMA, validate_retries=1)
        assert asker.ear.texts == []
        asker.mock.forget_steps()
    assert len(asker.mock.requests) == 4


async def test_mistakes_are_mended_only_where_nobody_reads_the_answer_itself(asker: Asker) -> None:
    sloppy, exact = Step(text='```json\n{"age": 3,}\n```'), Step(text='{"age": 3}')
    run = await asker.ask([sloppy], response_schema=SCHEMA, validate_retries=1)
    assert run.out["n1"]["json"] == {"age": 3}
    await asker.ask([sloppy, exact], answers=True, response_schema=SCHEMA, validate_retries=1)
    assert asker.ear.texts[-1] == '{"age": 3}' and len(asker.mock.requests) == 3


@pytest.mark.parametrize("provider", VENDORS)
async def test_a_streaming_caller_hears_the_good_answer_alone(start_server: StartServer, mock: Mock, provider: str) -> None:
    document = call(provider, mock.origin, response_schema=SCHEMA, validate_retries=1)
    server = await start_server({"default": document})
    mock.script([Step(text="bad"), Step(text='{"age": 4}')])
    body = {"model": "text", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    headers = {"authorization": f"Bearer {API_KEY}"}
    async with (
        ClientSession() as session,
        session.post(f"{server.origin}/v1/chat/completions", json=body, headers=headers) as reply,
    ):
        events = [loads(line[6:]) for line in (await reply.text()).splitlines() if line.startswith("data: {")]
    said = "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])
    assert said == '{"age": 4}'


async def test_an_answer_that_calls_the_callers_tools_is_told_as_it_is(asker: Asker) -> None:
    asker.mock.script(Step(text="", calls=(Call("look", '{"city": "Paris"}'),)))
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    body = {"model": "text", "messages": [{"role": "user", "content": "Hi"}], "tools": tools}
    config = {"provider": "openai", "base_url": asker.mock.origin, "response_schema": SCHEMA, "validate_retries": 1}
    incoming = make_incoming(body, headers={"authorization": f"Bearer {API_KEY}"})
    plan = compiled([{"id": "n1", "type": "ProviderCall", "config": config}])
    run = await execute(plan, incoming, asker.ear, services=asker.services)
    assert run.out["n1"]["tool_calls"][0]["name"] == "look" and run.out["n1"]["json"] is None


@pytest.mark.parametrize(
    ("extract", "expression", "extracted"),
    [
        ("openai", "", "Name: Ada. Age: 36."),
        ("jsonpath", "choices.0.finish_reason", "stop"),
        ("jsonpath", "$.usage.*", None),
        ("jsonpath", "$.nothing", None),
        ("regex", r"Name: (\w+)", "Ada"),
        ("regex", r"Age: \d+", "Age: 36"),
        ("regex", "Nobody", None),
        ("claude", "", None),
    ],
)
async def test_a_part_of_an_answer_is_taken_out(asker: Asker, extract: str, expression: str, extracted: Json) -> None:
    steps = [Step(text="Name: Ada. Age: 36.")] * 2
    run = await asker.ask(steps[:1], extract=extract, extract_expression=expression)
    out = run.out["n1"]
    if expression == "$.usage.*":
        assert isinstance(out["extracted"], list)
        return
    assert (out["extracted"], out["response_text"]) == (extracted, extracted or "")
    assert run.out["n2"]["text"] == (extracted or "")
    # Where the node answers, its text is what the caller hears.
    out = (await asker.ask(steps[1:], answers=True, extract=extract, extract_expression=expression)).out["n1"]
    assert (out["extracted"], out["response_text"]) == (extracted, "Name: Ada. Age: 36.")


@pytest.mark.parametrize("provider", VENDORS)
async def test_every_dialect_has_its_place_of_the_text(asker: Asker, provider: str) -> None:
    run = await asker.ask([Step(text="words")], provider=provider, extract=provider)
    assert run.out["n1"]["extracted"] == "words"


async def test_an_expression_that_never_ends_ends_the_node(asker: Asker) -> None:
    with pytest.raises(NodeFailed, match="too long"):
        await asker.ask([Step(text="a" * 60 + "b")], extract="regex", extract_expression="^(a|aa)+$")


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"response_schema": "{"}, "schema.invalid"),
        ({"response_schema": SCHEMA, "template": "{}"}, "schema.template"),
        ({"validate_retries": 1}, "schema.missing"),
        ({"extract": "regex"}, "regex.syntax"),
        ({"extract": "jsonpath", "extract_expression": "$["}, "query.syntax"),
    ],
)
def test_what_cannot_be_wanted_is_told_when_the_pipeline_is_saved(config: Json, code: str) -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled([{"id": "n1", "type": "ProviderCall", "config": config}])
    assert code in [problem.code for problem in caught.value.problems]
