"""LLM profiles: providers, keys and models, and which slots they serve. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Literal, NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options, Repeatable
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.shapes.models.llm_profiles import (
    Activated,
    Activation,
    Asking,
    DiscoveredModel,
    NewProfile,
    ProfilePatch,
    Runtime,
    ShownProfile,
    Trial,
    TrialAnswer,
    Unbound,
)
from agentui.sdk.transport import Resource


class LlmProfilesListCall(Options):
    """What ``llm_profiles.list`` may be told."""

    include_deleted: NotRequired[bool]
    """true: deleted ones, too."""
    status: NotRequired[Literal["active", "disabled", "deleted"]]
    """active, disabled or deleted: only those."""


class LlmProfilesCreateCall(NewProfile, Options, Repeatable):
    """What ``llm_profiles.create`` may be told."""


class LlmProfilesUpdateCall(ProfilePatch, Options, Repeatable):
    """What ``llm_profiles.update`` may be told."""


class LlmProfilesDeleteCall(Options, Repeatable):
    """What ``llm_profiles.delete`` may be told."""


class LlmProfilesActivateCall(Activation, Options, Repeatable):
    """What ``llm_profiles.activate`` may be told."""


class LlmProfilesUnbindCall(Options, Repeatable):
    """What ``llm_profiles.unbind`` may be told."""

    scope: NotRequired[Literal["global", "session"]]
    """global, or session."""
    session_id: NotRequired[str]
    """The session, where the scope is session."""


class LlmProfilesGetRuntimeCall(Options):
    """What ``llm_profiles.get_runtime`` may be told."""

    session_id: NotRequired[str]
    """A session: its own bindings count as well."""


class LlmProfilesDiscoverModelsCall(Asking, Options):
    """What ``llm_profiles.discover_models`` may be told."""


class LlmProfilesTestModelCall(Trial, Options):
    """What ``llm_profiles.test_model`` may be told."""


_LIST = Endpoint[Items[ShownProfile]]("GET", "/llm-profiles", query=("include_deleted", "status"))
_CREATE = Endpoint[ShownProfile]("POST", "/llm-profiles", body="json")
_GET = Endpoint[ShownProfile]("GET", "/llm-profiles/{id}")
_UPDATE = Endpoint[ShownProfile]("PATCH", "/llm-profiles/{id}", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/llm-profiles/{id}")
_ACTIVATE = Endpoint[Activated]("POST", "/llm-profiles/{id}/activate", body="json")
_UNBIND = Endpoint[Unbound]("DELETE", "/llm-profiles/bindings/{slot}", query=("scope", "session_id"))
_GET_RUNTIME = Endpoint[Runtime]("GET", "/llm-profiles/runtime", query=("session_id",))
_DISCOVER_MODELS = Endpoint[Items[DiscoveredModel]]("POST", "/llm-profiles/models/discover", body="json")
_TEST_MODEL = Endpoint[TrialAnswer]("POST", "/llm-profiles/models/test", body="json")


class LlmProfilesResource(Resource):
    """LLM profiles: providers, keys and models, and which slots they serve."""

    def list(self, **given: Unpack[LlmProfilesListCall]) -> Items[ShownProfile]:
        """List the account's profiles, the one that was changed last first. ``GET /llm-profiles``"""
        return self._call(_LIST, (), given)

    def create(self, **given: Unpack[LlmProfilesCreateCall]) -> ShownProfile:
        """Make a profile. ``POST /llm-profiles``"""
        return self._call(_CREATE, (), given)

    def get(self, profile_id: str, **given: Unpack[Options]) -> ShownProfile:
        """Read a profile, also a deleted one. ``GET /llm-profiles/{id}``"""
        return self._call(_GET, (profile_id,), given)

    def update(self, profile_id: str, **given: Unpack[LlmProfilesUpdateCall]) -> ShownProfile:
        """Change a profile. ``PATCH /llm-profiles/{id}``"""
        return self._call(_UPDATE, (profile_id,), given)

    def delete(self, profile_id: str, **given: Unpack[LlmProfilesDeleteCall]) -> Deleted:
        """Delete a profile: its row stays, its key is gone. ``DELETE /llm-profiles/{id}``"""
        return self._call(_DELETE, (profile_id,), given)

    def activate(self, profile_id: str, **given: Unpack[LlmProfilesActivateCall]) -> Activated:
        """Let a profile serve a slot, everywhere or in a session. ``POST /llm-profiles/{id}/activate``"""
        return self._call(_ACTIVATE, (profile_id,), given)

    def unbind(self, slot: str, **given: Unpack[LlmProfilesUnbindCall]) -> Unbound:
        """Let a slot have no profile of its own any more, everywhere or in a session. ``DELETE
        /llm-profiles/bindings/{slot}``
        """
        return self._call(_UNBIND, (slot,), given)

    def get_runtime(self, **given: Unpack[LlmProfilesGetRuntimeCall]) -> Runtime:
        """What serves each slot in a session, or where there is none, why, and what is passed over. ``GET
        /llm-profiles/runtime``
        """
        return self._call(_GET_RUNTIME, (), given)

    def discover_models(self, **given: Unpack[LlmProfilesDiscoverModelsCall]) -> Items[DiscoveredModel]:
        """List the models of a provider, asked with a key that is kept nowhere, or with a profile's own. ``POST
        /llm-profiles/models/discover``
        """
        return self._call(_DISCOVER_MODELS, (), given)

    def test_model(self, **given: Unpack[LlmProfilesTestModelCall]) -> TrialAnswer:
        """Say hello to a model, with a key that is kept nowhere, or with a profile's own. ``POST
        /llm-profiles/models/test``
        """
        return self._call(_TEST_MODEL, (), given)


class AsyncLlmProfilesResource(AsyncResource):
    """LLM profiles: providers, keys and models, and which slots they serve."""

    async def list(self, **given: Unpack[LlmProfilesListCall]) -> Items[ShownProfile]:
        """List the account's profiles, the one that was changed last first. ``GET /llm-profiles``"""
        return await self._call(_LIST, (), given)

    async def create(self, **given: Unpack[LlmProfilesCreateCall]) -> ShownProfile:
        """Make a profile. ``POST /llm-profiles``"""
        return await self._call(_CREATE, (), given)

    async def get(self, profile_id: str, **given: Unpack[Options]) -> ShownProfile:
        """Read a profile, also a deleted one. ``GET /llm-profiles/{id}``"""
        return await self._call(_GET, (profile_id,), given)

    async def update(self, profile_id: str, **given: Unpack[LlmProfilesUpdateCall]) -> ShownProfile:
        """Change a profile. ``PATCH /llm-profiles/{id}``"""
        return await self._call(_UPDATE, (profile_id,), given)

    async def delete(self, profile_id: str, **given: Unpack[LlmProfilesDeleteCall]) -> Deleted:
        """Delete a profile: its row stays, its key is gone. ``DELETE /llm-profiles/{id}``"""
        return await self._call(_DELETE, (profile_id,), given)

    async def activate(self, profile_id: str, **given: Unpack[LlmProfilesActivateCall]) -> Activated:
        """Let a profile serve a slot, everywhere or in a session. ``POST /llm-profiles/{id}/activate``"""
        return await self._call(_ACTIVATE, (profile_id,), given)

    async def unbind(self, slot: str, **given: Unpack[LlmProfilesUnbindCall]) -> Unbound:
        """Let a slot have no profile of its own any more, everywhere or in a session. ``DELETE
        /llm-profiles/bindings/{slot}``
        """
        return await self._call(_UNBIND, (slot,), given)

    async def get_runtime(self, **given: Unpack[LlmProfilesGetRuntimeCall]) -> Runtime:
        """What serves each slot in a session, or where there is none, why, and what is passed over. ``GET
        /llm-profiles/runtime``
        """
        return await self._call(_GET_RUNTIME, (), given)

    async def discover_models(self, **given: Unpack[LlmProfilesDiscoverModelsCall]) -> Items[DiscoveredModel]:
        """List the models of a provider, asked with a key that is kept nowhere, or with a profile's own. ``POST
        /llm-profiles/models/discover``
        """
        return await self._call(_DISCOVER_MODELS, (), given)

    async def test_model(self, **given: Unpack[LlmProfilesTestModelCall]) -> TrialAnswer:
        """Say hello to a model, with a key that is kept nowhere, or with a profile's own. ``POST
        /llm-profiles/models/test``
        """
        return await self._call(_TEST_MODEL, (), given)
