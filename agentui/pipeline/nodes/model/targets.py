"""The targets of a node: rows of its configuration, each a provider, a model and a key that may answer in its stead."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentui.chat.capabilities import Differences
from agentui.chat.request import VendorName
from agentui.errors import InvalidPipeline, NodeFailed
from agentui.ids import fingerprint
from agentui.pipeline.node import Build, NodeParams
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.pipeline.nodes.model.failures import TITLES, USUAL, FailureKind
from agentui.pipeline.nodes.model.model_differences import compile_differences
from agentui.pipeline.nodes.model.target import KEY_HEADERS, TargetFields, target_headers
from agentui.pipeline.run import PresetFields
from agentui.vendors.base import Vendor
from agentui.vendors.registry import VENDOR_TITLES

Provider = Literal["caller", VendorName]
Strategy = Literal["fallback", "race", "weighted"]
Sticky = Literal["none", "session", "caller"]

_FRACTION = 1 << 52


class TargetRow(BaseModel):
    """One target. What a row of the node's own provider leaves empty is the node's."""

    model_config = ConfigDict(extra="allow", strict=True, title="Target")

    name: str = Field("", max_length=100, description="What runs and answers call it; empty: made of the other fields.")
    enabled: bool = Field(True, description="Disabled targets are never asked.", json_schema_extra={"is_more": True})
    preset: str = Field("", max_length=200, description="A preset by its id: where to call. The fields below win over it.")
    provider: Literal["node", "caller", VendorName] = Field(
        "node",
        description="The dialect to speak; node: the node's own (the preset's, where one is named).",
        json_schema_extra={
            "enumDescriptions": ["The node's own (or the preset's)", "The caller's own dialect", *VENDOR_TITLES.values()]
        },
    )
    base_url: str = Field("", description="Where the API lives.", json_schema_extra={"is_more": True, "ui": "macro"})
    endpoint: str = Field(
        "", description="Path and query; empty: the dialect's own.", json_schema_extra={"is_more": True, "ui": "macro"}
    )
    model: str = Field("", description="The model.", json_schema_extra={"ui": "macro"})
    secret: str = Field(
        "", max_length=200, description="The name of the secret that is the key; it goes where the API wants it."
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="Headers to send.", json_schema_extra={"is_more": True, "ui": "macro"}
    )
    proxy: str = Field(
        "", description="Proxy to go through; empty: the node's.", json_schema_extra={"is_more": True, "ui": "macro"}
    )
    capabilities: str = Field(
        "",
        description="What this model takes otherwise than others of its name, as JSON; empty: what the table says.",
        json_schema_extra={"is_more": True, "ui": "json"},
    )
    weight: float = Field(
        1.0,
        ge=0,
        le=1_000_000,
        description="weighted: its share; 0: only when the others failed.",
        json_schema_extra={"is_more": True},
    )
    timeout_s: float | None = Field(
        None,
        gt=0,
        le=3600,
        description="Seconds until its first words; then the next one is asked.",
        json_schema_extra={"is_more": True},
    )


class RoutingParams(NodeParams):
    """Several targets for one node, and which of them answers."""

    targets: list[TargetRow] = Field(
        default_factory=list,
        max_length=100,
        description="Providers, models and keys of which one answers; none: the node's own fields.",
        json_schema_extra={"ui": "targets"},
    )
    strategy: Strategy = Field(
        "fallback",
        description="fallback: in order; race: several at once, the first that speaks wins; weighted: by chance.",
        json_schema_extra={"enumDescriptions": ["In order", "Several at once, the first wins", "By weight"]},
    )
    on_errors: list[Annotated[FailureKind, Field(json_schema_extra={"enumDescriptions": [*TITLES.values()]})]] = Field(
        default_factory=lambda: list(USUAL),
        description="After which failures, before the first words, the next target is asked.",
    )
    at_once: int = Field(
        0,
        ge=0,
        le=20,
        description="race: how many targets begin at once; 0: all.",
        json_schema_extra={"when": {"strategy": ["race"]}},
    )
    sticky: Sticky = Field(
        "none",
        description="weighted: the same target for the same session, or for the same caller's key, while it is healthy.",
        json_schema_extra={
            "when": {"strategy": ["weighted"]},
            "enumDescriptions": ["Every request anew", "One for a session", "One for a caller"],
        },
    )
    cooldown_s: float = Field(
        30.0,
        ge=0,
        le=3600,
        description="Seconds that a target is left alone after three failures in a row; 0: never.",
    )


@dataclass(frozen=True, slots=True)
class ModelTarget:
    """Where one call goes, compiled: dialect, address, headers, proxy and model, and what is said of the model against the
    table of capabilities."""

    provider: Provider
    fields: TargetFields
    model: TemplateField[str]
    differences: Differences = field(default_factory=Differences)

    def vendor(self, ctx: NodeContext) -> Vendor:
        """The dialect to speak. Raises NodeFailed where it is the caller's, and nobody knows that."""
        name: VendorName | None = ctx.incoming.vendor if self.provider == "caller" else self.provider
        if name is None:
            raise NodeFailed("The caller's dialect is unknown, so provider cannot be 'caller' here: choose one.")
        return ctx.services.vendors[name]

    def health_key(self, ctx: NodeContext) -> str:
        """What health is remembered by: a hash of dialect, address, key and model. Raises as rendering the fields does."""
        scope, vendor = ctx.scope(), self.vendor(ctx)
        base = ctx.services.upstream.resolve(ctx.render(self.fields.base_url, scope).strip() or vendor.default_base_url)
        headers, keyed = target_headers(self.fields, ctx, scope, vendor)
        keys = [headers[name] for name in sorted(KEY_HEADERS & headers.keys())] if keyed else [ctx.incoming.api_key]
        model = ctx.render(self.model, scope).strip() or ctx.incoming.model or ""
        return fingerprint(vendor.name, base.rstrip("/"), model, *keys)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One enabled row: what it is called, what tells it from the others whatever their order, its share, the seconds until its
    first words, and where it calls (which raises NotFound and NodeFailed for a preset that is not there or not right)."""

    name: str
    identity: str
    weight: float
    timeout: float | None
    resolve: Callable[[NodeContext], ModelTarget]


def compile_candidates(
    build: Build, params: RoutingParams, own: ModelTarget, *, own_model: str, has_template: bool
) -> list[Candidate]:
    """The enabled rows, in order. What is wrong with them is a problem of the node; ``own_model`` is what it says itself."""
    found: list[Candidate] = []
    names: set[str] = set()
    for number, row in enumerate(params.targets):
        where = f"targets.{number}"
        if not row.enabled:
            continue
        name = row.name.strip() or _name_of(row, number)
        if name in names:
            text = f"Two targets are named {name!r}: give each its own name."
            build.problem("targets.name", text, f"{where}.name", facts={"name": name})
        names.add(name)
        if has_template and row.provider not in ("node", own.provider):
            text = "A template writes the request in one dialect: this target speaks another one."
            build.problem("targets.template", text, f"{where}.provider")
        resolve = _OfPreset(row, where, own) if row.preset.strip() else _always(_compile_row(build, row, where, own))
        identity = fingerprint(name, row.preset, row.provider, row.base_url, row.model, row.secret)
        found.append(Candidate(name, identity, row.weight, row.timeout_s, resolve))
    rows = [row for row in params.targets if row.enabled]
    if own_model and rows and not any(row.provider == "node" and not row.preset.strip() and not row.model for row in rows):
        text = (
            f"The node's own model, {own_model!r:.100}, is no target: a row that says nothing stands for it, or leave it out."
        )
        build.warning("targets.own", text, "targets", facts={"model": own_model[:100]})
    if params.targets and not found:
        build.warning("targets.none", "All targets are disabled: the node's own fields say where to call.", "targets")
    if params.sticky != "none" and params.strategy != "weighted":
        build.warning("targets.sticky", "Only targets that are chosen by weight can be kept.", "sticky")
    return found


def weighted_order(weights: Sequence[float], draws: Sequence[float]) -> list[int]:
    """Positions in an order in which each comes first with the probability of its weight among those that are left.

    ``draws`` are numbers in (0, 1], one for each position, by chance or by a hash: -log(draw) / weight is an exponential
    waiting time (Efraimidis and Spirakis 2006). Those without a weight come last, as they stand.
    """
    waits = [-log(draw) / weight if weight > 0 else inf for weight, draw in zip(weights, draws, strict=True)]
    return sorted(range(len(weights)), key=lambda position: (waits[position], position))


def hash_draws(key: str, identities: Sequence[str]) -> list[float]:
    """A draw for each target that is always the same for the same key, so that nothing needs to be remembered: a target that
    joins or leaves moves only the keys that it gets or had (rendezvous hashing)."""
    return [(int(fingerprint(key, identity)[:13], 16) + 1) / _FRACTION for identity in identities]


class _OfPreset:
    """A row whose preset says where to call; compiled anew when the preset is another one."""

    def __init__(self, row: TargetRow, where: str, own: ModelTarget) -> None:
        self._row = row
        self._where = where
        self._own = own
        self._known: tuple[PresetFields, ModelTarget] | None = None

    def __call__(self, ctx: NodeContext) -> ModelTarget:
        """The target. Raises NotFound without such a preset, NodeFailed for one that does not compile."""
        try:
            preset = ctx.preset_of(self._row.preset.strip())
        except InvalidPipeline as error:
            raise NodeFailed(error.message, field=f"{self._where}.preset") from error
        known = self._known
        if known is not None and known[0] is preset:
            return known[1]
        build = Build(ctx.node_id)
        target = _compile_row(build, _with_preset(self._row, preset), self._where, self._own)
        errors = [problem for problem in build.problems if problem.severity == "error"]
        if errors:
            text = f"The preset {self._row.preset!r:.100} cannot be used: {errors[0].message}"
            raise NodeFailed(text, field=f"{self._where}.preset")
        self._known = (preset, target)
        return target


def _with_preset(row: TargetRow, preset: PresetFields) -> TargetRow:
    """The row with what it leaves empty taken from the preset."""
    return row.model_copy(
        update={
            "provider": preset.provider if row.provider == "node" else row.provider,
            "base_url": row.base_url or preset.base_url,
            "endpoint": row.endpoint or preset.endpoint,
            "model": row.model or preset.model,
            "headers": {**_without_keys(preset.headers, row), **row.headers},
            "proxy": row.proxy or preset.proxy,
        }
    )


def _without_keys(headers: Mapping[str, str], row: TargetRow) -> dict[str, str]:
    """Headers that a row takes over: without keys where it has its own."""
    return {name: value for name, value in headers.items() if not (row.secret and name.lower() in KEY_HEADERS)}


def _compile_row(build: Build, row: TargetRow, where: str, own: ModelTarget) -> ModelTarget:
    """A row's target. A row of the node's own provider takes over what it leaves empty; a node's proxy serves every row."""
    is_own = row.provider == "node"
    fields = own.fields
    headers = build.headers(f"{where}.headers", row.headers)
    if is_own:
        taken = {name: field for name, field in fields.headers.items() if not (row.secret and name.lower() in KEY_HEADERS)}
        headers = {**taken, **headers}
    secret = row.secret.strip()
    return ModelTarget(
        own.provider if row.provider == "node" else row.provider,
        TargetFields(
            fields.base_url if is_own and not row.base_url else build.url(f"{where}.base_url", row.base_url, "address"),
            fields.endpoint
            if is_own and not row.endpoint
            else build.url(f"{where}.endpoint", row.endpoint, "path", secrets=True),
            headers,
            build.proxy(f"{where}.proxy", row.proxy) if row.proxy else fields.proxy,
            build.text(f"{where}.secret", f"[[SECRET:{secret}]]", secrets=True) if secret else None,
        ),
        own.model if is_own and not row.model else build.text(f"{where}.model", row.model),
        own.differences
        if is_own and not row.capabilities.strip()
        else compile_differences(build, row.capabilities, f"{where}.capabilities"),
    )


def _always(target: ModelTarget) -> Callable[[NodeContext], ModelTarget]:
    return lambda ctx: target


def _name_of(row: TargetRow, number: int) -> str:
    """A name for a row that has none: what it differs by, after its number."""
    said = row.preset or row.model or row.secret or (row.provider if row.provider != "node" else "")
    return f"{number + 1}: {said}"[:100] if said else f"{number + 1}"
