"""Skill rules over HTTP: the ones that come with the server, and the files of the folder ``rules``, written and removed."""

import asyncio
import hashlib

from aiohttp import web

from agentui.api.keys import RULES
from agentui.errors import NotFound, PreconditionFailed
from agentui.http.route import Route, answer, read_model
from agentui.schemas.editor import NewRule, RuleLine, RuleText
from agentui.tools.vars.rulefolder import ListedRule, RuleFolder
from agentui.tools.vars.rules import shipped_rule

_BODY_LIMIT = 1024 * 1024


async def list_rules(request: web.Request) -> web.Response:
    """List the skill rules by their groups, files that are no rules with what is wrong with them."""
    return answer([_line(each) for each in await asyncio.to_thread(request.app[RULES].listed)])


async def read_rule(request: web.Request) -> web.Response:
    """Read a skill rule as its file holds it."""
    found = await asyncio.to_thread(_text, request.app[RULES], *_place(request))
    return answer(found, etag=f'"{found.version}"')


async def put_rule(request: web.Request) -> web.Response:
    """Write a skill rule's file, or a new one. With If-Match only where it is still the one that was read."""
    given, place = await read_model(request, NewRule, _BODY_LIMIT), _place(request)
    expected = request.headers.get("if-match", "").strip('"')
    is_new = await asyncio.to_thread(_write, request.app[RULES], *place, given.text, expected)
    found = await asyncio.to_thread(_text, request.app[RULES], *place)
    return answer(found, status=201 if is_new else 200, etag=f'"{found.version}"')


async def delete_rule(request: web.Request) -> web.Response:
    """Remove a skill rule's file."""
    await asyncio.to_thread(request.app[RULES].remove, *_place(request))
    return web.Response(status=204)


def _place(request: web.Request) -> tuple[str, str]:
    return request.match_info["group"], request.match_info["rule"]


def _write(folder: RuleFolder, group: str, name: str, text: str, expected: str) -> bool:
    """Write a rule; whether it is new. Raises InvalidVariable, Conflict, NotSaved, and PreconditionFailed where it is not the
    expected one."""
    if expected and expected != (version := _version(folder, group, name)):
        raise PreconditionFailed(f"The rule {group}/{name} was changed meanwhile: read it again.", etag=version)
    return folder.write(group, name, text)


def _version(folder: RuleFolder, group: str, name: str) -> str:
    """The version of what is there; "" for nothing."""
    try:
        return _text(folder, group, name).version
    except NotFound:
        return ""


def _text(folder: RuleFolder, group: str, name: str) -> RuleText:
    """Raises NotFound."""
    text = folder.text(group, name)
    version = hashlib.sha256(text.encode()).hexdigest()[:16]
    return RuleText(group, name, text, version, shipped_rule(group, name) is not None)


def _line(listed: ListedRule) -> RuleLine:
    rule = listed.rule
    if rule is None:
        return RuleLine(listed.group, listed.name, "", "", False, listed.is_shipped, listed.problem)
    return RuleLine(listed.group, rule.name, rule.desc, rule.when, rule.always_load, listed.is_shipped, None)


ROUTES = (
    Route("GET", "/api/rules", list_rules, answer=list[RuleLine]),
    Route("GET", "/api/rules/{group}/{rule}", read_rule, answer=RuleText, errors=(404,)),
    Route(
        "PUT",
        "/api/rules/{group}/{rule}",
        put_rule,
        answer=RuleText,
        body=NewRule,
        headers={"If-Match": "The version that is to be replaced."},
        errors=(400, 409, 412, 413, 415, 422, 507),
    ),
    Route("DELETE", "/api/rules/{group}/{rule}", delete_rule, status=204, errors=(404, 409)),
)
