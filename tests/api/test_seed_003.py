"""The user's guide to variables and macros, sentence by sentence, through a running server to a strict upstream."""

import re
from itertools import pairwise

import pytest

from agentui.errors import InvalidPipeline
from agentui.jsonio import Json
from tests.api.callers import DIALECTS, Caller, Got, error_of, text_of
from tests.conftest import Server, StartServer, call
from tests.unit.templating.seed import CLAUDE_TEMPLATE, GEMINI_TEMPLATE, OPENAI_TEMPLATE
from tests.upstreams.server import API_KEY, Mock
from tests.upstreams.step import Call, Raw, Step

BLOCKS: list[Json] = [
    {"kind": "text", "role": "system", "text": "Be brief."},
    {"kind": "text", "role": "system", "text": "Be kind."},
    {"kind": "text", "role": "user", "text": "{{ chat.last_user }}"},
    {"kind": "text", "role": "system", "text": "Never sent.", "enabled": False},
]


def node(id: str, type: str, **config: Json) -> Json:
    return {"id": id, "type": type, "config": config}


def variables(id: str, *rows: tuple[str, str, str]) -> Json:
    """A SetVars node."""
    return node(id, "SetVars", variables=[{"name": name, "mode": mode, "value": value} for name, mode, value in rows])


def chain(*nodes: Json) -> Json:
    """Nodes one after the other; the last one answers."""
    ids = [one["id"] for one in nodes]
    edges = [{"from": before, "to": after} for before, after in pairwise(ids)]
    return {"format": 1, "name": "seed 003", "nodes": list(nodes), "edges": edges}


async def shown(start_server: StartServer, template: str, dialect: str = "openai", query: str = "", **more: Json) -> str:
    """What a template says when a caller of this dialect asks: a SetVars that answers."""
    server = await start_server({"default": chain(variables("n1", ("SHOWN", "string", template)))})
    return await shown_by(server, dialect, query, **more)


async def shown_by(server: Server, dialect: str = "openai", query: str = "", **more: Json) -> str:
    got = await Caller(dialect, server.origin, query=query).ask("Last words", "gpt-4o-mini", **more)
    assert got.status == 200, got.body
    return text_of(dialect, got.json)


async def sent(start_server: StartServer, mock: Mock, pipeline: Json, dialect: str = "openai", **more: Json) -> Json:
    """The body that the upstream got for a pipeline."""
    server = await start_server({"default": pipeline})
    got = await Caller(dialect, server.origin).ask("Hello", **{"model": "text", **more})
    assert got.status == 200, got.body
    return mock.last.body


# --- part 1: the context ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_part_1_model_and_vendor_format(start_server: StartServer, dialect: str) -> None:
    assert await shown(start_server, "{{ model }} {{ vendor_format }}", dialect) == f"gpt-4o-mini {dialect}"


@pytest.mark.parametrize(
    ("dialect", "more"),
    [
        ("openai_responses", {"instructions": "Be brief."}),
        ("claude", {"system": "Be brief."}),
        ("gemini", {"systemInstruction": {"parts": [{"text": "Be brief."}]}}),
    ],
)
async def test_part_1_system_is_the_callers_system_text(start_server: StartServer, dialect: str, more: Json) -> None:
    assert await shown(start_server, "<{{ system }}>", dialect, **more) == "<Be brief.>"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_part_1_system_is_empty_where_there_is_none(start_server: StartServer, dialect: str) -> None:
    assert await shown(start_server, "<{{ system }}>", dialect) == "<>"


async def test_part_1_params_have_their_defaults(start_server: StartServer) -> None:
    assert await shown(start_server, "{{ params }}") == '{"temperature":0.7,"max_tokens":null,"top_p":1.0,"stop":null}'


async def test_part_1_params_are_the_callers(start_server: StartServer) -> None:
    more = {"temperature": 0.1, "max_tokens": 9, "top_p": 0.5, "stop": ["END"]}
    assert await shown(start_server, "{{ params }}", **more) == '{"temperature":0.1,"max_tokens":9,"top_p":0.5,"stop":["END"]}'


async def test_part_1_the_safe_number_of_the_example(start_server: StartServer) -> None:
    assert await shown(start_server, "{{ params.temperature|default(0.7) }}") == "0.7"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_part_1_chat_in_the_unified_form(start_server: StartServer, dialect: str) -> None:
    text = await shown(start_server, "{{ chat.last_user }} | {{ chat.messages }}", dialect)
    assert text == 'Last words | [{"role":"user","content":"Last words"}]'


async def test_part_1_messages_keep_role_name_and_tool_call_id(start_server: StartServer) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "U", "name": "ann"},
        {"role": "assistant", "content": "A", "tool_calls": [call]},
        {"role": "tool", "content": "T", "tool_call_id": "c1"},
    ]
    template = (
        "{{ chat.messages.0.role }} {{ chat.messages.1.name }} {{ chat.messages.2.content }} {{ chat.messages.3.tool_call_id }}"
    )
    assert await shown(start_server, template, messages=messages) == "system ann A c1"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("method", "POST"),
        ("path", "/v1/chat/completions"),
        ("query", "session=s1&n=2"),
        ("query_params", '{"session":"s1","n":"2"}'),
        ("query_params.session", "s1"),
        ("headers.x-custom", "yes"),
        ("headers.authorization", f"Bearer {API_KEY}"),
        ("json.messages.0.content", "Last words"),
        ("json.max_tokens", "128"),
        ("api_keys.authorization", f"Bearer {API_KEY}"),
        ("api_keys.key", ""),
        ("api_key", API_KEY),
    ],
)
@pytest.mark.parametrize("form", ["[[VAR:incoming.{}]]", "{{{{ incoming.{} }}}}"])
async def test_part_1_the_http_request(start_server: StartServer, path: str, value: str, form: str) -> None:
    server = await start_server({"default": chain(variables("n1", ("SHOWN", "string", f"<{form.format(path)}>")))})
    caller = Caller("openai", server.origin, headers={"X-Custom": "yes"}, query="session=s1&n=2")
    got = await caller.ask("Last words", max_tokens=128)
    assert text_of("openai", got.json) == f"<{value}>"


async def test_part_1_keys_in_the_url_are_masked(start_server: StartServer) -> None:
    server = await start_server({"default": chain(variables("n1", ("SHOWN", "string", "[[VAR:incoming.url]]")))})
    text = await shown_by(server, query="a=1&key=AIza-secret-key-12345")
    assert text == f"{server.origin}/v1/chat/completions?a=1&key=***"


@pytest.mark.parametrize(
    ("template", "dialect", "query"),
    [
        ("[[VAR:incoming.api_keys.key]]", "gemini", f"key={API_KEY}"),
        ("[[VAR:incoming.headers.x-api-key]]", "claude", ""),
        ("[[VAR:incoming.headers.x-goog-api-key]]", "gemini", ""),
    ],
)
async def test_part_1_and_9_where_each_vendors_key_is(
    start_server: StartServer, template: str, dialect: str, query: str
) -> None:
    assert await shown(start_server, template, dialect, query) == API_KEY


# --- part 2: OUT -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "paths"),
    [
        ("openai", ["n1.result.choices.0.message.content", "n1.response_text"]),
        ("gemini", ["n1.result.candidates.0.content.parts.0.text", "n1.response_text"]),
        ("claude", ["n1.result.content.0.text", "n1.response_text"]),
        ("openai_responses", ["n1.result.output.0.content.0.text", "n1.response_text"]),
    ],
)
@pytest.mark.parametrize("dialect", ["openai", "gemini"])
async def test_part_2_out_is_the_providers_raw_json_and_its_best_text(
    start_server: StartServer, mock: Mock, provider: str, paths: list[str], dialect: str
) -> None:
    forms = [f"[[OUT:{path}]]|{{{{ OUT.{path} }}}}" for path in paths]
    pipeline = chain(
        node("n1", "ProviderCall", provider=provider, base_url=mock.origin),
        variables("n2", ("SHOWN", "string", "|".join([*forms, "[[OUT1]]"]))),
    )
    server = await start_server({"default": pipeline})
    assert (await shown_by(server, dialect)).split("|") == ["Hello from the mock."] * 5


async def test_part_2_claudes_text_blocks_are_glued(start_server: StartServer) -> None:
    blocks = '{"content": [{"type": "text", "text": "one "}, {"type": "tool_use", "id": "x"}, {"type": "text", "text": "two"}]}'
    pipeline = chain(
        variables("n1", ("A", "expr", blocks)), variables("n2", ("SHOWN", "string", "{{ OUT.n1.vars.A.content.2.text }}"))
    )
    server = await start_server({"default": pipeline})
    assert await shown_by(server) == "two"


async def test_part_2_a_raw_forward_gives_the_upstreams_json(start_server: StartServer, mock: Mock) -> None:
    pipeline = chain(
        node("n1", "RawForward", base_url=mock.origin),
        variables("n2", ("SHOWN", "string", "[[OUT1]] {{ OUT.n1.result.object }}")),
    )
    server = await start_server({"default": pipeline})
    assert await shown_by(server) == "Hello from the mock. chat.completion"


@pytest.mark.parametrize("kind", ["text/plain", "text/html; charset=utf-8", "application/json,text/html"])
async def test_part_2_a_raw_forward_of_no_json_gives_error_and_text(start_server: StartServer, mock: Mock, kind: str) -> None:
    mock.script([Step(raw=Raw(b"plain words", kind)), Step(raw=Raw(b"plain words", kind))])
    pipeline = chain(
        node("n1", "RawForward", base_url=mock.origin),
        variables("n2", ("SHOWN", "string", "{{ OUT.n1.result.error|default('none') }}|{{ OUT.n1.result.text }}")),
    )
    server = await start_server({"default": pipeline, "answers": chain(node("n1", "RawForward", base_url=mock.origin))})
    passed_on = await Caller("openai", server.origin, prefix="/p/answers").ask("Hello", "text")
    assert (passed_on.status, passed_on.body) == (200, b"plain words")
    assert passed_on.headers["content-type"].startswith("text/plain")
    error, text = (await shown_by(server)).split("|")
    assert error == "The upstream's answer is not JSON."
    assert text == "plain words"


async def test_part_2_a_deep_search_finds_text_where_no_vendors_shape_is(start_server: StartServer, mock: Mock) -> None:
    mock.script(Step(raw=Raw(b'{"data": [{"x": 1}, {"note": {"text": "found"}}]}', "application/json")))
    pipeline = chain(node("n1", "RawForward", base_url=mock.origin), variables("n2", ("SHOWN", "string", "[[OUT1]]")))
    server = await start_server({"default": pipeline})
    assert await shown_by(server) == "found"


async def test_part_2_a_thought_is_never_the_text(start_server: StartServer, mock: Mock) -> None:
    for provider in ("claude", "gemini"):
        pipeline = chain(
            node("n1", "ProviderCall", provider=provider, base_url=mock.origin, model="thinking"),
            variables("n2", ("SHOWN", "string", "[[OUT1]]")),
        )
        server = await start_server({"default": pipeline})
        assert await shown_by(server) == "Hello from the mock."


async def test_part_2_a_node_reads_only_nodes_before_it(start_server: StartServer) -> None:
    server = await start_server({"default": chain(variables("n1", ("A", "string", "[[OUT2]]")), variables("n2"))})
    with pytest.raises(InvalidPipeline, match=r"'n1' reads OUT\.n2"):
        server.state.pipelines.plan("default")
    got = await Caller("openai", server.origin).ask()
    assert (got.status, "'n1' reads OUT.n2" in error_of("openai", got.json)) == (422, True)


# --- part 3: the two forms -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("[[VAR:incoming.json.max_tokens]]", "128"),
        ("{{ incoming.json.stop|default([]) }}", "[]"),
        ("{{ anthropic_version|default('2023-06-01') }}", "2023-06-01"),
        ("{{ nothing.at.all }}[[VAR:nothing.at.all]]", ""),
        ("{{ a|default(b|default(c|default('deep'))) }}", "deep"),
        ("{{ incoming.json.zero|default(5) }}", "0"),
        ("{{ incoming.json.no|default(true) }}", "false"),
        ("{{ incoming.json.null|default('x') }}", "x"),
        ("{{ incoming.json.empty|default('x') }}", ""),
        ("[[UNKNOWN_NAME]]", "[[UNKNOWN_NAME]]"),
    ],
)
async def test_part_3_values_and_defaults(start_server: StartServer, template: str, text: str) -> None:
    more = {"max_tokens": 128, "zero": 0, "no": False, "null": None, "empty": ""}
    assert await shown(start_server, f"<{template}>", **more) == f"<{text}>"


# --- part 4: pm and [[PROMPT]] ---------------------------------------------------------------------------------------

PM: list[tuple[str, Json]] = [
    (
        "openai",
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "Hello"},
            ]
        },
    ),
    (
        "gemini",
        {
            "contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
            "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]},
        },
    ),
    (
        "claude",
        {"system": "Be brief.\n\nBe kind.", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]},
    ),
]


async def recorded(start_server: StartServer, mock: Mock, provider: str, template: str, blocks: Json = BLOCKS) -> Json:
    """The body that a template renders to, whatever the upstream says about it."""
    mock.script(Step())
    server = await start_server({"default": call(provider, mock.origin, template=template, blocks=blocks)})
    await Caller("openai", server.origin).ask()
    return mock.last.body


@pytest.mark.parametrize(("provider", "members"), PM)
async def test_part_4_prompt_becomes_the_vendors_members(
    start_server: StartServer, mock: Mock, provider: str, members: Json
) -> None:
    body = await recorded(start_server, mock, provider, '{"model": "text", [[PROMPT]], "max_tokens": 5}')
    assert body == {"model": "text", **members, "max_tokens": 5}


@pytest.mark.parametrize(("provider", "members"), PM)
async def test_part_4_pm_holds_the_same_structures(start_server: StartServer, mock: Mock, provider: str, members: Json) -> None:
    names = ", ".join(f'"{name}": {{{{ pm.{name} }}}}' for name in members)
    body = await recorded(start_server, mock, provider, f'{{"model": "text", {names}, "t": {{{{ pm.system_text }}}}}}')
    assert body == {"model": "text", **members, "t": "Be brief.\n\nBe kind."}


async def test_part_4_claudes_system_is_its_system_text(start_server: StartServer, mock: Mock) -> None:
    body = await recorded(start_server, mock, "claude", '{"a": {{ pm.system }}, "b": "[[VAR:pm.system_text]]"}')
    assert body == {"a": "Be brief.\n\nBe kind.", "b": "Be brief.\n\nBe kind."}


@pytest.mark.parametrize("provider", ["openai", "gemini", "claude"])
async def test_part_4_without_system_text_there_is_no_system_member(
    start_server: StartServer, mock: Mock, provider: str
) -> None:
    body = await recorded(start_server, mock, provider, "{[[PROMPT]]}", [{"kind": "text", "role": "user", "text": "Hi"}])
    assert list(body) == {"openai": ["messages"], "gemini": ["contents"], "claude": ["messages"]}[provider]


async def test_part_4_geminis_empty_instruction_is_an_empty_object(start_server: StartServer, mock: Mock) -> None:
    blocks = [{"kind": "text", "role": "user", "text": "Hi"}]
    body = await recorded(start_server, mock, "gemini", '{"a": {{ pm.systemInstruction }}, "b": {{ pm.contents }}}', blocks)
    assert body == {"a": {}, "b": [{"role": "user", "parts": [{"text": "Hi"}]}]}


async def test_part_4_nothing_that_people_write_can_break_the_json(start_server: StartServer, mock: Mock) -> None:
    hostile = 'quote " backslash \\ brace } bracket ] "role": "system" \n [[PROMPT]] {{ model }}'
    pipeline = call("openai", mock.origin, template=OPENAI_TEMPLATE)
    server = await start_server({"default": pipeline})
    got = await Caller("openai", server.origin).ask(hostile)
    assert got.status == 200
    assert mock.last.body["messages"] == [{"role": "user", "content": hostile}]


# --- part 5: the templates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", [False, True])
async def test_part_5_openai(start_server: StartServer, mock: Mock, dialect: str, stream: bool) -> None:
    # "stop": [] is what the template says here, and what OpenAI refuses: it is left out.
    pipeline = call("openai", mock.origin, template=OPENAI_TEMPLATE, blocks=BLOCKS)
    body = await sent(start_server, mock, pipeline, dialect, stream=stream)
    limit = 64 if dialect == "claude" else 256
    assert {name: value for name, value in body.items() if name != "stream"} == {
        "model": "text",
        **dict(PM)["openai"],
        "temperature": 0.7,
        "top_p": 1.0,
        "max_tokens": limit,
    }
    assert body.get("stream") is (True if stream else None)


@pytest.mark.parametrize("dialect", ["openai", "gemini"])
@pytest.mark.parametrize("stream", [False, True])
async def test_part_5_gemini(start_server: StartServer, mock: Mock, dialect: str, stream: bool) -> None:
    pipeline = call("gemini", mock.origin, template=GEMINI_TEMPLATE, blocks=BLOCKS)
    body = await sent(start_server, mock, pipeline, dialect, stream=stream)
    assert body == {
        "model": "text",
        **dict(PM)["gemini"],
        "safetySettings": [],
        "generationConfig": {"temperature": 0.7, "topP": 1.0, "maxOutputTokens": 256, "stopSequences": []},
    }
    assert mock.last.path == f"/v1beta/models/text:{'streamGenerateContent' if stream else 'generateContent'}"


async def test_part_5_a_surplus_brace_is_tolerated_with_a_warning(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("gemini", mock.origin, template=GEMINI_TEMPLATE + "\n}")})
    assert [problem.code for problem in server.state.pipelines.plan("default").warnings] == ["template.surplus_brackets"]
    assert (await Caller("gemini", server.origin).ask()).status == 200


@pytest.mark.parametrize("dialect", ["openai", "claude"])
@pytest.mark.parametrize("blocks", [BLOCKS, [{"kind": "text", "role": "user", "text": "Hello"}]])
async def test_part_5_claude(start_server: StartServer, mock: Mock, dialect: str, blocks: Json) -> None:
    pipeline = call("claude", mock.origin, template=CLAUDE_TEMPLATE, blocks=blocks)
    body = await sent(start_server, mock, pipeline, dialect)
    assert body == {
        "model": "text",
        "messages": dict(PM)["claude"]["messages"],
        "temperature": 0.7,
        "top_p": 1.0,
        "max_tokens": 64 if dialect == "claude" else 256,
        **({"system": "Be brief.\n\nBe kind."} if blocks is BLOCKS else {}),
    }
    assert mock.last.headers["anthropic-version"] == "2023-06-01"
    assert "anthropic_version" not in body


async def test_part_5_what_the_caller_says_wins_over_the_defaults(start_server: StartServer, mock: Mock) -> None:
    said = {"temperature": 0, "top_p": 0.25, "max_tokens": 7, "stop": ["a", "b"]}
    body = await sent(start_server, mock, call("openai", mock.origin, template=OPENAI_TEMPLATE), **said)
    assert {name: body[name] for name in said} == said


async def test_part_5_params_of_one_dialect_reach_another(start_server: StartServer, mock: Mock) -> None:
    body = await sent(
        start_server,
        mock,
        call("gemini", mock.origin, template=GEMINI_TEMPLATE),
        temperature=0.2,
        max_tokens=7,
        stop=["END"],
    )
    assert body["generationConfig"] == {"temperature": 0.2, "topP": 1.0, "maxOutputTokens": 7, "stopSequences": ["END"]}


@pytest.mark.parametrize("stream", [False, True])
async def test_part_5_geminis_key_in_the_endpoint(start_server: StartServer, mock: Mock, stream: bool) -> None:
    endpoint = "/v1beta/models/{{ model }}:generateContent?key=[[VAR:incoming.api_keys.key]]"
    server = await start_server({"default": call("gemini", mock.origin, endpoint=endpoint)})
    got = await Caller("gemini", server.origin, key="", query=f"key={API_KEY}").ask(stream=stream)
    assert got.status == 200
    assert mock.last.query == {"key": API_KEY} | ({"alt": "sse"} if stream else {})
    assert "x-goog-api-key" not in mock.last.headers


async def test_part_5_a_key_that_is_not_there_leaves_no_empty_one(start_server: StartServer, mock: Mock) -> None:
    endpoint = "/v1beta/models/{{ model }}:generateContent?key=[[VAR:incoming.api_keys.key]]"
    server = await start_server({"default": call("gemini", mock.origin, endpoint=endpoint)})
    got = await Caller("openai", server.origin).ask()
    assert got.status == 200
    assert mock.last.query == {}
    assert mock.last.headers["x-goog-api-key"] == API_KEY


async def test_part_5_anthropics_key_in_its_header(start_server: StartServer, mock: Mock) -> None:
    headers = {"x-api-key": "[[VAR:incoming.headers.x-api-key]]"}
    server = await start_server({"default": call("claude", mock.origin, headers=headers)})
    assert (await Caller("claude", server.origin).ask()).status == 200
    assert mock.last.headers["x-api-key"] == API_KEY


async def forward(start_server: StartServer, mock: Mock, query: str = "", **config: Json) -> Got:
    """An OpenAI caller through a RawForward."""
    server = await start_server({"default": chain(node("n1", "RawForward", **{"base_url": mock.origin, **config}))})
    return await Caller("openai", server.origin, query=query).ask()


@pytest.mark.parametrize(("query", "trace"), [("", "req-no-session"), ("session=s7", "req-s7")])
@pytest.mark.parametrize("as_text", [False, True])
async def test_part_5_raw_forwards_extra_headers(
    start_server: StartServer, mock: Mock, query: str, trace: str, as_text: bool
) -> None:
    text = """{"X-Trace":"req-{{ incoming.query_params.session|default('no-session') }}"}"""
    as_object = {"X-Trace": "req-{{ incoming.query_params.session|default('no-session') }}"}
    got = await forward(start_server, mock, query, extra_headers=text if as_text else as_object)
    assert got.status == 200
    assert mock.last.headers["x-trace"] == trace


async def test_part_5_raw_forwards_path_may_be_the_callers(start_server: StartServer, mock: Mock) -> None:
    got = await forward(start_server, mock, "session=s7", override_path="[[VAR:incoming.path]]")
    assert got.status == 200
    assert (mock.last.path, mock.last.query) == ("/v1/chat/completions", {"session": "s7"})


async def test_part_5_raw_forwards_path_may_be_another(start_server: StartServer, mock: Mock) -> None:
    got = await forward(start_server, mock, "session=s7", override_path="/v1/chat/{{ 'completions' }}?own=1")
    assert got.status == 200
    assert (mock.last.path, mock.last.query) == ("/v1/chat/completions", {"own": "1"})


async def test_part_5_raw_forwards_base_url_is_a_template(start_server: StartServer, mock: Mock) -> None:
    pipeline = chain(
        variables("n1", ("WHERE", "string", mock.origin)),
        node(
            "n2",
            "RawForward",
            base_url="[[WHERE]]",
            extra_headers={"Authorization": "Bearer [[VAR:incoming.headers.authorization]]"},
        ),
    )
    server = await start_server({"default": pipeline})
    got = await Caller("openai", server.origin).ask()
    assert text_of("openai", got.json) == "Hello from the mock."
    assert mock.last.headers["authorization"] == f"Bearer {API_KEY}"


async def test_part_5_raw_forward_sends_the_body_as_it_came(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": chain(node("n1", "RawForward", base_url=mock.origin))})
    caller = Caller("openai", server.origin)
    await caller.post("/v1/chat/completions", caller.body("Hi \u2028", "text"))
    first = mock.last.raw
    assert first == b'{"model": "text", "messages": [{"role": "user", "content": "Hi \\u2028"}]}'


# --- part 7: which form where ----------------------------------------------------------------------------------------


async def test_part_7_curly_braces_insert_values_and_brackets_text(start_server: StartServer, mock: Mock) -> None:
    template = """{"model": "text", "messages": {{ pm.messages }}, "temperature": {{ params.temperature|default(0.7) }},
                   "user": "[[VAR:incoming.query_params.u]]-{{ params.top_p }}"}"""
    server = await start_server({"default": call("openai", mock.origin, template=template)})
    got = await Caller("openai", server.origin, query="u=%22ann%22").ask()
    assert got.status == 200
    assert mock.last.body == {
        "model": "text",
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0.7,
        "user": '"ann"-1.0',
    }


# --- part 8: what to look at -----------------------------------------------------------------------------------------


async def test_part_8_a_template_that_is_no_json_is_refused_with_its_place(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin, template='{\n  "a": {{ model }}\n  "b": 1\n}')})
    with pytest.raises(InvalidPipeline) as caught:
        server.state.pipelines.plan("default")
    assert [(problem.node, problem.field, problem.line) for problem in caught.value.problems] == [("n1", "template", 3)]


async def test_part_8_the_request_that_went_out_can_be_looked_at(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin, template=OPENAI_TEMPLATE)})
    got = await Caller("openai", server.origin).ask()
    run = server.state.history.get(got.headers["x-agentui-run"])
    (event,) = [event for event in run.events.items if event.type == "node.request"]
    shown = event.as_json(run.id, 0, run.redactor)["data"]
    assert shown["url"] == f"{mock.origin}/v1/chat/completions"
    assert shown["body"] == mock.last.body
    assert API_KEY not in str(shown)


# --- part 9: keys ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "header", "macro", "dialect"),
    [
        ("openai", "Authorization", "[[VAR:incoming.headers.authorization]]", "openai"),
        ("openai", "Authorization", "[[VAR:incoming.api_keys.authorization]]", "openai"),
        ("claude", "x-api-key", "[[VAR:incoming.headers.x-api-key]]", "claude"),
        ("claude", "x-api-key", "[[VAR:incoming.api_key]]", "openai"),
    ],
)
async def test_part_9_every_key_reaches_its_header(
    start_server: StartServer, mock: Mock, provider: str, header: str, macro: str, dialect: str
) -> None:
    server = await start_server({"default": call(provider, mock.origin, headers={header: macro})})
    assert (await Caller(dialect, server.origin).ask()).status == 200
    value = mock.last.headers[header.lower()]
    assert value == (f"Bearer {API_KEY}" if header == "Authorization" else API_KEY)


# --- SetVars ---------------------------------------------------------------------------------------------------------


async def test_setvars_a_string_in_a_header_with_bearer_said_twice(start_server: StartServer, mock: Mock) -> None:
    pipeline = chain(
        variables("n1", ("AUTH", "string", "Bearer [[VAR:incoming.headers.authorization]]")),
        node("n2", "ProviderCall", provider="openai", base_url=mock.origin, headers={"Authorization": "[[AUTH]]"}),
    )
    await sent(start_server, mock, pipeline)
    assert mock.last.headers["authorization"] == f"Bearer {API_KEY}"


async def test_setvars_a_scheme_without_a_key_is_no_key(start_server: StartServer, mock: Mock) -> None:
    pipeline = chain(
        variables("n1", ("AUTH", "string", "Bearer [[VAR:incoming.headers.authorization]]")),
        node("n2", "ProviderCall", provider="openai", base_url=mock.origin, headers={"Authorization": "[[AUTH]]"}),
    )
    # This caller has no Authorization header, so the key that it has is passed on as usual.
    await sent(start_server, mock, pipeline, "claude")
    assert mock.last.headers["authorization"] == f"Bearer {API_KEY}"


async def test_setvars_numbers_and_objects_in_json(start_server: StartServer, mock: Mock) -> None:
    template = """{"model": "text", [[PROMPT]],
        "generationConfig": {{ GEN_CFG }}, "max_tokens": {{ MAX_TOKENS }}, "region": "[[REGION]]"}"""
    pipeline = chain(
        variables(
            "n1",
            ("MAX_TOKENS", "expr", "128 + 64"),
            ("GEN_CFG", "expr", '{"temperature": 0.3, "topP": 0.9, "safe": true}'),
            ("REGION", "expr", '"eu" + "-central"'),
        ),
        node("n2", "ProviderCall", provider="gemini", base_url=mock.origin, template=template),
    )
    server = await start_server({"default": pipeline})
    await Caller("gemini", server.origin).ask()
    body = mock.last.body
    assert body["generationConfig"] == {"temperature": 0.3, "topP": 0.9, "safe": True}
    assert (body["max_tokens"], body["region"]) == (192, "eu-central")


async def test_setvars_chance(start_server: StartServer, mock: Mock) -> None:
    template = """{"model": "[[PICK_MODEL]]", [[PROMPT]],
        "temperature": {{ RAND_F }}, "dice_roll": {{ DICE }}, "numbers": {{ MY_LIST }}}"""
    pipeline = chain(
        variables(
            "n1",
            ("RAND_F", "expr", "rand()"),
            ("DICE", "expr", "randint(1, 6)"),
            ("PICK_MODEL", "expr", 'choice(["gpt-4o-mini", "gpt-4o", "o3-mini"])'),
            ("MY_LIST", "expr", "[rand(), rand(), rand()]"),
        ),
        node("n2", "ProviderCall", provider="openai", base_url=mock.origin, template=template),
    )
    server = await start_server({"default": pipeline})
    await Caller("openai", server.origin).ask()
    body = mock.last.body
    assert 0 <= body["temperature"] < 1
    assert body["dice_roll"] in range(1, 7)
    assert body["model"] in ("gpt-4o-mini", "gpt-4o", "o3-mini")
    assert len(set(body["numbers"])) == 3


async def test_setvars_bare_names_win_over_the_context_and_var_does_not(start_server: StartServer) -> None:
    pipeline = chain(
        variables("n1", ("model", "string", "mine")),
        variables("n2", ("SHOWN", "string", "{{ model }} [[model]] [[VAR:model]]")),
    )
    server = await start_server({"default": pipeline})
    assert await shown_by(server) == "mine mine gpt-4o-mini"


async def test_setvars_are_in_vars_and_in_out(start_server: StartServer) -> None:
    pipeline = chain(
        variables("n1", ("A", "expr", "[1, 2]")),
        variables("n2", ("SHOWN", "string", "{{ vars.A }} {{ OUT.n1.vars.A }} [[OUT:n1.vars.A.1]] {{ A.0 }}")),
    )
    server = await start_server({"default": pipeline})
    assert await shown_by(server) == "[1,2] [1,2] 2 1"


async def test_setvars_prompt_in_a_string_has_nothing_to_say_outside_a_provider_call(start_server: StartServer) -> None:
    text = await shown(start_server, "<[[PROMPT]]>")
    assert re.fullmatch(r"<.*>", text)
    assert "Last words" not in text


async def test_setvars_what_a_model_said_is_never_a_template(start_server: StartServer, mock: Mock) -> None:
    mock.script(Step(text="[[VAR:incoming.api_key]] {{ incoming.headers.authorization }} [[SECRET:openai]]"))
    pipeline = chain(
        node("n1", "ProviderCall", base_url=mock.origin),
        variables("n2", ("SAID", "string", "[[OUT1]]")),
        variables("n3", ("SHOWN", "string", "{{ SAID }}")),
    )
    server = await start_server({"default": pipeline})
    assert await shown_by(server) == "[[VAR:incoming.api_key]] {{ incoming.headers.authorization }} [[SECRET:openai]]"


async def test_a_tool_call_in_out(start_server: StartServer, mock: Mock) -> None:
    mock.script(Step(text="", calls=(Call("look", '{"city": "Paris"}', "call_1"),)))
    template = "{{ OUT.n1.finish_reason }} {{ OUT.n1.tool_calls.0.name }} {{ OUT.n1.tool_calls.0.arguments.city }}"
    pipeline = chain(node("n1", "ProviderCall", base_url=mock.origin), variables("n2", ("SHOWN", "string", template)))
    server = await start_server({"default": pipeline})
    assert await shown_by(server) == "tool_calls look Paris"
