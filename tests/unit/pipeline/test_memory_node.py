"""Memory reads, writes, appends, adds and deletes stored variables by tier and path."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentui.errors import InvalidPipeline, NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node_context import NodeContext
from agentui.turns.proxied import ReadMemory
from agentui.variables.errors import CannotStage
from agentui.variables.scopes import SCOPES
from agentui.variables.staging import Staged
from tests.unit.pipeline.parts import compiled, heard, make_run


def row(action: str, path: str, value: Json = "", tier: str = "branch", **more: Json) -> Json:
    """A row; a value that is no text is written as JSON."""
    if not isinstance(value, str):
        more, value = {"mode": "json", **more}, json.dumps(value)
    return {"action": action, "path": path, "tier": tier, "value": value, **more}


async def done(*rows: Json, staged: Staged | None = None, **config: Json) -> tuple[Json, Staged]:
    """What a Memory of these rows gives, and the variables afterwards."""
    plan = compiled([{"id": "n1", "type": "Memory", "config": {"rows": list(rows), **config}}])
    run = make_run(plan)
    staged = Staged({}, now=lambda: 0) if staged is None else staged
    run.memory = ReadMemory(staged)
    return await plan.nodes[0].node.run(NodeContext(run, "n1", "Memory", None)), staged


async def test_rows_are_done_in_their_order() -> None:
    out, staged = await done(
        row("write", "mood", "calm"),
        row("append", "mood", " and wet"),
        row("increment", "assets.gold"),
        row("increment", "assets.gold", 2.5),
        row("increment", "assets.gold", "-1"),
        row("append", "facts", {"who": "Ada"}),
        row("append", "facts", "a text"),
        row("read", "assets.gold", tier="nearest"),
        row("read", "facts.0.who", name="WHO", tier="branch"),
        row("read", "nobody.at.all", name="GONE", value="-", tier="nearest"),
        row("read", "nobody", tier="nearest"),
        row("delete", "facts.0"),
        row("delete", "mood"),
        row("delete", "never.there"),
        row("read", "mood", name="MOOD", value=["none"], tier="chat"),
    )
    assert out["vars"] == {"gold": 2.5, "WHO": "Ada", "GONE": "-", "nobody": None, "MOOD": ["none"]}
    assert out["deleted"] == {"branch": ["facts.0", "mood"]}
    assert out["stored"]["branch"]["facts"] == [{"who": "Ada"}, "a text"]
    assert dict(staged.view()[1]["branch"]) == {"assets": {"gold": 2.5}, "facts": ["a text"]}


KEYS = st.sampled_from(["a", "b", "tree.x", "tree.y.z", "list.0"])
VALUES = st.one_of(st.integers(-5, 5), st.text("xy", max_size=3), st.lists(st.integers(0, 3), max_size=2), st.none())
STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "append", "increment", "delete", "read"]), KEYS, VALUES), min_size=1, max_size=12
)


def expected(state: dict[str, Any], action: str, path: str, value: Json) -> Json:
    """What a row does to plain dictionaries; raises where the row fails. Gives what a read gives."""
    keys = path.split(".")
    place: Any = state
    for key in keys[:-1]:
        inside = place.get(key) if isinstance(place, dict) else None
        if inside is None:
            if action in ("delete", "read"):
                return value
            inside = place[key] = {}
        place = inside
    key: Any = keys[-1]
    if isinstance(place, list):
        key = int(key) if key.isdigit() else None
        has = key is not None and key < len(place)
    elif isinstance(place, dict):
        has = key in place
    elif action in ("delete", "read"):
        return value
    else:
        raise ValueError("blocked")
    found = place[key] if has else None
    match action:
        case "read":
            return found if has else value
        case "delete":
            if has:
                del place[key]
            return None
        case "append":
            if not (found is None or isinstance(found, list) or (isinstance(found, str) and isinstance(value, str))):
                raise ValueError("append")
            new = [value] if found is None else found + (value if isinstance(found, str) else [value])
        case "increment":
            numbers = [0 if found is None else found, 1 if value == "" else value]
            if not all(type(number) in (int, float) for number in numbers):
                raise ValueError("add")
            new = sum(numbers)
        case _:
            new = value
    if isinstance(place, list) and not has:
        if key != len(place):
            raise ValueError("no place")
        place.append(new)
    else:
        place[key] = new
    return None


@given(STEPS)
async def test_it_does_what_plain_dictionaries_would(steps: list[tuple[str, str, Json]]) -> None:
    state: dict[str, Any] = {}
    staged = Staged({}, now=lambda: 0)
    for action, path, value in steps:
        before = copy.deepcopy(state)
        try:
            told = expected(state, action, path, None if (action, value) == ("read", "") else value)
        except ValueError:
            state = before
            with pytest.raises((NodeFailed, CannotStage)):
                await done(row(action, path, value, name="V"), staged=staged)
            continue
        out, _ = await done(row(action, path, value, name="V"), staged=staged)
        if action == "read":
            assert out["vars"] == {"V": told}
        assert dict(staged.view()[1]["branch"]) == state


@pytest.mark.parametrize("tier", [scope for scope in SCOPES if scope != "global"])
async def test_without_a_chat_it_fails_or_reads_the_defaults(tier: str) -> None:
    outside = Staged({}, writable=("global",), now=lambda: 0)
    with pytest.raises(NodeFailed, match="belongs to none"):
        await done(row("read", "gold", "5", tier=tier), staged=outside)
    with pytest.raises(CannotStage):
        await done(row("increment", "gold", tier=tier), staged=outside)
    rows = (row("read", "gold", 5, tier=tier), row("append", "gold", tier=tier), row("increment", "gold", tier="global"))
    out, _ = await done(*rows, staged=outside, without_chat="default")
    assert out == {"vars": {"gold": 5}, "stored": {"global": {"gold": 1}}}


@pytest.mark.parametrize(
    ("one", "field", "code"),
    [
        (row("write", "gold", tier="nearest"), "rows.0.tier", "memory.tier"),
        (row("delete", "gold", tier="page"), "rows.0.tier", "memory.tier"),
        (row("read", ""), "rows.0.path", "memory.path"),
        (row("read", "OUT.n1"), "rows.0.path", "setvars.reserved"),
        (row("read", "gold", name="a b"), "rows.0.name", "setvars.name"),
        (row("write", "gold", "{{ a"), "rows.0.value", "template.syntax"),
        (row("write", "gold", "{", mode="json"), "rows.0.value", "template.json"),
    ],
)
def test_what_cannot_be_done_is_told_when_the_pipeline_is_saved(one: Json, field: str, code: str) -> None:
    with pytest.raises(InvalidPipeline) as caught:
        compiled([{"id": "n1", "type": "Memory", "config": {"rows": [one]}}])
    assert (field, code) in [(problem.field, problem.code) for problem in caught.value.problems]


@pytest.mark.parametrize("value", ["word", {"a": 1}, True, "1e999"])
async def test_only_numbers_are_added(value: Json) -> None:
    with pytest.raises(NodeFailed, match="'gold'"):
        await done(row("increment", "gold", value))


async def test_a_preview_shows_what_it_would_do_and_tells_the_run_nothing() -> None:
    plan = compiled([{"id": "n1", "type": "Memory", "config": {"rows": [row("increment", "gold", tier="global")]}}])
    run = make_run(plan)
    run.memory = ReadMemory(Staged({}, now=lambda: 0))
    shown = await plan.nodes[0].node.preview(NodeContext(run, "n1", "Memory", None))
    assert shown == {"vars": {}, "stored": {"global": {"gold": 1}}}
    assert heard(run) == []
