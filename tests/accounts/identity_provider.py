"""An identity provider of OpenID Connect: a real server on loopback that keeps the rules, and breaks one where a test says so.

``python3 -m tests.accounts.identity_provider PORT REDIRECT`` runs it alone, for a server behind a proxy that is tried by hand.
"""

import asyncio
import base64
import html
import secrets
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from aiohttp import web
from joserfc import jws, jwt
from joserfc.jwk import ECKey, Key, OctKey, RSAKey

from agentui.jsonio import Json, dumps

CLIENT, SECRET = "agentui-of-the-tests", "the-clients-secret-0123"


@dataclass
class Grant:
    """What a code stands for."""

    client: str
    redirect: str
    challenge: str
    nonce: str
    claims: dict[str, Json]


@dataclass
class IdentityProvider:
    """Signs ``person`` in, whoever asks. ``lie`` names the rule that is broken, ``says`` are claims that its tokens have
    otherwise. ``tells`` stands in place of
    its access token. ``asked`` counts what it was asked, by path. Whoever asks waits until ``holds`` is set, where that is an
    event; ``is_held`` says that somebody waits."""

    issuer: str = ""
    redirect: str = ""
    person: dict[str, Json] = field(default_factory=lambda: {"sub": "248289761001", "name": "Jane Doe"})
    told_later: dict[str, Json] = field(default_factory=dict)
    document: dict[str, Json] = field(default_factory=dict)
    says: dict[str, Json] = field(default_factory=dict)
    lie: str = ""
    error: str = ""
    tells: Json = None
    secret: str | None = SECRET
    holds: asyncio.Event | None = None
    is_held: asyncio.Event = field(default_factory=asyncio.Event)
    asked: dict[str, int] = field(default_factory=dict)
    grants: dict[str, Grant] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    keys: list[Key] = field(default_factory=lambda: [RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})])
    access: dict[str, dict[str, Json]] = field(default_factory=dict)

    def rotate(self, kid: str, *, elliptic: bool = False) -> None:
        """Sign by a new key, and publish the one before no more."""
        made = ECKey.generate_key("P-256", {"kid": kid}) if elliptic else RSAKey.generate_key(2048, {"kid": kid})
        self.keys = [made]

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/.well-known/openid-configuration", self._document)
        app.router.add_get("/authorize", self._authorize)
        app.router.add_post("/token", self._token)
        app.router.add_get("/keys", self._keys)
        app.router.add_get("/me", self._me)
        app.router.add_get("/leave", self._leave)
        return app

    async def _asked(self, request: web.Request) -> None:
        self.asked[request.path] = self.asked.get(request.path, 0) + 1
        if self.holds is not None:
            self.is_held.set()
            await self.holds.wait()

    async def _document(self, request: web.Request) -> web.StreamResponse:
        await self._asked(request)
        if self.lie == "no json":
            return web.Response(text="<html>Sign in to the hotel's network</html>", content_type="text/html")
        at = self.issuer
        return web.json_response(
            {
                "issuer": at,
                "authorization_endpoint": f"{at}/authorize",
                "token_endpoint": f"{at}/token",
                "jwks_uri": f"{at}/keys",
                "userinfo_endpoint": f"{at}/me",
                "end_session_endpoint": f"{at}/leave",
                "response_types_supported": ["code"],
                "id_token_signing_alg_values_supported": ["RS256", "ES256"],
                "authorization_response_iss_parameter_supported": True,
                **self.document,
            }
        )

    async def _authorize(self, request: web.Request) -> web.StreamResponse:
        await self._asked(request)
        query = request.query
        if query.get("redirect_uri") != self.redirect or query.get("client_id") != CLIENT:
            return web.Response(status=400, text="Nobody has registered this client, or this address to go back to.")
        assert query["response_type"] == "code" and query["code_challenge_method"] == "S256" and query["nonce"]
        assert "openid" in query["scope"].split()
        if "agreed" not in query:
            more = "".join(f'<input type="hidden" name="{name}" value="{html.escape(query[name])}">' for name in query)
            form = f'<form>{more}<button name="agreed" value="1">Yes, it is me</button></form>'
            return web.Response(text=f"<!doctype html><title>Provider</title><h1>Provider</h1>{form}", content_type="text/html")
        back: dict[str, str] = {"state": query["state"], "iss": self.issuer}
        if self.error:
            back["error"] = self.error
        else:
            code = back["code"] = secrets.token_urlsafe(24)
            self.grants[code] = Grant(CLIENT, self.redirect, query["code_challenge"], query["nonce"], dict(self.person))
        if self.lie == "another issuer":
            back["iss"] = "https://elsewhere.example"
        if self.lie == "no issuer":
            del back["iss"]
        raise web.HTTPFound(f"{self.redirect}?{urlencode(back)}")

    async def _token(self, request: web.Request) -> web.StreamResponse:
        await self._asked(request)
        form = await request.post()
        if not self._is_client(request, form):
            return web.json_response({"error": "invalid_client"}, status=401)
        code = str(form.get("code"))
        grant = self.grants.get(code)
        digest = sha256(str(form.get("code_verifier", "")).encode()).digest()
        is_proved = grant is not None and base64.urlsafe_b64encode(digest).decode().rstrip("=") == grant.challenge
        if grant is None or code in self.used or not is_proved or form.get("redirect_uri") != grant.redirect:
            return web.json_response({"error": "invalid_grant"}, status=400)
        self.used.add(code)
        access = secrets.token_urlsafe(16)
        self.access[access] = {"sub": grant.claims["sub"], **self.told_later}
        if self.tells is not None:
            said = {"access_token": self.tells, "token_type": self.tells, "id_token": self._signed(grant, access)}
            return web.json_response(said, dumps=lambda value: dumps(value).decode())
        return web.json_response({"access_token": access, "token_type": "Bearer", "id_token": self._signed(grant, access)})

    def _is_client(self, request: web.Request, form: Mapping[str, Any]) -> bool:
        if self.secret is None:
            return form.get("client_id") == CLIENT and "Authorization" not in request.headers
        methods = self.document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if "client_secret_basic" in methods:
            shown = base64.b64encode(f"{CLIENT}:{self.secret}".encode()).decode()
            return request.headers.get("Authorization") == f"Basic {shown}"
        return form.get("client_id") == CLIENT and form.get("client_secret") == self.secret

    def _signed(self, grant: Grant, access: str) -> str:
        now = int(time.time())
        half = sha256(access.encode()).digest()[:16]
        claims: dict[str, Json] = {
            "iss": self.issuer,
            "aud": grant.client,
            "exp": now + 300,
            "iat": now,
            "nonce": grant.nonce,
            "at_hash": base64.urlsafe_b64encode(half).decode().rstrip("="),
            **grant.claims,
            **self.says,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        key = self.keys[0]
        header: dict[str, Json] = {"alg": "RS256" if isinstance(key, RSAKey) else "ES256", "kid": key.kid}
        match self.lie:
            case "alg none":
                parts = (dumps({"alg": "none"}), dumps(claims))
                return ".".join([*(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts), ""])
            case "alg HS256 by the public key":
                pem = key.as_pem(private=False)
                parts = ({"alg": "HS256", "kid": key.kid}, dumps(claims))
                return jws.serialize_compact(*parts, OctKey.import_key(pem), algorithms=["HS256"])
            case "alg that nobody has pinned":
                header["alg"] = "PS512"
                return jws.serialize_compact(header, dumps(claims), key, algorithms=["PS512"])
            case "a key that it has not published":
                key = RSAKey.generate_key(2048, {"kid": key.kid})
            case "a kid that it has not published":
                header["kid"] = "nothing"
            case "a key in the header":
                key = RSAKey.generate_key(2048, {"kid": "mine"})
                header |= {"kid": "mine", "jwk": key.as_dict(private=False)}
            case "a damaged token":
                return jwt.encode(header, claims, key)[:-8] + "AAAAAAAA"
            case "no token":
                return ""
        return jwt.encode(header, claims, key, algorithms=[str(header["alg"])])

    async def _keys(self, request: web.Request) -> web.StreamResponse:
        await self._asked(request)
        return web.json_response({"keys": [key.as_dict(private=False) for key in self.keys]})

    async def _me(self, request: web.Request) -> web.StreamResponse:
        await self._asked(request)
        found = self.access.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        if found is None:
            return web.json_response({"error": "invalid_token"}, status=401)
        return web.json_response({**found, "sub": "somebody-else"} if self.lie == "tells of another person" else found)

    async def _leave(self, request: web.Request) -> web.StreamResponse:
        await self._asked(request)
        assert request.query["client_id"] == CLIENT
        raise web.HTTPFound(request.query["post_logout_redirect_uri"])


@asynccontextmanager
async def identity_provider(redirect: str, port: int = 0) -> AsyncIterator[IdentityProvider]:
    """A provider that listens on loopback, for a client that wants people back at ``redirect``."""
    provider = IdentityProvider(redirect=redirect)
    runner = web.AppRunner(provider.application(), shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    provider.issuer = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield provider
    finally:
        await runner.cleanup()


def sent_back_with(location: str) -> dict[str, str]:
    """What the provider has sent a browser back with."""
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


async def _serve(port: int, redirect: str) -> None:
    async with identity_provider(redirect, port):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2]))
