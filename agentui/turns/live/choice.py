"""Which pipeline answers a turn, and with which model."""

import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace

from agentui.accounts.restrictions import check_models, check_pipeline
from agentui.documents.document import is_own_id
from agentui.errors import InvalidPipeline, NotFound
from agentui.jsonio import Json, dumps_text
from agentui.owned.documents import OwnDocuments
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.run import Run
from agentui.presets import Preset, PresetLibrary
from agentui.principal import Principal
from agentui.profiles.providers import call_fields
from agentui.profiles.records import Profile, Slot
from agentui.profiles.resolver import Choice, Open
from agentui.profiles.sealing import secret_name
from agentui.profiles.service import NO_MODELS, Selection
from agentui.turns.request import ChatFacts
from agentui.vendors.base import Vendors

CHAT = "chat"
"""The pipeline of turns that name none: the session's model answers them."""
MOST_BOUND = 64
"""Plans that are kept with a preset in them."""
_FIELDS = ("provider", "base_url", "endpoint", "headers", "proxy", "template")


@dataclass(frozen=True, slots=True)
class SessionModel:
    """What serves a slot of a session: the profile of ``served``, where one is bound that can; else what the session says of
    its model, where ``provider`` is the id of a preset. ``params`` are those of the slot, ``warnings`` what was passed over."""

    provider: str | None = None
    name: str | None = None
    served: Choice | None = None
    params: Mapping[str, Json] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def profile(self) -> Profile | None:
        """The profile; None where the pipeline's own upstream serves the slot."""
        return None if self.served is None or self.served.binding is None else self.served.binding.profile

    def tell(self, run: Run) -> None:
        """Let a run have the profile's key, keep to the slot's limits, and say what serves it and why."""
        for warning in self.warnings:
            run.emit("run.warning", None, {"message": warning})
        timeout = self.params.get("timeout_ms")
        if timeout is not None:
            run.deadline = min(run.deadline, time.monotonic() + timeout / 1000)
        run.may_retry = self.params.get("max_retries") != 0
        if self.served is not None and self.served.key is not None and self.profile is not None:
            run.keys = {self.served.key.name: self.served.key}
            told = f"{self.served.slot}: {self.profile.model_id} ({self.profile.provider}). {self.served.reason}"
            run.emit("run.warning", None, {"message": told, "level": "info"})

    @classmethod
    def of(cls, bindings: Mapping[str, Json]) -> "SessionModel":
        """That of the session with these bindings (``ChatFacts``)."""
        return cls(bindings.get("model_provider"), bindings.get("model_name"))


class PipelineChoice:
    """Chooses pipelines for turns. ``default_preset`` serves sessions that name no provider; "" for none."""

    def __init__(
        self,
        pipelines: PipelineLibrary,
        presets: PresetLibrary,
        default_preset: str,
        vendors: Vendors,
        open_key: Open,
        own: OwnDocuments,
    ) -> None:
        """``open_key`` opens the keys of profiles; ``own`` are the pipelines of accounts."""
        self._own = own
        self._vendors = vendors
        self._open_key = open_key
        self._pipelines = pipelines
        self._presets = presets
        self._default_preset = default_preset
        self._bound: dict[tuple[str, ...], Plan] = {}

    def model(self, chat: ChatFacts, slot: Slot = "narrator") -> SessionModel:
        """What serves a slot of a chat. A ``model_provider`` that is no preset is passed over, as profiles are that cannot
        serve (seed 002: turns go on with what is bound below)."""
        own = SessionModel.of(chat.bindings)
        warnings: list[str] = []
        if own.provider is not None and own.provider not in self._presets:
            warnings.append(
                f"There is no provider preset {own.provider[:100]!r}, the session's model_provider: it is passed over."
            )
            own = replace(own, provider=None)
        if chat.models is NO_MODELS:
            return replace(own, warnings=tuple(warnings)) if warnings else own
        selection = Selection(chat.models.bindings, chat.models.configs, self._open_key)
        served = selection.choice(slot)
        warnings += [skipped.warning(slot) for skipped in served.skipped]
        return replace(own, served=served, params=selection.params(slot, served), warnings=tuple(warnings))

    def plan(self, named: str | None, own: str | None, model: SessionModel) -> Plan:
        """The plan of the pipeline that the request names, else the session's own, else ``chat``, else the active one, with the
        session's model in the nodes that ask for it, or for whatever the caller calls.

        A profile serves the node that answers, too, unless that keeps to its own. Raises NotFound and InvalidPipeline.
        """
        return self._serving(self._pipelines.plan(self._id(named, own)), model)

    def _serving(self, plan: Plan, model: SessionModel) -> Plan:
        """A plan with the session's model in it."""
        if model.profile is not None:
            return self._with_profile(plan, model.profile, frozenset(plan.nodes[position].id for position in plan.answers))
        return self.binding(model)(plan)

    def binding(self, model: SessionModel) -> Callable[[Plan], Plan]:
        """What puts a session's model into plans, as ``plan`` does it; for those that they call, where nodes
        that answer there keep their own."""

        def bound(plan: Plan) -> Plan:
            if model.profile is not None:
                return self._with_profile(plan, model.profile, frozenset())
            # A preset of the server's names its keys, which a pipeline of an account does not read.
            return self._with_model(plan, model) if _asks_for_model(plan.document) and not is_own_id(plan.id) else plan

        return bound

    def plan_of(self, id: str, document: Mapping[str, Json], model: SessionModel) -> Plan:
        """The plan of a pipeline of the server's own that stands in no file, with a session's model. Raises InvalidPipeline."""
        plan = self._compiled((id, "", dumps_text(dict(document))), id, lambda: dict(document))
        return self.binding(model)(plan)

    def model_name(self, model: SessionModel) -> str | None:
        """The model that a turn asks its pipeline for: the session's own, else that of the preset that it names, else of the
        settings'. None where nobody names one."""
        if model.profile is not None:
            return model.profile.model_id
        if model.name is not None:
            return model.name
        name = model.provider or self._default_preset
        try:
            return (self._presets.good(name).model or None) if name else None
        except (NotFound, InvalidPipeline):
            return None  # ``plan`` says so where that matters

    def check(self, principal: Principal, id: str) -> None:
        """Raises NotFound where there is no such pipeline, InvalidPipeline where it never was good, and 403
        ``client_api_key_restricted`` where the caller's key may not use it."""
        check_pipeline(principal, id)
        self._plan_of(principal, id)

    async def ready(self, principal: Principal, *ids: str | None) -> None:
        """Know the caller's own pipelines, where one of these ids means one. Raises Forbidden where the operator wants none,
        and the store's errors."""
        if any(id is not None and is_own_id(id) for id in ids):
            await self._own.ready(principal.account, *ids)

    def _plan_of(self, principal: Principal, id: str) -> Plan:
        return self._own.plan(principal.account, id) if is_own_id(id) else self._pipelines.plan(id)

    def allowed_plan(self, principal: Principal, named: str | None, own: str | None, model: SessionModel) -> Plan:
        """The plan for a turn of this caller. Raises as ``plan`` does, and 403 ``client_api_key_restricted`` where the caller's
        key may not use the pipeline, or the model that the session or a profile names."""
        check_pipeline(principal, self._id(named, own), is_named=bool(named or own))
        asked = self.model_name(model) if model.profile is not None or model.name or model.provider else None
        check_models(principal, () if asked is None else (asked,))
        return self._serving(self._plan_of(principal, self._id(named, own)), model)

    def _id(self, named: str | None, own: str | None) -> str:
        return named or own or (CHAT if CHAT in self._pipelines else self._pipelines.active)

    def _with_model(self, plan: Plan, model: SessionModel) -> Plan:
        """A plan with the session's preset, or with the settings' own where that does not serve it. Raises InvalidPipeline
        where neither does."""
        preset = self._preset(model.provider)
        if preset is None:
            return plan
        key = plan.id, plan.version, preset.model_dump_json(), "" if model.name is None else "named"
        try:
            return self._compiled(key, plan.id, lambda: bound_document(plan.document, preset, has_model=model.name is not None))
        except InvalidPipeline:
            if model.provider is None:
                raise
            return self._with_model(plan, replace(model, provider=None))

    def _with_profile(self, plan: Plan, profile: Profile, answering: Set[str]) -> Plan:
        """A plan whose nodes that ask for the session's model, or answer, call a profile's."""
        if not any(_takes_profile(node, answering) for node in plan.document["nodes"]):
            return plan
        fields = call_fields(self._vendors, profile.provider, profile.base_url, profile.model_id, secret_name(profile.id))
        key = plan.id, plan.version, dumps_text(fields), ",".join(sorted(answering))
        return self._compiled(key, plan.id, lambda: profile_document(plan.document, fields, answering))

    def _compiled(self, key: tuple[str, ...], id: str, document: Callable[[], dict[str, Json]]) -> Plan:
        """The plan of a document that was made of another plan's; some are kept. Raises InvalidPipeline."""
        bound = self._bound.pop(key, None)
        if bound is None:
            bound = self._pipelines.compile(id, document())
        self._bound[key] = bound
        if len(self._bound) > MOST_BOUND:
            del self._bound[next(iter(self._bound))]
        return bound

    def _preset(self, provider: str | None) -> Preset | None:
        """The preset that a session names, else the settings' own where it is there."""
        name = provider or self._default_preset
        try:
            return self._presets.good(name) if name else None
        except (NotFound, InvalidPipeline):
            return None


def _asks_for_model(document: Mapping[str, Json]) -> bool:
    return any(_is_session_model(node) or _is_callers(node) for node in document["nodes"])


def _is_session_model(node: Mapping[str, Json]) -> bool:
    return node["type"] == "ProviderCall" and (node.get("config") or {}).get("session_model") is True


def _is_callers(node: Mapping[str, Json]) -> bool:
    """Whether a node calls what its caller would call: it names neither a provider nor anything of one but a model."""
    config = node.get("config") or {}
    is_open = config.get("provider", "caller") == "caller" and not config.get("targets")
    return node["type"] == "ProviderCall" and is_open and not any(config.get(name) for name in _FIELDS if name != "provider")


def _takes_profile(node: Mapping[str, Json], answering: Set[str]) -> bool:
    """Whether a profile is put into a node: one that asks for the session's model or the caller's, or that answers with a call
    that it does not write itself; none that keeps to its own."""
    config = node.get("config") or {}
    if node["type"] != "ProviderCall" or config.get("ignore_profiles") is True:
        return False
    return _is_session_model(node) or _is_callers(node) or (node["id"] in answering and not config.get("template"))


def profile_document(document: Mapping[str, Json], fields: Mapping[str, Json], answering: Set[str]) -> dict[str, Json]:
    """A pipeline whose nodes call a profile's model, as ``call_fields`` says it. A node that asks for the caller's with a model
    of its own keeps that, unless it answers."""

    def bound(node: Json) -> Json:
        if not _takes_profile(node, answering):
            return node
        config = node.get("config") or {}
        keeps = config.get("model") if _is_callers(node) and node["id"] not in answering else None
        return {**node, "config": {**config, **fields, "model": keeps or fields["model"]}}

    return {**document, "nodes": [bound(node) for node in document["nodes"]]}


def bound_document(document: Mapping[str, Json], preset: Preset, *, has_model: bool) -> dict[str, Json]:
    """A pipeline whose nodes that ask for the session's model, or for the caller's, call a preset's provider. The session's own
    model counts more than the preset's, and that of a node which asks for the caller's more than both."""
    own = {name: getattr(preset, name) for name in _FIELDS}
    model = "" if has_model else preset.model

    def bound(node: Json) -> Json:
        config = node.get("config") or {}
        if _is_session_model(node):
            return {**node, "config": {**config, **own, "model": model, "targets": []}}
        if _is_callers(node):
            return {**node, "config": {**config, **own, "model": config.get("model") or model}}
        return node

    return {**document, "nodes": [bound(node) for node in document["nodes"]]}
