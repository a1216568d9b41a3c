"""What a live turn tells of its prompt, what it keeps of it, and prompts of turns that nobody takes."""

from dataclasses import replace

from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.prompt.history import HistoryEntry
from agentui.prompt.prepared import PromptInput
from agentui.templating.sillytavern.scope import MacroScope
from agentui.threads import LONG
from agentui.turns.live.preparing import work_of
from tests.turns.house import House, Json
from tests.turns.talk import Talk, begin_talk
from tests.unit.prompt.parts import NOW, Facts
from tests.upstreams.server import API_KEY
from tests.upstreams.step import Step

SUMMED = "Night falls.<SUMMARY> They camp. </summary> The fire burns.<summary>It is cold.</summary>"


async def dry(talk: Talk, message: str = "Hi", **body: Json) -> Json:
    """What would be sent."""
    status, answer = await talk.post(f"/sessions/{talk.session}/respond/dry-run", {"message": message, **body})
    assert status == 200, answer
    return answer["data"]


async def test_a_dry_run_shows_what_a_turn_sends_and_changes_nothing(house: House) -> None:
    talk = await begin_talk(house, character_snapshot={"name": "Ada", "system_prompt": "You are {{char}}.{{setvar::seen::1}}"})
    await talk.respond("One")
    before = await house.memory.seen(talk.session)
    would = await dry(talk, "Two")
    assert (await house.memory.seen(talk.session), len(house.mock.requests)) == (before, 1)
    assert len(await house.memory.floors(talk.session)) == 1
    assert set(would) == {
        "messages",
        "token_estimate",
        "available_for_reply",
        "memory",
        "memory_summary",
        "prompt_snapshot",
        "assembly",
        "runtime_trace",
    }
    await talk.respond("Two")
    sent = [{name: each[name] for name in ("role", "content")} for each in house.mock.last.body["messages"]]
    assert [{name: each[name] for name in ("role", "content")} for each in would["messages"]] == sent
    assert would["runtime_trace"]["macro"]["staged_mutations"] == []


async def test_a_dry_run_that_cannot_be_says_why(house: House) -> None:
    talk = await begin_talk(house)
    path = f"/sessions/{talk.session}/respond/dry-run"
    assert await talk.refused("/sessions/nobody/respond/dry-run", {"message": "Hi"}) == (404, "not_found")
    assert await talk.refused(path, {"message": ""}) == (400, "validation_error")
    assert await talk.refused(path, {"message": "Hi", "prompt_intent": "sleep"}) == (400, "validation_error")
    assert await talk.refused(path, {"message": "Hi", "session_state_writes": []}) == (400, "validation_error")
    assert await talk.refused(path, {"message": "Hi", "structure": {"mode": "odd"}}) == (400, "validation_error")
    await house.memory.call("PATCH", f"/sessions/{talk.session}", {"status": "archived"})
    assert await talk.refused(path, {"message": "Hi"}) == (409, "session_archived")


async def test_what_a_turn_tells_of_its_prompt_when_it_is_asked(house: House) -> None:
    talk = await begin_talk(house)
    plain = await talk.respond("Hi")
    assert not {"prompt_snapshot", "runtime_trace"} & plain.keys()
    asked = {"include_prompt_snapshot": True, "include_runtime_trace": True, "include_worldbook_matches": True}
    for told in (await talk.respond("Hi", debug_options=asked), (await talk.stream("Hi", debug_options=asked))[-1][1]):
        assert told["prompt_snapshot"]["prompt_digest"].startswith("sha256:")
        assert told["runtime_trace"]["worldbook"]["matches"] == []
        assert "visibility" not in told["runtime_trace"]


async def test_a_committed_turn_explains_its_prompt(house: House) -> None:
    talk = await begin_talk(house)
    done = await talk.respond("Hi", debug_options={"include_prompt_snapshot": True})
    kept = await house.memory.get(f"/floors/{done['floor_id']}/prompt-runtime/explain")
    assert kept["snapshot_available"] is True
    assert kept["prompt_snapshot"]["prompt_digest"] == done["prompt_snapshot"]["prompt_digest"]
    assert kept["scope"]["target_branch_id"] == "main"


async def test_a_policy_shapes_what_is_sent(house: House) -> None:
    talk = await begin_talk(house)
    await talk.respond("One")
    status, _ = await house.memory.call(
        "PATCH", f"/sessions/{talk.session}/prompt-runtime/policy", {"structure": {"mode": "no_assistant"}}
    )
    assert status == 200
    await talk.respond("Two")
    assert "assistant" not in {message["role"] for message in house.mock.last.body["messages"]}
    await talk.respond("Three", structure={"mode": "default"})
    assert "assistant" in {message["role"] for message in house.mock.last.body["messages"]}


async def test_summaries_are_cut_from_the_text_and_from_every_chunk(house: House) -> None:
    talk = await begin_talk(house)
    for pieces in ([SUMMED], list(SUMMED), [SUMMED[at : at + 7] for at in range(0, len(SUMMED), 7)]):
        house.mock.script(Step(text=SUMMED, chunks=tuple(pieces)))
        events = await talk.stream("Go on")
        names = [name for name, _ in events]
        assert names[-2:] == ["summary", "done"]
        done = events[-1][1]
        assert done["summaries"] == events[-2][1]["summaries"] == ["They camp.", "It is cold."]
        shown = "".join(data["chunk"] for name, data in events if name == "chunk")
        assert shown == done["generated_text"] == "Night falls. The fire burns."
        result = await house.memory.get(f"/floors/{done['floor_id']}/result")
        assert (result["generated_text"], result["summaries"]) == (shown, done["summaries"])
    assert (await talk.timeline())[-1] == ("assistant", "Night falls. The fire burns.")


async def test_macros_of_the_prompt_write_once_however_often_one_swipes(house: House) -> None:
    prompt = "{{incvar::count}} {{setglobalvar::last::{{lastGenerationType}}}}"
    talk = await begin_talk(house, character_snapshot={"name": "Ada", "system_prompt": prompt})
    first = await talk.respond("Hi")
    for _ in range(2):
        status, _ = await talk.post(f"/floors/{first['floor_id']}/retry")
        assert status == 200
    status, _ = await talk.post(f"/sessions/{talk.session}/regenerate")
    assert status == 200
    assert str((await house.memory.seen(talk.session))["count"]) == "1"
    await talk.respond("Again")
    assert str((await house.memory.seen(talk.session))["count"]) == "2"


def test_very_many_short_messages_and_assets_are_long_work() -> None:
    chat = [HistoryEntry(f"f{at}", at, f"m{at}", f"p{at}", "user", "ok") for at in range(2000)]
    few, many = (PromptInput(Facts(), MacroScope("assemble", NOW), tuple(each)) for each in (chat[:10], chat))
    assert work_of(few) < LONG < work_of(many)
    assert work_of(replace(few, assets=PromptAssets(character=Character(name="Ada")))) > LONG
    open_macros = Facts(character_snapshot={"description": "{{setvar::a::" * 1000})
    assert work_of(replace(few, session=open_macros)) > LONG, "texts with macros are long work"
    injects = {"chat": {"value": "{{char}}" * 1000, "position": 1}}
    assert work_of(replace(few, session=Facts(metadata={"script_injects": injects}))) > LONG, "those within the metadata, too"
    assert work_of(replace(few, session=Facts(metadata={"system_prompt": "Be {{char}}."}))) < LONG


async def test_what_is_kept_of_a_prompt_has_no_key_of_its_caller(house: House) -> None:
    talk = await begin_talk(house, metadata={"system_prompt": f"The key is {API_KEY}."})
    floor = (await talk.respond("Hi"))["floor_id"]
    kept = await house.memory.get(f"/floors/{floor}/prompt-runtime/explain")
    assert "The key is" in str(kept["sections"])
    assert API_KEY not in str(kept)


async def test_what_is_hidden_takes_no_room_of_what_is_seen(house: House) -> None:
    talk = await begin_talk(house, model_params={"max_context_tokens": 200})
    house.mock.script([Step(text=text) for text in ("I remember.", "Long. " * 4000, "Yes.")])
    await talk.respond("The word is moss.")
    await talk.respond("Tell me much.")
    hidden = {"visibility": {"hidden_floor_ranges": [{"start_floor_no": 1, "end_floor_no": 1}]}}
    status, answer = await house.memory.call("PATCH", f"/sessions/{talk.session}/prompt-runtime/policy", hidden)
    assert status == 200, answer
    await talk.respond("What is the word?")
    said = [message["content"] for message in house.mock.last.body["messages"] if message["role"] != "system"]
    assert said == ["The word is moss.", "I remember.", "What is the word?"]


async def test_the_routes_of_prompts_stand_below_a_pipeline_too(house: House) -> None:
    talk = await begin_talk(house)
    session, dialogue = f"/sessions/{talk.session}", {"message": "Hi"}
    for path, body in (
        ("respond/dry-run", dialogue),
        ("prompt-runtime/inspect", dialogue),
        ("prompt-runtime/preview", {"text": "Hi"}),
    ):
        status, answer = await talk.post(f"/p/plain{session}/{path}", body)
        assert status == 200, answer
        assert await talk.refused(f"/p/nobody{session}/{path}", body) == (404, "not_found")


async def test_macros_count_the_versions_of_an_answer(house: House) -> None:
    talk = await begin_talk(house, character_snapshot={"name": "Ada", "system_prompt": "<{{currentSwipeId}}/{{lastSwipeId}}>"})
    house.mock.script([Step(text="One."), Step(text="Two."), Step(text="Three."), Step(text=" More.")])

    def counted() -> str:
        return "".join(str(message["content"]) for message in house.mock.last.body["messages"] if "<" in message["content"])

    floor = (await talk.respond("Hi"))["floor_id"]
    assert counted() == "</>"
    for told in ("<2/1>", "<3/2>"):
        status, _ = await talk.post(f"/floors/{floor}/retry")
        assert (status, counted()) == (200, told)
    status, _ = await talk.post(f"/floors/{floor}/retry", {"prompt_intent": "continue"})
    assert (status, counted()) == (200, "<3/3>")


async def test_macros_tell_the_last_summary_and_what_the_last_prompt_began_with(house: House) -> None:
    told = "<{{summary}}|{{firstIncludedMessageId}}>"
    talk = await begin_talk(house, character_snapshot={"name": "Ada", "system_prompt": told})
    texts = ("One.<summary>They met.</summary>", "Two.", "Three.", "Three again.", "On the branch.")
    house.mock.script([Step(text=text) for text in texts])

    def read() -> str:
        return "".join(str(message["content"]) for message in house.mock.last.body["messages"] if message["role"] == "system")

    first = (await talk.respond("Hi"))["floor_id"]
    assert read() == "<|>"
    newest = {"source_selection": {"history": {"mode": "windowed", "max_messages": 1}}}
    status, answer = await house.memory.call("PATCH", f"/sessions/{talk.session}/prompt-runtime/policy", newest)
    assert status == 200, answer
    await talk.respond("On")
    assert read() == "<They met.|0>"
    await talk.respond("Further")
    assert read() == "<They met.|1>"
    status, _ = await talk.post(f"/sessions/{talk.session}/regenerate")
    assert (status, read()) == (200, "<They met.|3>")
    await talk.respond("Elsewhere", branch_id="alt", source_floor_id=first)
    assert read() == "<They met.|0>"
    status, looked = await talk.post(f"/sessions/{talk.session}/prompt-runtime/preview", {"text": told})
    assert (status, looked["data"]["text"]) == (200, "<They met.|3>")
