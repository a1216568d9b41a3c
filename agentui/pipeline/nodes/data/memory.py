"""Memory: reads stored variables into the run, and writes, extends, counts up and deletes them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from agentui.errors import NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.memory import NoMemory
from agentui.pipeline.node import Build, Node, NodeParams, node
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.data.set_vars import check_stored, check_variable
from agentui.templating.core.language import Reads
from agentui.templating.core.paths import MISSING, Step
from agentui.templating.core.values import is_in_range
from agentui.variables.paths import parse_path, read, root_of
from agentui.variables.scopes import Scope as StoredTier
from agentui.variables.staging import SHARED, Staged

Action = Literal["read", "write", "append", "increment", "delete"]


class MemoryRow(BaseModel):
    """One thing to do with one stored variable."""

    model_config = ConfigDict(extra="allow", strict=True, title="Row")

    action: Action = Field(
        "read",
        description="read it into a variable of the run; write it; append to a list or a text; add to a number; delete it.",
        json_schema_extra={"enumDescriptions": ["Read", "Write", "Append", "Add to a number", "Delete"]},
    )
    tier: Literal["nearest", "page", "floor", "branch", "chat", "global"] = Field(
        "nearest",
        description="Where it is stored; nearest: the nearest tier that has it, for reading only.",
        json_schema_extra={
            "enumDescriptions": [
                "The nearest that has it",
                "This answer (page)",
                "This turn (floor)",
                "This branch",
                "This chat",
                "All chats",
            ]
        },
    )
    path: str = Field("", description="The variable's name, or a path into it such as assets.gold.", max_length=200)
    name: str = Field(
        "",
        description="read: the run's variable that takes it; empty: the path's last name.",
        max_length=200,
        json_schema_extra={"when": {"action": ["read"]}},
    )
    mode: Literal["string", "json"] = Field(
        "string",
        description="How the value is written: a text, or JSON (numbers, lists, objects).",
        json_schema_extra={
            "when": {"action": ["read", "write", "append", "increment"]},
            "enumDescriptions": ["Text with macros", "JSON with macros"],
        },
    )
    value: str = Field(
        "",
        description="What is written, appended or added (empty: 1); read: what it is where nothing is stored (empty: null).",
        json_schema_extra={"when": {"action": ["read", "write", "append", "increment"]}, "ui": "macro"},
    )


class MemoryParams(NodeParams):
    """Rows are done in their order; values are computed before the first of them."""

    rows: list[MemoryRow] = Field(default_factory=list, max_length=200, description="What to do, in this order.")
    without_chat: Literal["fail", "default"] = Field(
        "fail",
        description="Where the request belongs to no chat: fail; or read the defaults and leave out what writes.",
        json_schema_extra={"enumDescriptions": ["Fail", "Read the defaults, write nothing"]},
    )


class _Row(NamedTuple):
    """A row, compiled. ``name`` is that of the run's variable."""

    field: str
    action: Action
    tier: StoredTier | None
    path: str
    name: str
    value: Callable[[NodeContext], Json]


@node("Memory")
class Memory(Node[MemoryParams]):
    """Reads stored variables into variables of the run, several at once with what stands for missing ones, and writes,
    appends, adds and deletes by tier and path.

    Later rows see what earlier ones wrote, later nodes see it at once, everybody else when the turn commits. All tiers but
    ``global`` need a request that belongs to a chat. OUT: ``vars``, ``stored`` by tier, ``deleted`` by tier.
    """

    Params = MemoryParams
    title = "Memory"
    category = "memory"
    icon = "disk"
    summary = "{rows}"

    def prepare(self, build: Build) -> None:
        """Compile every row; a broken one is a problem of its field."""
        self._rows = [self._compiled(row, f"rows.{number}", build) for number, row in enumerate(self.params.rows)]

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Do what the rows say. Raises CannotStage for a tier that the request does not have, and for what cannot be kept;
        NodeFailed for what a value of another kind stands in the way of."""
        values = await ctx.apart(partial(self._values, ctx))
        out: dict[str, Json] = {"vars": {}}
        for row, value in zip(self._rows, values, strict=True):
            await asyncio.sleep(0)  # a row may write a whole megabyte anew, and others wait
            self._do(ctx, row, value, out)
        return out

    async def preview(self, ctx: NodeContext) -> Json:
        """What it would read and write now."""
        return await self.run(ctx)

    def _values(self, ctx: NodeContext) -> list[Json]:
        return [row.value(ctx) for row in self._rows]

    def _compiled(self, row: MemoryRow, field: str, build: Build) -> _Row:
        steps = parse_path(row.path)
        tier = None if row.tier == "nearest" else row.tier
        name = row.name or steps[-1].key
        if not row.path.strip():
            build.problem("memory.path", "A stored variable needs a name.", f"{field}.path")
        else:
            check_stored(row.path, build, f"{field}.path")
        if row.action == "read":
            check_variable(name, build, f"{field}.name")
            build.reads.add(Reads(tier_names={row.path, steps[0].key}))
        elif tier is None:
            text = f"To {row.action}, choose the tier: {', '.join(_TIERS)}."
            build.problem(
                "memory.tier", text, f"{field}.tier", facts={"action": row.action, "tiers": _TIERS, "reason": "nearest"}
            )
        else:
            build.store(row.path)
            if row.action == "delete" and len(steps) == 1 and tier not in SHARED:
                text = f"A variable of a {tier} is not deleted: it goes with the {tier}. Write null, or choose another tier."
                build.problem("memory.tier", text, f"{field}.tier", facts={"tier": tier, "reason": "delete"})
        return _Row(field, row.action, tier, row.path, name, _value(row, f"{field}.value", build))

    def _do(self, ctx: NodeContext, row: _Row, value: Json, out: dict[str, Json]) -> None:
        """Do what one row says, and tell of it in ``out``."""
        staged = (ctx.run.memory or NoMemory()).staged()
        is_there = row.tier in (None, "global") or row.tier in staged.writable
        if row.action == "read":
            if not is_there and self.params.without_chat == "fail":
                raise NodeFailed(_no_chat(row), field=f"{row.field}.tier")
            found = _read(staged, row) if is_there else MISSING
            out["vars"][row.name] = value if found is MISSING else found
            return
        assert row.tier is not None
        if not is_there and self.params.without_chat == "default":
            ctx.warn(f"{_no_chat(row)} Nothing was written.")
        elif row.action == "delete":
            if _delete(ctx, staged, row, row.tier):
                out.setdefault("deleted", {}).setdefault(row.tier, []).append(row.path)
        else:
            kept = value if row.action == "write" else _changed(row, _read(staged, row), value)
            ctx.stage(row.tier, row.path, kept)
            out.setdefault("stored", {}).setdefault(row.tier, {})[row.path] = kept


_TIERS: Sequence[StoredTier] = ("page", "floor", "branch", "chat", "global")


def _value(row: MemoryRow, field: str, build: Build) -> Callable[[NodeContext], Json]:
    """What computes a row's value; an empty field is nothing, or the number that is added."""
    if row.mode == "json" and row.value.strip():
        document = build.json(field, row.value)
        return lambda ctx: ctx.render(document)
    if (not row.value and row.action in ("read", "increment")) or row.mode == "json" or row.action == "delete":
        usual = 1 if row.action == "increment" else None
        return lambda _: usual
    text = build.text(field, row.value)
    return lambda ctx: ctx.render(text)


def _read(staged: Staged, row: _Row) -> Json:
    """What is stored, or MISSING."""
    merged, tiers = staged.view()
    return read(merged if row.tier is None else tiers[row.tier], row.path)


def _changed(row: _Row, found: Json, value: Json) -> Json:
    """What stands there once a value was appended, or a number added. Raises NodeFailed."""
    is_new = found is MISSING or found is None
    if row.action == "append":
        if is_new:
            return [value]
        if isinstance(found, list):
            return [*found, value]
        if isinstance(found, str) and isinstance(value, str):
            return found + value
        raise NodeFailed(
            f"Nothing can be appended to {row.path!r}: it is no list, and no text that a text goes behind.", field=row.field
        )
    number = _number(value)
    if number is None:
        raise NodeFailed(f"{row.path!r} cannot grow by {str(value)!r:.80}: give a number.", field=f"{row.field}.value")
    before = 0 if is_new else _number(found)
    if before is None:
        raise NodeFailed(f"{row.path!r} is no number, so nothing can be added to it.", field=row.field)
    if not is_in_range(before + number):
        raise NodeFailed(f"{row.path!r} would be too large a number.", field=row.field)
    return before + number


def _number(value: Json) -> int | float | None:
    """The number that a value is, or that its text says."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                number: int | float = kind(value.strip())
            except ValueError:
                continue
            return number if is_in_range(number) else None
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _delete(ctx: NodeContext, staged: Staged, row: _Row, tier: StoredTier) -> bool:
    """Take away a variable, or what a path leads to inside one; whether it was there. Raises CannotStage."""
    tiers = staged.view()[1]
    root, steps = root_of(tiers[tier], row.path)
    if not steps:
        is_there = root in tiers[tier]
        staged.delete(tier, root)
        return is_there
    if read(tiers[tier], row.path) is MISSING:
        return False
    ctx.stage(tier, root, _without(tiers[tier][root], steps))
    return True


def _without(value: Json, steps: Sequence[Step]) -> Json:
    """A copy of a value without what the steps lead to, which is there."""
    first, rest = steps[0], steps[1:]
    if isinstance(value, list):
        assert first.index is not None
        place = first.index % len(value)
        inner = [] if not rest else [_without(value[place], rest)]
        return [*value[:place], *inner, *value[place + 1 :]]
    changed = dict(value)
    if rest:
        changed[first.key] = _without(value[first.key], rest)
    else:
        del changed[first.key]
    return changed


def _no_chat(row: _Row) -> str:
    return f"{row.path!r} of tier {row.tier!r} belongs to a chat, and this request belongs to none."
