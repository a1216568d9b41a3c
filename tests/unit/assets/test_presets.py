"""Prompt presets and regex scripts: nothing is lost but keys and addresses, and the report says what happened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.presets import read_preset, write_preset
from agentui.assets.files.scripts import read_scripts, scripts_digest, write_scripts
from agentui.jsonio import Json, loads
from agentui.library.content import wrong_content
from tests.unit.assets.values import ANYTHING, OBJECTS

LIMITS = FileLimits()


def test_a_preset_is_kept_without_keys_and_addresses() -> None:
    read = read_preset(
        {
            "temperature": 0.7,
            "reverse_proxy": "https://proxy.example",
            "proxy_password": "hunter2",
            "custom_url": "",
            "extensions": {"mine": {"api_key": "sk-1", "list": [{"Authorization": "Bearer x", "keep": 1}]}},
            "unheard_of": True,
        },
        LIMITS,
    )
    assert read.content == {"temperature": 0.7, "extensions": {"mine": {"list": [{"keep": 1}]}}, "unheard_of": True}
    assert read.report.dropped_fields == [
        "top_level.reverse_proxy",
        "top_level.proxy_password",
        "top_level.extensions.mine.api_key",
        "top_level.extensions.mine.list[].Authorization",
    ]
    assert "top_level.unheard_of" in read.report.ignored_fields
    assert "hunter2" not in str(read.report) and "sk-1" not in str(read.report)


def test_a_preset_is_written_without_keys_that_came_in_later() -> None:
    assert loads(write_preset({"temperature": 1, "proxy_password": "hunter2"})) == {"temperature": 1}


def test_the_track_that_counts_is_told() -> None:
    tracks = [{"character_id": id, "order": [{"identifier": "main", "enabled": True}]} for id in (100000, 200001, 100001)]
    report = read_preset({"prompts": [], "prompt_order": tracks}, LIMITS).report
    assert (report.selected_track, report.ignored_tracks) == (100001, [100000, 200001])


def test_names_in_camel_case_are_read() -> None:
    document = {
        "topP": 0.5,
        "promptOrder": [{"identifier": "a", "enabled": True}],
        "prompts": [{"identifier": "a", "forbidOverrides": True}],
    }
    read = read_preset(document, LIMITS)
    assert read.content == {
        "top_p": 0.5,
        "prompt_order": [{"character_id": 100001, "order": [{"identifier": "a", "enabled": True}]}],
        "prompts": [{"identifier": "a", "forbid_overrides": True}],
    }
    assert len(read.report.downgraded_entries) == 3


def test_prompts_that_no_track_can_call_are_left_out_and_told() -> None:
    prompts: list[Json] = [{"identifier": "a", "x": 1}, {"identifier": "a"}, {"name": "nobody"}, 5]
    orders: list[Json] = [{"character_id": 1, "order": [{"identifier": "a"}, 5]}, {"character_id": 2}]
    read = read_preset({"prompts": prompts, "prompt_order": orders}, LIMITS)
    assert read.content["prompts"] == [{"identifier": "a", "x": 1}]
    assert read.content["prompt_order"] == [
        {"character_id": 1, "order": [{"identifier": "a"}]},
        {"character_id": 2, "order": []},
    ]
    assert len(read.report.downgraded_entries) == 5
    assert "prompts[].x" in read.report.ignored_fields


def test_a_preset_that_is_none_is_refused() -> None:
    for document, words in (([], "object"), ({"a": 1}, "no chat completion preset"), ({"prompts": {}}, "prompts: ")):
        with pytest.raises(InvalidFile, match=words):
            read_preset(document, LIMITS)


@given(
    st.one_of(
        ANYTHING,
        st.builds(lambda one, two, odd: {**odd, "prompts": one, "prompt_order": two}, *[st.lists(OBJECTS)] * 2, OBJECTS),
    )
)
def test_a_preset_of_anything_is_read_or_refused_and_comes_back(document: Json) -> None:
    try:
        read = read_preset(document, LIMITS)
    except InvalidFile as refused:
        assert str(refused)
    else:
        again = read_preset(loads(write_preset(read.content)), LIMITS)
        assert again.content == read.content
        assert not again.report.dropped_fields and not again.report.downgraded_entries


SCRIPT = {"id": "1", "scriptName": "Waves", "findRegex": "/sea/g", "minDepth": None, "odd": {"kept": True}}


def test_scripts_come_as_one_or_as_many_and_go_out_as_a_list() -> None:
    one = read_scripts(SCRIPT, "", LIMITS)
    assert one.content == {"name": "Waves", "scripts": [SCRIPT]}
    assert one.report.ignored_fields == ["[].odd"]
    many = read_scripts([SCRIPT, SCRIPT], "Both", LIMITS)
    assert many.content == {"name": "Both", "scripts": [SCRIPT, SCRIPT]}
    assert loads(write_scripts(many.content)) == [SCRIPT, SCRIPT]


@pytest.mark.parametrize(
    ("document", "words"),
    [(5, "an object, or a list"), ([SCRIPT, 5], r"\[1\]: "), ([SCRIPT, {}], r"\[1\]\.findRegex: "), ({}, "^findRegex: ")],
)
def test_scripts_that_are_none_are_refused(document: Json, words: str) -> None:
    with pytest.raises(InvalidFile, match=words):
        read_scripts(document, "", LIMITS)


def test_scripts_are_named_by_what_they_are() -> None:
    assert scripts_digest([]) == ""
    assert scripts_digest([SCRIPT]) == scripts_digest([dict(SCRIPT)])
    assert len({scripts_digest(scripts) for scripts in ([SCRIPT], [SCRIPT, SCRIPT], [{**SCRIPT, "disabled": True}])}) == 3


def test_scripts_of_very_many_characters_are_refused() -> None:
    scripts = [{**SCRIPT, "findRegex": f"/{'a' * 29_990}/"} for _ in range(9)]
    with pytest.raises(InvalidFile, match="have at most 262,144 characters together") as refused:
        read_scripts(scripts, "", LIMITS)
    assert refused.value.is_too_large
    assert wrong_content("regex", {"scripts": scripts}) is not None
    assert wrong_content("regex", {"scripts": scripts[:8]}) is None
    preset = read_preset({"prompts": [], "extensions": {"regex_scripts": scripts}}, LIMITS)
    assert any("regex_scripts" in line for line in preset.report.downgraded_entries)
