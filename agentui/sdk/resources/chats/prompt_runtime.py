"""How prompts are made, and how they were. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import NotRequired, Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import ByPipeline, Endpoint, Json, Options, Repeatable
from agentui.sdk.shapes.chats.prompt_runtime import (
    AssetsView,
    Explanation,
    InspectForm,
    Inspection,
    ModePatch,
    ModeView,
    PolicyPatch,
    PolicyView,
    PreviewedText,
    PreviewForm,
    PromptComparison,
    RuntimeState,
)
from agentui.sdk.transport import Resource


class PromptRuntimeGetCall(Options):
    """What ``prompt_runtime.get`` may be told."""

    branch_id: NotRequired[str]
    """A branch that exists; main unless said otherwise."""


class PromptRuntimePatchModeCall(ModePatch, Options, Repeatable):
    """What ``prompt_runtime.patch_mode`` may be told."""


class PromptRuntimePatchPolicyCall(PolicyPatch, Options, Repeatable):
    """What ``prompt_runtime.patch_policy`` may be told."""


class PromptRuntimePatchBranchPolicyCall(PolicyPatch, Options, Repeatable):
    """What ``prompt_runtime.patch_branch_policy`` may be told."""


class PromptRuntimePreviewTextCall(PreviewForm, Options, ByPipeline):
    """What ``prompt_runtime.preview_text`` may be told."""


class PromptRuntimeInspectCall(InspectForm, Options, ByPipeline):
    """What ``prompt_runtime.inspect`` may be told."""


class PromptRuntimeCompareCall(Options):
    """What ``prompt_runtime.compare`` may be told."""

    left_floor_id: str
    right_floor_id: str


_GET_CAPABILITIES = Endpoint[dict[str, Json]]("GET", "/prompt-runtime/capabilities")
_GET = Endpoint[RuntimeState]("GET", "/sessions/{id}/prompt-runtime", query=("branch_id",))
_GET_ASSETS = Endpoint[AssetsView]("GET", "/sessions/{id}/prompt-runtime/assets")
_GET_MODE = Endpoint[ModeView]("GET", "/sessions/{id}/prompt-runtime/mode")
_PATCH_MODE = Endpoint[ModeView]("PATCH", "/sessions/{id}/prompt-runtime/mode", body="json")
_GET_POLICY = Endpoint[PolicyView]("GET", "/sessions/{id}/prompt-runtime/policy")
_PATCH_POLICY = Endpoint[PolicyView]("PATCH", "/sessions/{id}/prompt-runtime/policy", body="json")
_GET_BRANCH_POLICY = Endpoint[PolicyView]("GET", "/sessions/{id}/prompt-runtime/branches/{branch}/policy")
_PATCH_BRANCH_POLICY = Endpoint[PolicyView]("PATCH", "/sessions/{id}/prompt-runtime/branches/{branch}/policy", body="json")
_PREVIEW_TEXT = Endpoint[PreviewedText]("POST", "/sessions/{id}/prompt-runtime/preview", body="json", by_pipeline=True)
_INSPECT = Endpoint[Inspection]("POST", "/sessions/{id}/prompt-runtime/inspect", body="json", by_pipeline=True)
_COMPARE = Endpoint[PromptComparison](
    "POST",
    "/sessions/{id}/prompt-runtime/compare",
    body="json",
    within={"left_floor_id": ("left", "floor_id"), "right_floor_id": ("right", "floor_id")},
)
_GET_FLOOR_EXPLAIN = Endpoint[Explanation]("GET", "/floors/{id}/prompt-runtime/explain")


class PromptRuntimeResource(Resource):
    """How prompts are made, and how they were."""

    def get_capabilities(self, **given: Unpack[Options]) -> dict[str, Json]:
        """Say what the prompt runtime can do. ``GET /prompt-runtime/capabilities``"""
        return self._call(_GET_CAPABILITIES, (), given)

    def get(self, session_id: str, **given: Unpack[PromptRuntimeGetCall]) -> RuntimeState:
        """Say by which rules the next prompt of a branch is assembled. ``GET /sessions/{id}/prompt-runtime``"""
        return self._call(_GET, (session_id,), given)

    def get_assets(self, session_id: str, **given: Unpack[Options]) -> AssetsView:
        """Say what the prompts of a session are made of. ``GET /sessions/{id}/prompt-runtime/assets``"""
        return self._call(_GET_ASSETS, (session_id,), given)

    def get_mode(self, session_id: str, **given: Unpack[Options]) -> ModeView:
        """Say which prompt mode a session has, and where it comes from. ``GET /sessions/{id}/prompt-runtime/mode``"""
        return self._call(_GET_MODE, (session_id,), given)

    def patch_mode(self, session_id: str, **given: Unpack[PromptRuntimePatchModeCall]) -> ModeView:
        """Give a session a prompt mode of its own; null takes it away. ``PATCH /sessions/{id}/prompt-runtime/mode``"""
        return self._call(_PATCH_MODE, (session_id,), given)

    def get_policy(self, session_id: str, **given: Unpack[Options]) -> PolicyView:
        """Read the policy that a session keeps, and what it comes to. ``GET /sessions/{id}/prompt-runtime/policy``"""
        return self._call(_GET_POLICY, (session_id,), given)

    def patch_policy(self, session_id: str, **given: Unpack[PromptRuntimePatchPolicyCall]) -> PolicyView:
        """Change the policy that a session keeps; null clears a section. ``PATCH /sessions/{id}/prompt-runtime/policy``"""
        return self._call(_PATCH_POLICY, (session_id,), given)

    def get_branch_policy(self, session_id: str, branch_id: str, **given: Unpack[Options]) -> PolicyView:
        """Read what a branch has otherwise than its session, and what that comes to. ``GET
        /sessions/{id}/prompt-runtime/branches/{branch}/policy``
        """
        return self._call(_GET_BRANCH_POLICY, (session_id, branch_id), given)

    def patch_branch_policy(
        self, session_id: str, branch_id: str, **given: Unpack[PromptRuntimePatchBranchPolicyCall]
    ) -> PolicyView:
        """Change what a branch has otherwise than its session; null clears a section. ``PATCH
        /sessions/{id}/prompt-runtime/branches/{branch}/policy``
        """
        return self._call(_PATCH_BRANCH_POLICY, (session_id, branch_id), given)

    def preview_text(self, session_id: str, **given: Unpack[PromptRuntimePreviewTextCall]) -> PreviewedText:
        """Replace the macros of a text, as they would be in the next prompt of a branch. ``POST
        /sessions/{id}/prompt-runtime/preview``
        """
        return self._call(_PREVIEW_TEXT, (session_id,), given)

    def inspect(self, session_id: str, **given: Unpack[PromptRuntimeInspectCall]) -> Inspection:
        """Make the prompt of a message without sending it, and tell all of it. ``POST
        /sessions/{id}/prompt-runtime/inspect``
        """
        return self._call(_INSPECT, (session_id,), given)

    def compare(self, session_id: str, **given: Unpack[PromptRuntimeCompareCall]) -> PromptComparison:
        """Compare what was kept of the prompts of two committed floors. ``POST /sessions/{id}/prompt-runtime/compare``"""
        return self._call(_COMPARE, (session_id,), given)

    def get_floor_explain(self, floor_id: str, **given: Unpack[Options]) -> Explanation:
        """Tell what was kept of a committed floor's prompt. ``GET /floors/{id}/prompt-runtime/explain``"""
        return self._call(_GET_FLOOR_EXPLAIN, (floor_id,), given)


class AsyncPromptRuntimeResource(AsyncResource):
    """How prompts are made, and how they were."""

    async def get_capabilities(self, **given: Unpack[Options]) -> dict[str, Json]:
        """Say what the prompt runtime can do. ``GET /prompt-runtime/capabilities``"""
        return await self._call(_GET_CAPABILITIES, (), given)

    async def get(self, session_id: str, **given: Unpack[PromptRuntimeGetCall]) -> RuntimeState:
        """Say by which rules the next prompt of a branch is assembled. ``GET /sessions/{id}/prompt-runtime``"""
        return await self._call(_GET, (session_id,), given)

    async def get_assets(self, session_id: str, **given: Unpack[Options]) -> AssetsView:
        """Say what the prompts of a session are made of. ``GET /sessions/{id}/prompt-runtime/assets``"""
        return await self._call(_GET_ASSETS, (session_id,), given)

    async def get_mode(self, session_id: str, **given: Unpack[Options]) -> ModeView:
        """Say which prompt mode a session has, and where it comes from. ``GET /sessions/{id}/prompt-runtime/mode``"""
        return await self._call(_GET_MODE, (session_id,), given)

    async def patch_mode(self, session_id: str, **given: Unpack[PromptRuntimePatchModeCall]) -> ModeView:
        """Give a session a prompt mode of its own; null takes it away. ``PATCH /sessions/{id}/prompt-runtime/mode``"""
        return await self._call(_PATCH_MODE, (session_id,), given)

    async def get_policy(self, session_id: str, **given: Unpack[Options]) -> PolicyView:
        """Read the policy that a session keeps, and what it comes to. ``GET /sessions/{id}/prompt-runtime/policy``"""
        return await self._call(_GET_POLICY, (session_id,), given)

    async def patch_policy(self, session_id: str, **given: Unpack[PromptRuntimePatchPolicyCall]) -> PolicyView:
        """Change the policy that a session keeps; null clears a section. ``PATCH /sessions/{id}/prompt-runtime/policy``"""
        return await self._call(_PATCH_POLICY, (session_id,), given)

    async def get_branch_policy(self, session_id: str, branch_id: str, **given: Unpack[Options]) -> PolicyView:
        """Read what a branch has otherwise than its session, and what that comes to. ``GET
        /sessions/{id}/prompt-runtime/branches/{branch}/policy``
        """
        return await self._call(_GET_BRANCH_POLICY, (session_id, branch_id), given)

    async def patch_branch_policy(
        self, session_id: str, branch_id: str, **given: Unpack[PromptRuntimePatchBranchPolicyCall]
    ) -> PolicyView:
        """Change what a branch has otherwise than its session; null clears a section. ``PATCH
        /sessions/{id}/prompt-runtime/branches/{branch}/policy``
        """
        return await self._call(_PATCH_BRANCH_POLICY, (session_id, branch_id), given)

    async def preview_text(self, session_id: str, **given: Unpack[PromptRuntimePreviewTextCall]) -> PreviewedText:
        """Replace the macros of a text, as they would be in the next prompt of a branch. ``POST
        /sessions/{id}/prompt-runtime/preview``
        """
        return await self._call(_PREVIEW_TEXT, (session_id,), given)

    async def inspect(self, session_id: str, **given: Unpack[PromptRuntimeInspectCall]) -> Inspection:
        """Make the prompt of a message without sending it, and tell all of it. ``POST
        /sessions/{id}/prompt-runtime/inspect``
        """
        return await self._call(_INSPECT, (session_id,), given)

    async def compare(self, session_id: str, **given: Unpack[PromptRuntimeCompareCall]) -> PromptComparison:
        """Compare what was kept of the prompts of two committed floors. ``POST /sessions/{id}/prompt-runtime/compare``"""
        return await self._call(_COMPARE, (session_id,), given)

    async def get_floor_explain(self, floor_id: str, **given: Unpack[Options]) -> Explanation:
        """Tell what was kept of a committed floor's prompt. ``GET /floors/{id}/prompt-runtime/explain``"""
        return await self._call(_GET_FLOOR_EXPLAIN, (floor_id,), given)
