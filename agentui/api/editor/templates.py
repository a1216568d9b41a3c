"""The gallery: the pipelines that ship with agentui, to begin a new one from."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from agentui.documents.document import parse_document
from agentui.errors import Problem
from agentui.http.route import Route, answer
from agentui.jsonio import Json
from agentui.shipped import shipped

GALLERY = shipped("pipelines")
SHIPPED = (
    "default",
    "system-prompt",
    "raw-forward",
    "local-model",
    "openai-to-claude",
    "openai-to-gemini",
    "translate-then-answer",
    "two-models-merge",
    "template-openai",
    "gold",
    "demo",
)
"""What ships, the simplest first. The folder itself cannot tell: in a checkout it is also where people's own pipelines are."""


@dataclass(frozen=True, slots=True)
class Template:
    """A pipeline to begin from. Where the gallery's folder is the one that is served, it is as it was last saved there."""

    id: str
    name: str
    description: str
    document: dict[str, Json]


async def list_templates(request: web.Request) -> web.Response:
    """List the pipelines that ship with agentui, each with its document."""
    return answer(await asyncio.to_thread(read_gallery, GALLERY))


def read_gallery(folder: Path) -> list[Template]:
    """The shipped pipelines in this folder; one that is not there, or can no longer be read, is left out."""
    found = []
    for id in SHIPPED:
        try:
            document = parse_document((folder / f"{id}.json").read_bytes())
        except OSError:
            continue
        if not isinstance(document, Problem):
            found.append(Template(id, _text(document, "name") or id, _text(document, "description"), document))
    return found


def _text(document: dict[str, Json], field: str) -> str:
    value = document.get(field)
    return value if isinstance(value, str) else ""


ROUTES = (Route("GET", "/api/templates", list_templates, answer=list[Template]),)
