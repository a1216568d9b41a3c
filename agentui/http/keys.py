"""What every handler may ask the application for, each under a typed key."""

from aiohttp import web

from agentui.accounts.authentication import Authenticator
from agentui.principal import Principal
from agentui.redaction import Redactor
from agentui.settings import Settings

SETTINGS: web.AppKey[Settings] = web.AppKey("settings", Settings)
REDACTOR: web.AppKey[Redactor] = web.AppKey("redactor", Redactor)
"""Knows the server's own secrets; a request makes a child of it that knows the request's too."""
AUTHENTICATOR: web.AppKey[Authenticator] = web.AppKey("authenticator", Authenticator)
"""Who knows in whose name requests are made."""
PRINCIPAL: web.RequestKey[Principal] = web.RequestKey("principal", Principal)
"""In whose name the request is made; the guard sets it before any handler runs."""
