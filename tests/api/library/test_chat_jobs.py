"""Chats come in and go out in the background over HTTP, as they do at once."""

import asyncio
from typing import Any

import pytest

from agentui.api.keys import JOBS
from agentui.jsonio import Json, dumps
from agentui.library import chat_jobs
from tests.api.chats.conftest import Reader
from tests.api.library.conftest import refusal
from tests.api.library.test_files import download, upload
from tests.unit.assets.test_chats import CHAT

PATH = "/chat-transfer-jobs"


async def asked(caller: Reader, path: str, body: Json = None) -> Any:
    """A job that was put down."""
    answer = await caller.post(path, body)
    assert answer.status == 202, answer.text
    return answer.body["data"]


async def ended(caller: Reader, job: Json) -> Any:
    """The job once it has ended."""
    async with asyncio.timeout(60):
        while True:
            shown = (await caller.get(f"{PATH}/{job['id']}")).body["data"]
            if shown["finished_at"] is not None:
                return shown
            await asyncio.sleep(0.02)


async def ids(caller: Reader, query: str) -> list[str]:
    """The jobs of a list."""
    listed = await caller.get(f"{PATH}?{query}")
    assert listed.status == 200, listed.text
    assert listed.body["meta"]["total"] == len(listed.body["data"])
    return [job["id"] for job in listed.body["data"]]


async def test_a_chat_comes_in_and_goes_out_as_it_does_at_once(caller: Reader) -> None:
    job = await asked(caller, "/import/chat/jobs", {"data": CHAT.decode(), "title": "Night"})
    assert job["id"].startswith("chat-transfer-job:import_chat:") and len(job["id"]) == 42
    assert (job["job_kind"], job["max_attempts"], job["result"], job["error"]) == ("import_chat", 3, None, None)
    came = await ended(caller, job)
    assert (came["status"], came["format"], came["attempt_count"]) == ("succeeded", "st_jsonl", 1), came
    at_once = await caller.make("/import/chat", data=CHAT.decode())
    own = {
        "sessionId": came["result_session_id"],
        "format": "st_jsonl",
        "fileName": None,
        "contentType": None,
        "messageCount": at_once["message_count"],
        "byteLength": None,
    }
    of_session = {"session_id": came["result_session_id"], **own}
    assert came["result"] == {key: at_once[key] for key in came["result"] if key not in own} | of_session
    assert (came["phase"], came["request"], came["last_error"]) == ("completed", {"title": "Night", "characterId": None}, None)
    session = f"/export/chat/{came['result_session_id']}"
    assert (await caller.get(f"/sessions/{came['result_session_id']}")).body["data"]["title"] == "Night"

    lines = await ended(caller, await asked(caller, f"{session}/jobs", {"format": "st_jsonl"}))
    whole = await ended(caller, await asked(caller, f"{session}/jobs"))
    assert (lines["file"]["name"], whole["file"]["name"]) == ("Night.jsonl", "Night.thchat")
    for out, query in ((lines, "?format=st_jsonl"), (whole, "")):
        data, headers = await download(caller, f"{PATH}/{out['id']}/file")
        wanted, direct = await download(caller, f"{session}{query}")
        assert data == wanted and len(data) == out["file"]["size"]
        assert headers["content-type"] == direct["content-type"] == out["file"]["content_type"]
        assert headers["content-disposition"] == direct["content-disposition"]
        assert (out["result"]["fileName"], out["result"]["byteLength"]) == (out["file"]["name"], len(data))
        assert out["output_expires_at"] == out["file"]["expires_at"]

    status, sent = await upload(caller, "/import/chat/jobs", dumps({"spec": "thchat", "floors": []}), title="Empty")
    assert status == 202, sent
    empty = await ended(caller, sent["data"])
    assert (empty["status"], empty["format"]) == ("succeeded", "thchat")
    lost = await ended(caller, await asked(caller, "/import/chat/jobs", {"data": CHAT.decode(), "character_id": "nobody"}))
    assert (lost["status"], lost["error"]["code"]) == ("dead_letter", "character_not_found")
    bad = await ended(caller, await asked(caller, "/import/chat/jobs", {"data": "no chat"}))
    at_once_bad = (await caller.post("/import/chat", {"data": "no chat"})).body["error"]
    assert (bad["status"], bad["attempt_count"], bad["result_session_id"]) == ("dead_letter", 1, None)
    assert bad["error"] == at_once_bad and bad["last_error"] == at_once_bad["message"]

    everything = [came["id"], lines["id"], whole["id"], empty["id"], lost["id"], bad["id"]]
    assert await ids(caller, "sort_order=asc") == everything
    assert await ids(caller, "job_kind=export_chat&sort_by=created_at&sort_order=asc") == [lines["id"], whole["id"]]
    assert await ids(caller, "format=sillytavern_jsonl&sort_order=asc") == [came["id"], lines["id"]]
    assert await ids(caller, f"result_session_id={came['result_session_id']}") == [came["id"]]
    assert await ids(caller, f"requested_session_id={came['result_session_id']}&format=thchat") == [whole["id"]]
    assert await ids(caller, "status=dead_letter&sort_by=updated_at") == [bad["id"], lost["id"]]
    assert await ids(caller, "status=leased") == []
    assert await ids(caller, f"created_to={came['created_at'] - 1}") == []
    assert await ids(caller, f"available_from={bad['available_at']}&available_to={2**53}") == [bad["id"]]
    part = (await caller.get(f"{PATH}?limit=2&offset=1&sort_order=asc")).body
    assert [job["id"] for job in part["data"]] == everything[1:3] and part["meta"]["total"] == 6

    assert await refusal(caller.get(f"{PATH}/{came['id']}/file")) == (409, "artifact_unavailable")
    assert await refusal(caller.post(f"{PATH}/{came['id']}/cancel")) == (409, "invalid_state")
    assert await refusal(caller.post(f"{PATH}/{came['id']}/retry")) == (409, "invalid_state")
    again = await caller.post(f"{PATH}/{bad['id']}/retry")
    assert (again.status, again.body["data"]["status"], again.body["data"]["error"]) == (200, "retry_waiting", None)
    assert (await ended(caller, bad))["status"] == "dead_letter"
    await caller.server.state.store.write(chat_jobs.tidy, whole["finished_at"] + chat_jobs.KEPT_MS + 1)
    assert await refusal(caller.get(f"{PATH}/{whole['id']}/file")) == (410, "artifact_expired")
    assert (await caller.get(f"{PATH}/{whole['id']}")).body["data"]["file"] is None


async def test_a_job_that_waits_can_be_cancelled_and_asked_for_once(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    await reader.server.app[JOBS].close()  # nothing is done meanwhile
    body = {"data": CHAT.decode()}
    first, again = [await reader.post("/import/chat/jobs", body, Idempotency_Key="k") for _ in range(2)]
    assert (first.status, again.text) == (202, first.text)
    monkeypatch.setattr(chat_jobs, "MOST_JOBS", 1)
    refused = await reader.post("/import/chat/jobs", body)
    assert (refused.status, refused.code, refused.headers["retry-after"]) == (429, "too_many_jobs", "5")
    path = f"{PATH}/{first.body['data']['id']}"
    cancelled = (await reader.post(f"{path}/cancel")).body["data"]
    assert (cancelled["status"], cancelled["attempt_count"]) == ("cancelled", 0)
    assert await refusal(reader.post(f"{path}/cancel")) == (409, "invalid_state")
    assert (await reader.post(f"{path}/retry")).body["data"]["status"] == "retry_waiting"
    session = await reader.session_id(title="x")
    assert await refusal(reader.post(f"/export/chat/{session}/jobs")) == (429, "too_many_jobs")
    monkeypatch.undo()
    waiting = await asked(reader, f"/export/chat/{session}/jobs", {"include_variables": False})
    assert await refusal(reader.get(f"{PATH}/{waiting['id']}/file")) == (409, "invalid_state")
    assert await refusal(reader.post("/export/chat/nobody/jobs")) == (404, "not_found")
    assert await refusal(reader.post(f"/export/chat/{session}/jobs", {"branch_id": "no"})) == (404, "branch_not_found")
    for refused in [await reader.get(f"{PATH}/nobody"), await reader.get(f"{PATH}/nobody/file")]:
        assert (refused.status, refused.code) == (404, "not_found")
    for action in ("cancel", "retry"):
        assert await refusal(reader.post(f"{PATH}/nobody/{action}")) == (404, "not_found")
    for wrong in ("status=lost", "limit=101", "sort_by=title", "created_from=-1", "format=csv"):
        assert await refusal(reader.get(f"{PATH}?{wrong}")) == (400, "validation_error")
    assert await refusal(reader.post("/import/chat/jobs", {"title": "x"})) == (400, "validation_error")
    large = "x" * (16 * 1024 * 1024 + 1)
    assert await refusal(reader.post("/import/chat/jobs", {"data": large})) == (413, "payload_too_large")
