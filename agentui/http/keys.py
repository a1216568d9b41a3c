"""What every handler may ask the application for, each under a typed key."""

from aiohttp import web

from agentui.redaction import Redactor
from agentui.settings import Settings

SETTINGS: web.AppKey[Settings] = web.AppKey("settings", Settings)
REDACTOR: web.AppKey[Redactor] = web.AppKey("redactor", Redactor)
"""Knows the server's own secrets; a request makes a child of it that knows the request's too."""
