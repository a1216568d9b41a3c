"""Regex scripts are tried on a text without anything being kept."""

import pytest

from agentui.jsonio import Json
from tests.api.chats.conftest import Reader


def script(**members: Json) -> dict[str, Json]:
    return {"scriptName": "s", "findRegex": "/a/g", "replaceString": "b", "placement": [2], **members}


async def test_each_channel_says_what_it_makes(reader: Reader) -> None:
    scripts = [script(), script(scriptName="shown", replaceString="<i>{{match}}</i>", markdownOnly=True)]
    got = await reader.post("/regex-profiles/test", {"scripts": scripts, "text": "aa"})
    assert got.status == 200
    assert {channel: made["text"] for channel, made in got.body["data"].items()} == {
        "persist": "bb",
        "prompt": "aa",
        "display": "<i>a</i><i>a</i>",
        "edit": "aa",
    }
    assert got.body["data"]["persist"]["trace"] == [
        {"name": "s", "matches": 2, "skipped": None, "error": ""},
        {"name": "shown", "matches": 0, "skipped": "channel_filtered", "error": ""},
    ]


async def test_placement_depth_and_macros_count(reader: Reader) -> None:
    sent = {
        "scripts": [script(findRegex="{{user}}", substituteRegex=2, replaceString="{{char}}", placement=[1], maxDepth=1)],
        "text": "I am A.",
        "macros": {"user": "A.", "char": "B"},
    }
    for placement, depth, text in ((1, 1, "I am B"), (1, None, "I am B"), (1, 2, "I am A."), (2, 1, "I am A.")):
        got = await reader.post("/regex-profiles/test", {**sent, "placement": placement, "depth": depth})
        assert got.body["data"]["persist"]["text"] == text


async def test_a_script_that_is_none_is_told(reader: Reader) -> None:
    got = await reader.post(
        "/regex-profiles/test", {"scripts": [script(findRegex="/(/"), script(findRegex="/(a+)+$/")], "text": "a" * 5000 + "b"}
    )
    broken, endless = got.body["data"]["persist"]["trace"]
    assert (broken["skipped"], endless["skipped"]) == ("invalid_regex", "timed_out")
    assert "at character" in broken["error"]


@pytest.mark.parametrize(
    "body", [{}, {"scripts": [], "text": "a"}, {"scripts": [1], "text": "a"}, {"scripts": [{}], "text": "a", "placement": 4}]
)
async def test_what_does_not_fit_is_refused(reader: Reader, body: Json) -> None:
    got = await reader.post("/regex-profiles/test", body)
    assert (got.status, got.body["error"]["code"]) == (400, "validation_error")
