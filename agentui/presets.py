"""The presets: a folder of named configurations for ProviderCall nodes."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentui.chat.request import VendorName
from agentui.documents.document import problems_of
from agentui.documents.folder import FolderLibrary
from agentui.errors import InvalidPipeline, Problem
from agentui.jsonio import Json


class Preset(BaseModel):
    """A named configuration for a ProviderCall node. Unknown fields are kept."""

    model_config = ConfigDict(extra="allow", strict=True)

    format: Literal[1]
    name: str = Field(min_length=1, max_length=200, description="What people choose by.")
    description: str = ""
    provider: Literal["caller", VendorName] = "openai"
    base_url: str = ""
    endpoint: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    proxy: str = ""
    model: str = ""
    template: str = ""
    models: list[str] = Field(default_factory=list, description="Models to offer in the editor.")
    hosts: list[str] = Field(default_factory=list, description="Hosts that the preset's keys are meant for.")


class PresetLibrary(FolderLibrary[Preset]):
    """The presets."""

    kind: ClassVar[str] = "presets"
    noun: ClassVar[str] = "preset"

    def understand(self, id: str, document: Mapping[str, Json]) -> tuple[Preset, tuple[Problem, ...]]:
        """Check the preset's fields."""
        try:
            return Preset.model_validate(document), ()
        except ValidationError as error:
            raise InvalidPipeline(f"The preset {id!r} has wrong fields.", problems_of(error)) from error
