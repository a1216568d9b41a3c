"""Which pipeline answers a turn, and with which model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentui.chats.codes import failure
from agentui.errors import InvalidPipeline, NotFound
from agentui.jsonio import Json
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.plans.plan import Plan
from agentui.presets import Preset, PresetLibrary

CHAT = "chat"
"""The pipeline of turns that name none: the session's model answers them."""
MOST_BOUND = 64
"""Plans that are kept with a preset in them."""
_FIELDS = ("provider", "base_url", "endpoint", "headers", "proxy", "template")


@dataclass(frozen=True, slots=True)
class SessionModel:
    """What a session says of its model: ``provider`` is the id of a preset."""

    provider: str | None = None
    name: str | None = None

    @classmethod
    def of(cls, bindings: Mapping[str, Json]) -> "SessionModel":
        """That of the session with these bindings (``ChatFacts``)."""
        return cls(bindings.get("model_provider"), bindings.get("model_name"))


class PipelineChoice:
    """Chooses pipelines for turns. ``default_preset`` serves sessions that name no provider; "" for none."""

    def __init__(self, pipelines: PipelineLibrary, presets: PresetLibrary, default_preset: str) -> None:
        self._pipelines = pipelines
        self._presets = presets
        self._default_preset = default_preset
        self._bound: dict[tuple[str, str, str, str], Plan] = {}

    def plan(self, named: str | None, own: str | None, model: SessionModel) -> Plan:
        """The plan of the pipeline that the request names, else the session's own, else ``chat``, else the active one, with the
        session's model in the nodes that ask for it, or for whatever the caller calls.

        Raises NotFound, InvalidPipeline, and 409 ``profile_not_found`` where the session's provider is no preset.
        """
        id = named or own or (CHAT if CHAT in self._pipelines else self._pipelines.active)
        return self.binding(model)(self._pipelines.plan(id))

    def binding(self, model: SessionModel) -> Callable[[Plan], Plan]:
        """What puts a session's model into plans, as ``plan`` does it; for those that they call. It raises
        ``profile_not_found``."""

        def bound(plan: Plan) -> Plan:
            return self._with_model(plan, model) if _asks_for_model(plan.document) else plan

        return bound

    def model_name(self, model: SessionModel) -> str | None:
        """The model that a turn asks its pipeline for: the session's own, else that of the preset that it names, else of the
        settings'. None where nobody names one."""
        if model.name is not None:
            return model.name
        name = model.provider or self._default_preset
        try:
            return (self._presets.good(name).model or None) if name else None
        except (NotFound, InvalidPipeline):
            return None  # ``plan`` says so where that matters

    def check(self, id: str) -> None:
        """Raises NotFound where there is no such pipeline, InvalidPipeline where it never was good."""
        self._pipelines.plan(id)

    def _with_model(self, plan: Plan, model: SessionModel) -> Plan:
        found = self._preset(model.provider)
        if found is None:
            return plan
        name, preset = found
        key = plan.id, plan.version, preset.model_dump_json(), "" if model.name is None else "named"
        bound = self._bound.pop(key, None)
        if bound is None:
            try:
                bound = self._pipelines.compile(
                    plan.id, bound_document(plan.document, preset, has_model=model.name is not None)
                )
            except InvalidPipeline as error:
                raise failure(
                    "profile_not_found", f"The preset {name!r} does not serve this pipeline: {error.message}", preset=name
                ) from error
        self._bound[key] = bound
        if len(self._bound) > MOST_BOUND:
            del self._bound[next(iter(self._bound))]
        return bound

    def _preset(self, provider: str | None) -> tuple[str, Preset] | None:
        """The preset that a session names, else the settings' own where it is there."""
        name = provider or self._default_preset
        try:
            return (name, self._presets.good(name)) if name else None
        except (NotFound, InvalidPipeline) as error:
            if provider is None:
                return None
            raise failure(
                "profile_not_found",
                f"There is no provider preset {provider[:100]!r}, the session's model_provider: name another one, or null.",
                model_provider=provider[:100],
            ) from error


def _asks_for_model(document: Mapping[str, Json]) -> bool:
    return any(_is_session_model(node) or _is_callers(node) for node in document["nodes"])


def _is_session_model(node: Mapping[str, Json]) -> bool:
    return node["type"] == "ProviderCall" and (node.get("config") or {}).get("session_model") is True


def _is_callers(node: Mapping[str, Json]) -> bool:
    """Whether a node calls what its caller would call: it names neither a provider nor anything of one but a model."""
    config = node.get("config") or {}
    is_open = config.get("provider", "caller") == "caller" and not config.get("targets")
    return node["type"] == "ProviderCall" and is_open and not any(config.get(name) for name in _FIELDS if name != "provider")


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
