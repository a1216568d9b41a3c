"""Tools that are requests: what a model's arguments become, and what they cannot."""

from urllib.parse import unquote

import pytest
from aiohttp import ClientSession
from hypothesis import given
from hypothesis import strategies as st

from agentui.definitions.http import HttpTemplates
from agentui.definitions.records import HttpHandler
from agentui.definitions.templates import arguments_scope
from agentui.errors import AgentUIError, BadRequest, Forbidden, UpstreamInvalid, UpstreamUnreachable
from agentui.jsonio import Json
from agentui.templating.core.problems import TemplateRenderError
from agentui.tools.errors import OutcomeUnknown
from tests.api.editor_client import say
from tests.conftest import StartServer
from tests.definitions.conftest import Reader, Service, called

WORDS = st.text(min_size=1, max_size=40)


def weather(service: Service, **said: Json) -> HttpHandler:
    """A request to the service."""
    fields = {"method": "GET", "url": service.origin + "/weather/{{ args.city }}?units={{ args.units }}", **said}
    return HttpHandler(**fields)


async def test_arguments_stand_where_the_templates_have_them(reader: Reader, service: Service) -> None:
    answer = await called(reader, weather(service), {"city": "Köln am Rhein", "units": "°C & more"})
    assert (answer.text, answer.is_error) == ('{"weather": "sunny"}', False)
    assert answer.value == {"status": 200, "content_type": "application/json", "body": {"weather": "sunny"}}
    body = '{"city": "{{ args.city }}", "days": {{ args.days }}, "all": {{ args }}}'
    posting = weather(service, method="POST", body=body, headers={"X-City": "{{ args.city }}", "x-none": "{{ args.none }}"})
    arguments = {"city": 'a", "admin": "yes', "days": [1, 2]}
    await called(reader, posting, arguments)
    first, second = service.asked
    assert (first.method, first.path) == ("GET", "/weather/K%C3%B6ln%20am%20Rhein?units=%C2%B0C%20%26%20more")
    assert second.json == {"city": arguments["city"], "days": [1, 2], "all": arguments}
    assert (second.headers["x-city"], second.headers["content-type"]) == (arguments["city"], "application/json")


@given(city=WORDS, units=WORDS)
def test_an_argument_stays_one_part_of_the_address(city: str, units: str) -> None:
    """Whatever a model writes: host, path and query are what the definition says."""
    handler = HttpHandler("GET", "https://a.example/weather/{{ args.city }}/now?units={{ args.units }}&b=1")
    try:
        url = HttpTemplates.of(handler).url.render(arguments_scope({"city": city, "units": units}))
    except TemplateRenderError:
        return
    address, _, query = url.partition("?")
    origin, segment, last = address.rsplit("/", 2)
    assert (origin, last) == ("https://a.example/weather", "now")
    assert segment not in ("", ".", "..") and not set(segment) & set("/\\?#@: \r\n")
    name, _, value = query.partition("=")
    assert (name, value.partition("&")[2]) == ("units", "b=1")
    assert not set(value.partition("&")[0]) & set("&=#? \r\n")
    if city.isascii():
        assert unquote(segment) == city


@pytest.mark.parametrize("city", ["..", ".", "../admin", "a\r\nx: y", "", None])
async def test_an_argument_that_would_be_another_address_is_told_so(reader: Reader, service: Service, city: Json) -> None:
    deleting = weather(service, method="DELETE")
    if city == "../admin":  # a name like another one: its slash is no slash
        await called(reader, deleting, {"city": city, "units": "C"})
        assert service.asked[0].path == "/weather/..%2Fadmin?units=C"
        return
    with pytest.raises(BadRequest):
        await called(reader, deleting, {"city": city, "units": "C"})
    assert service.asked == []


async def test_an_argument_brings_no_header(reader: Reader, service: Service) -> None:
    handler = weather(service, headers={"x-city": "{{ args.city }}"})
    for city in ("a\r\nauthorization: stolen", "a\nb", "a\0b"):
        with pytest.raises(AgentUIError):
            await called(reader, handler, {"city": city, "units": "C"})
    assert service.asked == []


async def test_an_address_has_an_end(reader: Reader, service: Service) -> None:
    with pytest.raises(BadRequest, match="longer than"):
        await called(reader, weather(service), {"city": "a" * 10_000, "units": "C"})
    assert service.asked == []


@pytest.mark.parametrize("host", [
    "169.254.169.254", "metadata.google.internal", "127.0.0.1", "10.0.0.1", "[::1]", "0x7f.1", "localhost", "[::ffff:10.0.0.1]",
])  # fmt: skip
async def test_requests_go_where_every_call_may_go(start_server: StartServer, host: str) -> None:
    server = await start_server({"default": say()}, allow_private=False)
    async with ClientSession() as session:
        caller = Reader(server, session)
        made = await caller.make("/tools/definitions", name="x", handler_type="http", handler={"url": f"http://{host}/x"})
        with pytest.raises(UpstreamUnreachable):
            await called(caller, HttpHandler("GET", made["handler"]["url"]), {})


async def test_this_server_is_not_called(reader: Reader) -> None:
    with pytest.raises(UpstreamUnreachable, match="this server itself"):
        await called(reader, HttpHandler("GET", f"{reader.server.origin}/api/secrets"), {})


async def test_a_key_goes_only_where_it_is_bound_to_and_never_to_the_model(start_server: StartServer, service: Service) -> None:
    key = "the-key-0123456789"
    env = {"AGENTUI_SECRET_WEATHER": key, "AGENTUI_SECRET_WEATHER_ORIGINS": service.origin}
    server = await start_server(
        {"default": say()},
        secret_env={**env, "AGENTUI_SECRET_BANK": key, "AGENTUI_SECRET_BANK_ORIGINS": "https://bank.example"},
    )
    async with ClientSession() as session:
        caller = Reader(server, session)
        service.body = f'{{"you": "Bearer {key}"}}'.encode()
        sent = {"authorization": "Bearer [[SECRET:weather]]"}
        answer = await called(caller, weather(service, headers=sent), {"city": "Oslo", "units": "C"})
        assert service.asked[0].headers["authorization"] == f"Bearer {key}"
        assert key not in server.state.redactor.redact(answer.text)
        for stolen in (
            {"headers": {"authorization": "[[SECRET:bank]]"}},
            {"url": service.origin + "/{{ args.city }}?key=[[SECRET:bank]]"},
            {"method": "POST", "body": '{"key": "[[SECRET:bank]]"}'},
        ):
            with pytest.raises(Forbidden):
                await called(caller, weather(service, **stolen), {"city": "Oslo", "units": "C"})
        await called(caller, weather(service), {"city": "[[SECRET:weather]]", "units": "{{ 1 }}"})
        assert "SECRET" in service.asked[-1].path and key not in service.asked[-1].path
        assert len(service.asked) == 2


@pytest.mark.parametrize("status", [404, 500])
async def test_what_is_no_success_is_told_as_an_error(reader: Reader, service: Service, status: int) -> None:
    service.status = status
    answer = await called(reader, weather(service), {"city": "Oslo", "units": "C"})
    assert answer.is_error and f"status {status}" in answer.text
    assert len(service.asked) == 1, "not tried again"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed(reader: Reader, service: Service, status: int) -> None:
    service.status, service.headers = status, {"location": f"{service.origin}/elsewhere"}
    with pytest.raises(UpstreamInvalid, match="redirects"):
        await called(reader, weather(service), {"city": "Oslo", "units": "C"})
    assert len(service.asked) == 1


async def test_a_giant_answer_is_cut(reader: Reader, service: Service) -> None:
    service.content_type, service.body = "text/plain", b"a" * 3_000_000
    answer = await called(reader, weather(service, max_response_bytes=1000), {"city": "Oslo", "units": "C"})
    assert answer.text.startswith("a" * 1000 + "\n[Only the first 1000 bytes")
    assert len(answer.text) < 1200


async def test_what_is_no_text_is_only_named(reader: Reader, service: Service) -> None:
    service.content_type, service.body = "image/png", b"\x89PNG" + b"\0" * 100
    assert (
        await called(reader, weather(service), {"city": "a", "units": "C"})
    ).text == "[104 bytes of image/png, which is no text]"
    service.content_type, service.body = "application/json", b"{"
    answer = await called(reader, weather(service), {"city": "a", "units": "C"})
    assert (answer.text, answer.is_error) == ("{", False)


async def test_a_request_whose_answer_never_came_may_have_done_something(reader: Reader, service: Service) -> None:
    service.breaks = True
    with pytest.raises(OutcomeUnknown):
        await called(reader, weather(service, method="DELETE"), {"city": "a", "units": "C"}, "irreversible")
    assert len(service.asked) == 1, "not tried again"
    with pytest.raises(AgentUIError) as caught:
        await called(reader, weather(service), {"city": "a", "units": "C"})
    assert not isinstance(caught.value, OutcomeUnknown)
