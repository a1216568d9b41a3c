"""Pipelines: documents with versions, their check and their trial. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Json, Matching, Options
from agentui.sdk.shapes.editor.common import DocumentLine, DocumentState, Version, VersionName, VersionState
from agentui.sdk.shapes.editor.pipelines import NewId, Preview, PreviewRequest, TryRequest, ValidateRequest, Verdict
from agentui.sdk.streams import AnswerStream, AsyncAnswerStream
from agentui.sdk.transport import Resource


class PipelinesPutCall(Options, Matching):
    """What ``pipelines.put`` may be told."""

    document: dict[str, Json]


class PipelinesDeleteCall(Options, Matching):
    """What ``pipelines.delete`` may be told."""


class PipelinesRenameCall(NewId, Options, Matching):
    """What ``pipelines.rename`` may be told."""


class PipelinesNameVersionCall(VersionName, Options):
    """What ``pipelines.name_version`` may be told."""


class PipelinesValidateCall(ValidateRequest, Options):
    """What ``pipelines.validate`` may be told."""


class PipelinesPreviewCall(PreviewRequest, Options):
    """What ``pipelines.preview`` may be told."""


class PipelinesRunCall(TryRequest, Options):
    """What ``pipelines.run`` may be told."""


_LIST = Endpoint[Items[DocumentLine]]("GET", "/api/pipelines", answer="whole")
_GET = Endpoint[DocumentState]("GET", "/api/pipelines/{id}", answer="whole")
_PUT = Endpoint[DocumentState]("PUT", "/api/pipelines/{id}", body="document", answer="whole")
_DELETE = Endpoint[None]("DELETE", "/api/pipelines/{id}", answer="none")
_ACTIVATE = Endpoint[DocumentState]("POST", "/api/pipelines/{id}/activate", answer="whole")
_RENAME = Endpoint[DocumentState]("POST", "/api/pipelines/{id}/rename", body="json", answer="whole")
_LIST_VERSIONS = Endpoint[Items[Version]]("GET", "/api/pipelines/{id}/versions", answer="whole")
_GET_VERSION = Endpoint[VersionState]("GET", "/api/pipelines/{id}/versions/{number}", answer="whole")
_NAME_VERSION = Endpoint[Version]("PUT", "/api/pipelines/{id}/versions/{number}/name", body="json", answer="whole")
_VALIDATE = Endpoint[Verdict]("POST", "/api/validate", body="json", answer="whole")
_PREVIEW = Endpoint[Preview]("POST", "/api/preview", body="json", answer="whole")
_RUN = Endpoint[dict[str, Json]]("POST", "/api/try", body="json", answer="whole")


class PipelinesResource(Resource):
    """Pipelines: documents with versions, their check and their trial."""

    def list(self, **given: Unpack[Options]) -> Items[DocumentLine]:
        """List the pipelines. ``GET /api/pipelines``"""
        return self._call(_LIST, (), given)

    def get(self, pipeline_id: str, **given: Unpack[Options]) -> DocumentState:
        """Read a pipeline with its problems; the ETag is for saving. ``GET /api/pipelines/{id}``"""
        return self._call(_GET, (pipeline_id,), given)

    def put(self, pipeline_id: str, **given: Unpack[PipelinesPutCall]) -> DocumentState:
        """Save a pipeline as it is given, problems and all. ``PUT /api/pipelines/{id}``"""
        return self._call(_PUT, (pipeline_id,), given)

    def delete(self, pipeline_id: str, **given: Unpack[PipelinesDeleteCall]) -> None:
        """Remove a pipeline; its versions stay. ``DELETE /api/pipelines/{id}``"""
        self._call(_DELETE, (pipeline_id,), given)

    def activate(self, pipeline_id: str, **given: Unpack[Options]) -> DocumentState:
        """Let this pipeline serve callers who name none; it must have no problems. ``POST /api/pipelines/{id}/activate``"""
        return self._call(_ACTIVATE, (pipeline_id,), given)

    def rename(self, pipeline_id: str, **given: Unpack[PipelinesRenameCall]) -> DocumentState:
        """Give a pipeline another id; its versions go with it, and the active one stays active. ``POST
        /api/pipelines/{id}/rename``
        """
        return self._call(_RENAME, (pipeline_id,), given)

    def list_versions(self, pipeline_id: str, **given: Unpack[Options]) -> Items[Version]:
        """List the kept versions, newest first. ``GET /api/pipelines/{id}/versions``"""
        return self._call(_LIST_VERSIONS, (pipeline_id,), given)

    def get_version(self, pipeline_id: str, number: int, **given: Unpack[Options]) -> VersionState:
        """Read one version; saving its document restores it. ``GET /api/pipelines/{id}/versions/{number}``"""
        return self._call(_GET_VERSION, (pipeline_id, number), given)

    def name_version(self, pipeline_id: str, number: int, **given: Unpack[PipelinesNameVersionCall]) -> Version:
        """Name a version, which keeps it for good. ``PUT /api/pipelines/{id}/versions/{number}/name``"""
        return self._call(_NAME_VERSION, (pipeline_id, number), given)

    def validate(self, **given: Unpack[PipelinesValidateCall]) -> Verdict:
        """Check a pipeline document without saving it: its problems, its order, and the hosts that its keys would go to.
        ``POST /api/validate``
        """
        return self._call(_VALIDATE, (), given)

    def preview(self, **given: Unpack[PipelinesPreviewCall]) -> Preview:
        """Show what a node would send or set for a request, without sending anything. ``POST /api/preview``"""
        return self._call(_PREVIEW, (), given)

    def run(self, **given: Unpack[PipelinesRunCall]) -> dict[str, Json]:
        """Run a saved or unsaved pipeline on a request, some nodes pinned, and answer in the request's dialect. ``POST
        /api/try``
        """
        return self._call(_RUN, (), given)

    def run_stream(self, **given: Unpack[PipelinesRunCall]) -> AnswerStream:
        """As ``run``, for a request that asks for a stream: its events as they come."""
        return self._answer(_RUN, (), given)


class AsyncPipelinesResource(AsyncResource):
    """Pipelines: documents with versions, their check and their trial."""

    async def list(self, **given: Unpack[Options]) -> Items[DocumentLine]:
        """List the pipelines. ``GET /api/pipelines``"""
        return await self._call(_LIST, (), given)

    async def get(self, pipeline_id: str, **given: Unpack[Options]) -> DocumentState:
        """Read a pipeline with its problems; the ETag is for saving. ``GET /api/pipelines/{id}``"""
        return await self._call(_GET, (pipeline_id,), given)

    async def put(self, pipeline_id: str, **given: Unpack[PipelinesPutCall]) -> DocumentState:
        """Save a pipeline as it is given, problems and all. ``PUT /api/pipelines/{id}``"""
        return await self._call(_PUT, (pipeline_id,), given)

    async def delete(self, pipeline_id: str, **given: Unpack[PipelinesDeleteCall]) -> None:
        """Remove a pipeline; its versions stay. ``DELETE /api/pipelines/{id}``"""
        await self._call(_DELETE, (pipeline_id,), given)

    async def activate(self, pipeline_id: str, **given: Unpack[Options]) -> DocumentState:
        """Let this pipeline serve callers who name none; it must have no problems. ``POST /api/pipelines/{id}/activate``"""
        return await self._call(_ACTIVATE, (pipeline_id,), given)

    async def rename(self, pipeline_id: str, **given: Unpack[PipelinesRenameCall]) -> DocumentState:
        """Give a pipeline another id; its versions go with it, and the active one stays active. ``POST
        /api/pipelines/{id}/rename``
        """
        return await self._call(_RENAME, (pipeline_id,), given)

    async def list_versions(self, pipeline_id: str, **given: Unpack[Options]) -> Items[Version]:
        """List the kept versions, newest first. ``GET /api/pipelines/{id}/versions``"""
        return await self._call(_LIST_VERSIONS, (pipeline_id,), given)

    async def get_version(self, pipeline_id: str, number: int, **given: Unpack[Options]) -> VersionState:
        """Read one version; saving its document restores it. ``GET /api/pipelines/{id}/versions/{number}``"""
        return await self._call(_GET_VERSION, (pipeline_id, number), given)

    async def name_version(self, pipeline_id: str, number: int, **given: Unpack[PipelinesNameVersionCall]) -> Version:
        """Name a version, which keeps it for good. ``PUT /api/pipelines/{id}/versions/{number}/name``"""
        return await self._call(_NAME_VERSION, (pipeline_id, number), given)

    async def validate(self, **given: Unpack[PipelinesValidateCall]) -> Verdict:
        """Check a pipeline document without saving it: its problems, its order, and the hosts that its keys would go to.
        ``POST /api/validate``
        """
        return await self._call(_VALIDATE, (), given)

    async def preview(self, **given: Unpack[PipelinesPreviewCall]) -> Preview:
        """Show what a node would send or set for a request, without sending anything. ``POST /api/preview``"""
        return await self._call(_PREVIEW, (), given)

    async def run(self, **given: Unpack[PipelinesRunCall]) -> dict[str, Json]:
        """Run a saved or unsaved pipeline on a request, some nodes pinned, and answer in the request's dialect. ``POST
        /api/try``
        """
        return await self._call(_RUN, (), given)

    def run_stream(self, **given: Unpack[PipelinesRunCall]) -> AsyncAnswerStream:
        """As ``run``, for a request that asks for a stream: its events as they come."""
        return self._answer(_RUN, (), given)
