"""The Python client of agentui. It needs httpx and nothing of what a server needs; docs/sdk.md tells how to have it so.

    with TavernClient("http://127.0.0.1:7860") as client:
        session = client.sessions.create(title="Campfire")
        answer = client.sessions.respond(session["id"], message="Hello!")

``client`` is what programs hold. Below it ``resources`` has a class for each group of routes and ``shapes`` what goes in and
out; both are made from the server's own routes. ``endpoints`` composes requests, ``exchange`` decides about answers, both
without a socket; ``transport`` and ``asynctransport`` send. This package imports nothing else of agentui, and httpx
alone; ``helpers``, which puts answers into the shapes that programs show, imports nothing.
"""

from typing import TYPE_CHECKING

try:
    from agentui.sdk.client import AsyncTavernClient, TavernClient
    from agentui.sdk.downloads import AsyncDownload, Download
    from agentui.sdk.endpoints import Json, ListMeta, ListOf, Owner, Upload, build_account_headers
    from agentui.sdk.errors import (
        BadRequest,
        Conflict,
        Forbidden,
        NotFound,
        RateLimited,
        ServerFailed,
        StreamFailed,
        TavernApiError,
        TavernConnectionError,
        TavernError,
        TavernTimeout,
        Unauthorized,
    )
    from agentui.sdk.feeds import AnswerEvent, ChangeEvent, LiveEvent, StepEvent
    from agentui.sdk.streams import (
        AnswerStream,
        AsyncAnswerStream,
        AsyncEventStream,
        AsyncTurnStream,
        EventStream,
        TurnStream,
    )
    from agentui.sdk.turnevents import TurnEvent
except ModuleNotFoundError as error:
    # The helpers are pure, and may be had without httpx.
    if error.name != "httpx":
        raise

    if not TYPE_CHECKING:  # a checker would take any name for one of this package

        def __getattr__(name: str) -> object:
            """What is missing, and why."""
            if name in __all__:
                needed = "pip install -e '.[sdk]' in agentui's folder, or httpx alone."
                raise ImportError(f"{name} needs httpx: {needed}", name="httpx")
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AnswerEvent",
    "AnswerStream",
    "AsyncAnswerStream",
    "AsyncDownload",
    "AsyncEventStream",
    "AsyncTavernClient",
    "AsyncTurnStream",
    "BadRequest",
    "ChangeEvent",
    "Conflict",
    "Download",
    "EventStream",
    "Forbidden",
    "Json",
    "ListMeta",
    "ListOf",
    "LiveEvent",
    "NotFound",
    "Owner",
    "RateLimited",
    "ServerFailed",
    "StepEvent",
    "StreamFailed",
    "TavernApiError",
    "TavernClient",
    "TavernConnectionError",
    "TavernError",
    "TavernTimeout",
    "TurnEvent",
    "TurnStream",
    "Unauthorized",
    "Upload",
    "build_account_headers",
]
