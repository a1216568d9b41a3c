"""Facts about this server for the editor: its settings, its secrets' names, and the names that templates know."""

import asyncio
from dataclasses import dataclass

from aiohttp import web

from agentui import __version__
from agentui.http.route import Route, answer
from agentui.http.state import STATE
from agentui.jsonio import Json
from agentui.pipeline.context import CONTEXT_NAMES, context_paths
from agentui.settings import Settings

_SECRET_SETTINGS = frozenset({"token", "secret_key"})


@dataclass(frozen=True, slots=True)
class SettingsState:
    """The settings in effect but for the secret ones, and what the server complains of."""

    version: str
    has_token: bool
    settings: dict[str, Json]
    complaints: list[str]


@dataclass(frozen=True, slots=True)
class SecretLine:
    """A provider key by its name: where it is kept, and where it may be sent (null: anywhere)."""

    name: str
    source: str
    origins: list[str] | None


@dataclass(frozen=True, slots=True)
class ContextNames:
    """What ``[[VAR:...]]`` completes to: first names, and paths below them that every request has."""

    names: list[str]
    paths: list[str]


async def get_settings(request: web.Request) -> web.Response:
    """Read the settings in effect, the secret ones left out, and the version."""
    state = request.app[STATE]
    return answer(
        SettingsState(
            version=__version__,
            has_token=state.settings.token is not None,
            settings=public_settings(state.settings),
            complaints=[*state.pipelines.complaints, *state.presets.complaints],
        )
    )


def public_settings(settings: Settings) -> dict[str, Json]:
    """The settings that may be shown."""
    shown: dict[str, Json] = settings.model_dump(mode="json", exclude=set(_SECRET_SETTINGS))
    return shown


async def list_secrets(request: web.Request) -> web.Response:
    """List the names of the provider keys and where each may be sent; their values never leave the server."""
    names = await asyncio.to_thread(request.app[STATE].services.secrets.names)
    return answer(
        [SecretLine(known.name, known.source, None if known.origins is None else sorted(known.origins)) for known in names]
    )


async def get_context_names(request: web.Request) -> web.Response:
    """List the names that every template can read."""
    return answer(ContextNames(list(CONTEXT_NAMES), context_paths()))


ROUTES = (
    Route("GET", "/api/settings", get_settings, answer=SettingsState),
    Route("GET", "/api/secrets", list_secrets, answer=list[SecretLine]),
    Route("GET", "/api/context-names", get_context_names, answer=ContextNames),
)
