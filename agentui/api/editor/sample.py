"""A caller's request as the editor gives it: read as if it had come over HTTP by itself."""

from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field

from agentui.http.reading import read_incoming
from agentui.http.state import State
from agentui.jsonio import dumps
from agentui.pipeline.incoming import Incoming


class SampleRequest(BaseModel):
    """A caller's request. ``body`` is JSON; ``query`` is the text behind ``?``, or its parameters."""

    model_config = ConfigDict(extra="forbid", strict=True)

    method: str = Field("POST", pattern="^[A-Z]{1,20}$")
    path: str = Field("/v1/chat/completions", pattern="^/")
    query: str | dict[str, str] = ""
    headers: dict[str, str] = Field(default_factory=dict)
    body: Any = None


def read_sample(request: web.Request, state: State, sample: SampleRequest) -> tuple[Incoming, str | None]:
    """The request, and the pipeline that it names (None: the active one). A query may also stand in the path.

    Raises WrongContentType and BadRequest as ``read_incoming`` does.
    """
    path, _, written = sample.path.partition("?")
    query = sample.query if isinstance(sample.query, str) else urlencode(sample.query)
    query = "&".join(part for part in (written, query) if part)
    headers = {"content-type": "application/json"} | {name.lower(): value for name, value in sample.headers.items()}
    url = f"{request.url.origin()}{path}" + (f"?{query}" if query else "")
    body = b"" if sample.body is None else dumps(sample.body)
    return read_incoming(state, method=sample.method, url=url, path=path, query=query, headers=headers, body=body)
