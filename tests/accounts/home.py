"""Browsers that keep cookies, with the page of a server open at its public address."""

from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any

from agentui.http.credentials import SIGN_IN_COOKIE
from agentui.jsonio import Json
from tests.accounts.conftest import Person, Team
from tests.api.editor_client import Answer

HOST = "agents.example"
HOME = f"https://{HOST}"


@dataclass
class Browser(Person):
    """A browser. It sends what it was given to keep, and says where its page is from."""

    jar: dict[str, str] = field(default_factory=dict)

    async def call(self, method: str, path: str, body: Json, headers: Any) -> Answer:
        kept = {"cookie": "; ".join(f"{name}={value}" for name, value in self.jar.items())} if self.jar else {}
        answer = await super().call(method, path, body, {"host": HOST, "origin": HOME, **kept, **headers})
        for header in answer.headers.getall("Set-Cookie", ()):
            for name, morsel in SimpleCookie(header).items():
                self.jar.pop(name, None)
                if morsel["max-age"] != "0":
                    self.jar[name] = morsel.value
        return answer

    @property
    def signed_in(self) -> str | None:
        """What it keeps of being signed in."""
        return self.jar.get(SIGN_IN_COOKIE)

    async def whose(self) -> str | None:
        """The account that it is signed in to."""
        answer = await self.get("/auth/me")
        return answer.body["data"]["account_id"] if answer.status == 200 else None


def browser_of(team: Team, **jar: str) -> Browser:
    """A browser with the server's page open."""
    return Browser(team.server, team.http, {}, jar)
