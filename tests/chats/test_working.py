"""Working variables along the branches of a chat, on both engines."""

import random
from contextlib import suppress

import pytest
from sqlalchemy import select

from agentui.chats.branches.merging import merge_branch
from agentui.chats.branches.writing import branch_from_floor, reset_branch
from agentui.chats.floors import remove_floor
from agentui.chats.listing import Paging
from agentui.chats.working.editing import list_working, read_working, remove_working, write_working
from agentui.chats.working.folding import Folded, folded, keep_checkpoint
from agentui.chats.working.journal import Loaded, Spot, carry_over, load_system, save_changes
from agentui.errors import ApiError
from agentui.store.tables import working_checkpoints, working_variables
from agentui.tools.vars.errors import NoSuchVariable, RuleIsFixed
from agentui.tools.vars.rules import AGENT_RULES, rule_variables
from agentui.tools.vars.system import VarFilter, VariableSystem
from agentui.turns.joining import Joined
from tests.chats.conftest import Memory

RULES = rule_variables(AGENT_RULES)


async def system(memory: Memory, joined: Joined, until: str | None = None) -> VariableSystem:
    """What a turn of a branch would see now."""
    memory.now += 1
    now = memory.now
    loaded: Loaded = await memory.read(load_system, joined.session_id, joined.branch_id, lambda: now, RULES, until)
    return loaded.system


async def values(memory: Memory, joined: Joined, until: str | None = None) -> dict[str, str]:
    """The values of a branch, without the rules."""
    held = await system(memory, joined, until)
    return {variable.name: variable.value for variable in held.listed() if variable.type != "RULE"}


async def turn(memory: Memory, joined: Joined, **written: str) -> str:
    """A turn that writes; its floor."""
    held = await system(memory, joined)
    opened = await memory.open(joined)
    await memory.commit(opened.floor_id, output_page_id=opened.output_page_id)
    for name, value in written.items():
        held.add(name, value, "LLMAdd")
    spot = Spot(joined.session_id, joined.branch_id, opened.floor_id, opened.output_page_id)
    await memory.write(save_changes, spot, held.changes(), memory.now)
    if (await memory.read(folded, joined.session_id, joined.branch_id)).is_long:
        place = joined.session_id, joined.branch_id, opened.floor_id, opened.output_page_id
        await memory.write(keep_checkpoint, *place, memory.now)
    return opened.floor_id


async def say(memory: Memory, joined: Joined, name: str, value: str) -> None:
    """A person writes."""
    memory.now += 1
    place = joined.session_id, joined.branch_id, RULES, name
    await memory.write(write_working, *place, {"value": value}, memory.now)


async def test_turns_write_and_later_ones_read(memory: Memory) -> None:
    joined = await memory.join()
    assert await values(memory, joined) == {}
    await turn(memory, joined, plan="one", note="x" * 100_000)
    await turn(memory, joined, plan="two")
    assert await values(memory, joined) == {"plan": "two", "note": "x" * 100_000}
    # Rules are the server's: nobody stores them.
    assert await memory.rows(select(working_variables).where(working_variables.c.name.startswith("Rule/"))) == []


async def test_a_read_is_kept_without_the_value(memory: Memory) -> None:
    joined = await memory.join()
    await turn(memory, joined, plan="one")
    held = await system(memory, joined)
    held.get("plan")
    opened = await memory.open(joined)
    await memory.commit(opened.floor_id, output_page_id=opened.output_page_id)
    spot = Spot(joined.session_id, joined.branch_id, opened.floor_id, opened.output_page_id)
    await memory.write(save_changes, spot, held.changes(), memory.now)
    [newest, _] = await memory.rows(select(working_variables).order_by(working_variables.c.id.desc()))
    assert (newest.value, newest.length) == (None, None)
    plan = (await system(memory, joined)).peek("plan")
    assert plan is not None and (plan.value, plan.reference_count) == ("one", 1)


async def test_a_fork_sees_what_was_written_before_it(memory: Memory) -> None:
    joined = await memory.join()
    first = await turn(memory, joined, plan="one")
    await say(memory, joined, "mine", "before")
    memory.now += 1
    await memory.write(branch_from_floor, first, "alt", memory.now)
    alt = Joined(joined.session_id, "alt")
    await say(memory, joined, "mine", "after")
    await say(memory, alt, "other", "alt only")
    await turn(memory, joined, plan="two")
    await turn(memory, alt, plan="three")
    assert await values(memory, joined) == {"plan": "two", "mine": "after"}
    assert await values(memory, alt) == {"plan": "three", "mine": "before", "other": "alt only"}
    assert await values(memory, joined, first) == {"mine": "after"}


async def test_what_is_written_over_and_removed_at_one_place_is_one_row(memory: Memory) -> None:
    joined = await memory.join()
    for value in ("one", "two"):
        await say(memory, joined, "plan", value)
    place = joined.session_id, joined.branch_id, RULES, "plan"
    await memory.write(write_working, *place, {"desc": "what to do"}, memory.now)
    part = await memory.read(read_working, *place, 1, 1)
    assert (part.text, part.facts["length"], part.facts["desc"]) == ("w", 3, "what to do")
    await memory.write(remove_working, *place, memory.now)
    assert await values(memory, joined) == {}
    with pytest.raises(NoSuchVariable):
        await memory.read(read_working, *place)
    assert len(await memory.rows(select(working_variables))) == 1


async def test_a_reset_takes_back_what_was_written_since(memory: Memory) -> None:
    joined = await memory.join()
    first = await turn(memory, joined, plan="one")
    await turn(memory, joined, plan="two", more="x")
    await say(memory, joined, "mine", "late")
    await memory.write(reset_branch, joined.session_id, "main", first, None, memory.now)
    assert await values(memory, joined) == {"plan": "one"}


async def test_a_merged_branch_brings_its_variables(memory: Memory) -> None:
    joined = await memory.join()
    first = await turn(memory, joined, plan="one")
    await memory.write(branch_from_floor, first, "alt", memory.now)
    alt = Joined(joined.session_id, "alt")
    await turn(memory, alt, plan="two")
    await say(memory, alt, "mine", "from alt")
    await memory.write(merge_branch, joined.session_id, "alt", "main", None, memory.now)
    assert await values(memory, joined) == {"plan": "two", "mine": "from alt"}


async def test_what_is_removed_takes_its_rows_with_it(memory: Memory) -> None:
    joined = await memory.join()
    await turn(memory, joined, plan="one")
    second = await turn(memory, joined, plan="two")
    await memory.write(remove_floor, second, memory.now)
    assert await values(memory, joined) == {"plan": "one"}
    assert len(await memory.rows(select(working_variables))) == 1


async def test_a_persons_writes_stay_when_an_answer_is_made_anew(memory: Memory) -> None:
    joined = await memory.join()
    first = await turn(memory, joined, plan="one")
    await say(memory, joined, "mine", "kept")
    assert await values(memory, joined, first) == {"mine": "kept"}
    second = await turn(memory, joined)
    await memory.write(carry_over, Spot(joined.session_id, "main", first), second)
    assert await values(memory, joined) == {"plan": "one", "mine": "kept"}
    rows = await memory.rows(select(working_variables.c.floor_id).where(working_variables.c.name == "mine"))
    assert {row.floor_id for row in rows} == {first, second}


async def test_rules_stand_in_every_list_and_are_not_changed(memory: Memory) -> None:
    joined = await memory.join()
    await say(memory, joined, "mine", "x")
    listed = await memory.read(
        list_working, joined.session_id, "main", RULES, VarFilter(), Paging(sort_by="name", sort_order="asc")
    )
    assert [item["name"] for item in listed.items] == ["Rule/Agent/TODO", "Rule/Agent/VarRef", "mine"]
    place = joined.session_id, "main", RULES, "Rule/Agent/TODO"
    assert (await memory.read(read_working, *place, 0, 6)).text == "# A TO"
    with pytest.raises(RuleIsFixed):
        await memory.write(remove_working, *place, memory.now)
    with pytest.raises(RuleIsFixed):
        await memory.write(write_working, *place, {"value": "x"}, memory.now)


async def test_what_a_turn_reads_does_not_grow_with_the_chat(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in floors and rows: each of many turns reads no more than between two checkpoints, and sees all that holds."""
    monkeypatch.setattr("agentui.chats.working.folding.LONG", 8)
    joined = await memory.join()
    await say(memory, joined, "first", "of all")
    steps = []
    for number in range(60):
        await turn(memory, joined, **{f"v{number % 5}": str(number)})
        steps.append((await memory.read(folded, joined.session_id, "main")).steps)
    # Two more for a turn, six variables, and the person's first row.
    assert max(steps) <= 8 + 6 + 2 + 1
    assert max(steps[-20:]) == max(steps[10:30])
    assert len(await memory.rows(select(working_variables.c.id))) == 61
    assert 5 < len(await memory.rows(select(working_checkpoints.c.page_id))) < 20
    assert await values(memory, joined) == {"first": "of all", **{f"v{number % 5}": str(number) for number in range(55, 60)}}


@pytest.mark.parametrize("seed", range(2))
async def test_checkpoints_change_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Whatever is done to a chat: each branch holds what all rows along its path come to."""
    monkeypatch.setattr("agentui.chats.working.folding.LONG", -5)
    chance, joined = random.Random(seed), await memory.join()
    names, floors = ["main"], [await turn(memory, joined, plan="begin")]
    for number in range(30):
        here = Joined(joined.session_id, chance.choice(names))
        match chance.choice(("turn", "turn", "turn", "say", "gone", "fork", "reset", "remove")):
            case "turn":
                floors.append(await turn(memory, here, **{f"v{chance.randrange(4)}": f"turn {number}"}))
            case "say":
                await say(memory, here, f"v{chance.randrange(4)}", f"said {number}")
            case "gone":
                held = await values(memory, here)
                if held:
                    place = joined.session_id, here.branch_id, RULES, chance.choice(sorted(held))
                    await memory.write(remove_working, *place, memory.now)
            case "fork":
                memory.now += 1
                with suppress(ApiError):
                    await memory.write(branch_from_floor, chance.choice(floors), f"b{number}", memory.now)
                    names.append(f"b{number}")
            case "reset":
                with suppress(ApiError):
                    await memory.write(reset_branch, joined.session_id, here.branch_id, chance.choice(floors), None, memory.now)
            case "remove":
                if len(floors) > 2:  # the first one stays: a chat that begins anew begins below what was set aside
                    await memory.write(remove_floor, floors.pop(chance.randrange(1, len(floors))), memory.now)
        for name in names:
            assert await kept_on(memory, joined.session_id, name) == await written_on(memory, joined.session_id, name), number


async def kept_on(memory: Memory, session_id: str, branch_id: str) -> dict[str, str]:
    """What a branch holds, by the rows of the values."""
    found: Folded = await memory.read(folded, session_id, branch_id)
    return {name: each.value_id for name, each in found.stored.items()}


async def written_on(memory: Memory, session_id: str, branch_id: str) -> dict[str, str]:
    """The same without any checkpoint."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentui.chats.working.folding.checkpoints_of", lambda *_: set())
        return await kept_on(memory, session_id, branch_id)
