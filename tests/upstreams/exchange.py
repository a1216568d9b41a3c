"""One request to a mock, with what the dialect needs to judge and to answer it."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.upstreams.shapes import Json
from tests.upstreams.step import Step


class Refused(Exception):
    """The vendor says no: status, body in its own shape, headers."""

    def __init__(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body
        self.headers = dict(headers or {})


class Vault:
    """The signatures that a mock has issued, and for what (``content_by_token``)."""

    def __init__(self) -> None:
        self.content_by_token: dict[str, str] = {}
        self.threads: dict[str, dict[str, Json]] = {}
        """The bodies of conversations that are kept, their messages whole, by the id of the last answer."""

    def issue(self, vendor: str, content: str) -> str:
        """A new token (base64 text) that stands for ``content``."""
        number = len(self.content_by_token) + 1
        token = base64.b64encode(f"{vendor}-signature-{number:06d}".encode()).decode()
        self.content_by_token[token] = f"{vendor}:{content}"
        return token

    def holds(self, vendor: str, token: str, content: str | None = None) -> bool:
        """Whether this vendor issued the token, for exactly this content where one is given."""
        stored = self.content_by_token.get(token)
        if stored is None:
            return False
        return stored.startswith(f"{vendor}:") if content is None else stored == f"{vendor}:{content}"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request: header names are lower case, ``serial`` counts requests and makes ids."""

    model: str
    body: Json
    headers: Mapping[str, str]
    query: Mapping[str, str]
    operation: str
    stream: bool
    step: Step
    vault: Vault
    serial: int = 1
    tool_names: tuple[str, ...] = field(default=())

    def tool_name(self, name: str) -> str:
        """A call's name: its own, else the first declared tool's."""
        return name or (self.tool_names[0] if self.tool_names else "lookup")


def dumps(value: Json) -> str:
    """JSON as the vendors write it: compact, with every character as itself (U+2028 too)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def halves(text: str) -> list[str]:
    """Text in two or three uneven pieces, so that nothing can rely on where arguments are cut."""
    return [piece for piece in (text[:1], text[1:7], text[7:]) if piece]
