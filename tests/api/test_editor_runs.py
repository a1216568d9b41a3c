"""Runs over HTTP: listed, followed, read and stopped."""

import asyncio

import pytest

from agentui.jsonio import Json
from agentui.pipeline.history import client_of
from agentui.store.paging import MAX_PART_BYTES
from tests.api.editor_client import CALLER, Editor, editing, say
from tests.conftest import StartServer, call
from tests.upstreams.server import API_KEY, Mock


async def finished(editor: Editor) -> Json:
    """A run that went well, in full."""
    assert (await editor.chat()).status == 200
    return (await editor.get(f"/api/runs/{(await editor.only_run())['id']}")).body


async def test_a_run_is_listed_and_tells_its_story(start_server: StartServer, mock: Mock) -> None:
    async with editing(await start_server({"default": call("openai", mock.origin)})) as editor:
        run = await finished(editor)
    assert (run["pipeline"], run["state"], run["vendor"], run["model"]) == ("default", "finished", "openai", "text")
    types = [event["type"] for event in run["events"]]
    assert (types[0], types[-1]) == ("run.started", "run.finished")
    assert {"node.started", "node.request", "node.finished"} <= set(types)
    assert [event["seq"] for event in run["events"]] == list(range(len(types)))
    assert run["event_count"] == len(types)


async def test_no_key_is_in_what_the_editor_reads(start_server: StartServer, mock: Mock) -> None:
    async with editing(await start_server({"default": call("openai", mock.origin)})) as editor:
        await editor.chat(API_KEY)
        run_id = (await editor.only_run())["id"]
        for path in ("/api/runs", f"/api/runs/{run_id}", f"/api/runs/{run_id}/events/2"):
            assert API_KEY not in (await editor.get(path)).text
        async with editor.session.get(f"{editor.server.origin}/api/runs/{run_id}/events") as response:
            assert API_KEY not in await response.text()


async def test_the_list_is_narrowed_by_words_pipeline_and_state(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say("one"), "other": say("two")})) as editor:
        await editor.chat("alpha")
        await editor.chat("beta", "/p/other/v1/chat/completions")

        async def models(query: str) -> list[str]:
            return [run["model"] for run in (await editor.get(f"/api/runs{query}")).body]

        assert await models("") == ["beta", "alpha"]
        assert await models("?limit=1") == ["beta"]
        assert await models("?q=ALPH") == ["alpha"]
        assert await models("?pipeline=other") == ["beta"]
        assert await models("?state=failed") == []
        for bad in ("?limit=0", "?limit=x", "?limit=99999", "?state=sleeping"):
            assert (await editor.get(f"/api/runs{bad}")).status == 400


async def test_large_data_is_summarised_and_there_in_full_behind_a_link(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say("x" * 20_000)})) as editor:
        run = await finished(editor)
        event = next(event for event in run["events"] if event["type"] == "node.finished")
        assert event["data"]["bytes"] > 20_000
        whole = (await editor.get(event["data"]["link"])).body
        assert whole["data"]["vars"]["word"] == "x" * 20_000
        assert (await editor.get(f"/api/runs/{run['id']}/events/999")).status == 404
        assert (await editor.get(f"/api/runs/{run['id']}/events/-1")).status == 400


async def test_events_are_followed_while_they_happen_to_the_end(start_server: StartServer, mock: Mock) -> None:
    async with editing(await start_server({"default": call("openai", mock.origin)})) as editor:
        calling = asyncio.ensure_future(editor.start("hang-mid"))
        await mock.was_asked()
        run_id = (await editor.only_run())["id"]
        seen = []
        async with editor.stream(f"/api/runs/{run_id}/events") as events:
            async for name, event in events:
                seen.append(name)
                assert event["type"] == name
                if name == "node.chunk":
                    mock.release()
        assert seen[-1] == "run.finished"
        assert "node.chunk" in seen
        assert b"[DONE]" in await (await calling).read()


@pytest.mark.parametrize("how", ["header", "query"])
async def test_a_reader_that_comes_back_gets_what_it_missed(start_server: StartServer, how: str) -> None:
    async with editing(await start_server({"default": say()})) as editor:
        run = await finished(editor)
        path = f"/api/runs/{run['id']}/events"
        last = run["event_count"] - 1
        headers = {"last_event_id": "1"} if how == "header" else {}
        async with editor.stream(path if headers else f"{path}?after=1", **headers) as events:
            assert [event["seq"] async for _, event in events] == list(range(2, last + 1))
        assert (await editor.get(path, last_event_id=str(last))).status == 204
        assert (await editor.get(f"{path}?after=nonsense")).status == 400
        assert (await editor.get("/api/runs/none/events")).status == 404


async def test_every_event_carries_its_number_as_its_id(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say()})) as editor:
        run = await finished(editor)
        async with editor.session.get(f"{editor.server.origin}/api/runs/{run['id']}/events") as response:
            text = await response.text()
            assert response.headers["x-content-type-options"] == "nosniff"
    ids = [line for line in text.splitlines() if line.startswith("id: ")]
    assert ids == [f"id: {number}" for number in range(run["event_count"])]


async def test_a_silent_stream_is_kept_alive(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin)}, heartbeat=0.01)
    async with editing(server) as editor, editor.session.get(f"{server.origin}/api/runs/live") as response:
        assert (await response.content.readany()).startswith(b": \n")
        await editor.chat()
        async for line in response.content:
            if line.startswith(b"event: run"):
                break


async def test_runs_of_any_client_are_heard_of_as_they_begin(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say()})) as editor:
        await editor.chat("before")
        before = (await editor.only_run())["id"]
        async with editor.stream("/api/runs/live") as events:
            await editor.chat("now")
            name, run = await anext(events)
        assert (name, run) == ("run", {"run": (await editor.only_run())["id"], "pipeline": "default"})
        async with editor.stream("/api/runs/live", last_event_id=before) as events:
            assert (await anext(events))[1] == run


async def test_a_stopped_run_ends_and_so_does_its_upstream_call(start_server: StartServer, mock: Mock) -> None:
    async with editing(await start_server({"default": call("openai", mock.origin)})) as editor:
        calling = asyncio.ensure_future(editor.start("forever"))
        await mock.was_asked()
        run_id = (await editor.only_run())["id"]
        stopped = await editor.post(f"/api/runs/{run_id}/cancel")
        assert (stopped.status, stopped.body["state"]) == (202, "cancelled")
        await mock.is_idle()
        again = await editor.post(f"/api/runs/{run_id}/cancel")
        assert (again.status, again.code) == (409, "conflict")
        assert (await editor.post("/api/runs/none/cancel")).status == 404
        calling.cancel()
        await asyncio.wait({calling})


async def test_the_server_stops_while_somebody_listens(start_server: StartServer) -> None:
    server = await start_server({"default": say()})
    async with editing(server) as editor, editor.stream("/api/runs/live") as events:
        waiting = asyncio.ensure_future(anext(events, None))
        await asyncio.sleep(0)
        await server.app.shutdown()
        assert await waiting is None


async def test_a_page_that_is_closed_leaves_no_listener_behind(start_server: StartServer, mock: Mock) -> None:
    server = await start_server({"default": call("openai", mock.origin)}, heartbeat=0.01)
    async with editing(server) as editor:
        calling = asyncio.ensure_future(editor.start("hang"))
        await mock.was_asked()
        before = len(asyncio.all_tasks())
        run_id = (await editor.only_run())["id"]
        for path in ("/api/runs/live", f"/api/runs/{run_id}/events"):
            async with editor.session.get(server.origin + path) as response:
                await response.content.readany()
        for _ in range(1000):
            if len(asyncio.all_tasks()) <= before:
                break
            await asyncio.sleep(0.01)
        assert len(asyncio.all_tasks()) <= before
        mock.release()
        await calling


async def test_a_run_tells_its_request_and_the_document_that_ran(start_server: StartServer, mock: Mock) -> None:
    document = call("openai", mock.origin)
    async with editing(await start_server({"default": document})) as editor:
        run = await finished(editor)
        await editor.put("/api/pipelines/default", say("something else"), if_match="*")
        again = (await editor.get(f"/api/runs/{run['id']}")).body
        assert again["document"] == document
        asked = again["request"]
        assert (asked["method"], asked["path"], asked["query"]) == ("POST", "/v1/chat/completions", "")
        assert asked["body"] == {"model": "text", "messages": [{"role": "user", "content": "Hello!"}]}
        assert asked["headers"]["authorization"].startswith("***") and API_KEY not in str(again)
        assert (await editor.get(f"/api/runs/{run['id']}/request")).body == asked
        assert (await editor.get("/api/runs/none/request")).status == 404


async def test_a_large_request_is_summarised_and_there_in_full_behind_a_link(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say()})) as editor:
        await editor.chat(messages=[{"role": "user", "content": "long " * 4000}])
        run = (await editor.get(f"/api/runs/{(await editor.only_run())['id']}")).body
        body = run["request"]["body"]
        assert body["bytes"] > 20_000 and len(body["summary"]) == 500
        whole = (await editor.get(body["link"])).body
        assert whole["body"]["messages"][0]["content"] == "long " * 4000


async def test_a_key_in_the_query_and_one_in_the_document_are_masked(start_server: StartServer, mock: Mock) -> None:
    literal = "Bearer sk-written-into-the-pipeline-0123456789"
    server = await start_server({"default": call("gemini", mock.origin, headers={"Authorization": literal})})
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    async with editing(server) as editor:
        await editor.post(f"/v1beta/models/text:generateContent?key={API_KEY}", body)
        run = await editor.get(f"/api/runs/{(await editor.only_run())['id']}")
    assert run.body["request"]["query"] == "key=***"
    assert API_KEY not in run.text and literal not in run.text


async def test_a_line_of_the_history_tells_chat_client_and_tokens(start_server: StartServer, mock: Mock) -> None:
    forward = {"format": 1, "name": "raw", "nodes": [{"id": "n1", "type": "RawForward", "config": {"base_url": mock.origin}}]}
    async with editing(await start_server({"default": call("openai", mock.origin), "raw": forward, "words": say()})) as editor:
        body = {"model": "text", "messages": [{"role": "user", "content": "Hello!"}]}
        headers = {**CALLER, "user-agent": "SillyTavern/1.13 (x)", "x-agentui-session": "evening"}
        answer = await editor.call("POST", "/v1/chat/completions", body, headers)
        for path in ("/p/raw/v1/chat/completions", "/p/words/v1/chat/completions"):
            await editor.chat(path=path)
        words, raw, chat = (await editor.get("/api/runs")).body
        usage = answer.body["usage"]
        for line in (raw, chat):
            assert (line["input_tokens"], line["output_tokens"]) == (usage["prompt_tokens"], usage["completion_tokens"])
        assert (words["input_tokens"], words["output_tokens"]) == (None, None)
        assert (chat["origin"], chat["client"], chat["branch"]) == ("client", "SillyTavern", "main")
        # The model that was asked is told; what was forwarded unread asked for what the caller named, what called nothing none.
        assert (chat["model"], chat["models"], raw["models"], words["models"]) == ("text", ["text"], [], [])
        assert chat["session"] == answer.headers["x-agentui-session"] and chat["floor"] == answer.headers["x-agentui-floor"]
        assert (raw["session"], raw["branch"], raw["floor"]) == (None, None, None)
        for words_of in ("sillytavern", chat["session"], "client silly"):
            assert [line["id"] for line in (await editor.get(f"/api/runs?q={words_of}")).body] == [chat["id"]]


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("OpenAI/Python 1.52.0", "OpenAI"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge"),
        ("Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36", "Chrome"),
        ("Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15", "Safari"),
        ("Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox"),
        ("Mozilla/5.0 (compatible)", "Mozilla"),
        ("(nothing else)", None),
        ("x" * 100, "x" * 60),
        ("", None),
    ],
)
def test_a_client_is_called_by_its_programs_name(user_agent: str, name: str | None) -> None:
    assert client_of(user_agent) == name


async def test_a_list_is_never_larger_than_an_answer_may_be(start_server: StartServer) -> None:
    async with editing(await start_server({"default": say("one")})) as editor:
        for number in range(4):
            await editor.chat(f"{number}" + "m" * (MAX_PART_BYTES // 3))
        listed = await editor.get("/api/runs")
        assert [run["model"][0] for run in listed.body] == ["3", "2"]
        assert len(listed.text) <= MAX_PART_BYTES
        assert listed.headers["x-agentui-next"] == listed.body[-1]["id"]
        rest = await editor.get(f"/api/runs?before={listed.headers['x-agentui-next']}")
        assert [run["model"][0] for run in rest.body] == ["1", "0"]
        assert "x-agentui-next" not in rest.headers
