"""Checking a pipeline that is still being drawn: nothing is saved, nothing runs."""

import asyncio
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict

from agentui.http.route import Route, answer, read_model
from agentui.http.state import STATE
from agentui.pipeline.check import Verdict, check_document


class ValidateRequest(BaseModel):
    """A pipeline document, of any shape."""

    model_config = ConfigDict(extra="forbid", strict=True)

    document: dict[str, Any]


async def validate(request: web.Request) -> web.Response:
    """Check a pipeline document without saving it: its problems, its order, and the hosts that its keys would go to."""
    state = request.app[STATE]
    document = (await read_model(request, ValidateRequest)).document
    return answer(await asyncio.to_thread(check_document, document, state.catalog, state.services))


ROUTES = (Route("POST", "/api/validate", validate, answer=Verdict, body=ValidateRequest, errors=(400, 413, 415)),)
