"""Skill rules over HTTP: the ones that come with the server, and the files of the folder ``rules``, written and removed."""

import asyncio

from aiohttp import web

from agentui.api.keys import RULES
from agentui.http.route import Route, answer, read_model
from agentui.schemas.editor import NewRule, RuleLine, RuleText
from agentui.tools.vars.rule_folder import ListedRule, RuleFolder, version_of
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
    is_new = await asyncio.to_thread(request.app[RULES].write, *place, given.text, expected)
    found = await asyncio.to_thread(_text, request.app[RULES], *place)
    return answer(found, status=201 if is_new else 200, etag=f'"{found.version}"')


async def delete_rule(request: web.Request) -> web.Response:
    """Remove a skill rule's file."""
    await asyncio.to_thread(request.app[RULES].remove, *_place(request))
    return web.Response(status=204)


def _place(request: web.Request) -> tuple[str, str]:
    return request.match_info["group"], request.match_info["rule"]


def _text(folder: RuleFolder, group: str, name: str) -> RuleText:
    """Raises NotFound."""
    text = folder.text(group, name)
    return RuleText(group, name, text, version_of(text), shipped_rule(group, name) is not None)


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
        errors=(400, 403, 409, 412, 413, 415, 422, 507),
        needs="edit",
    ),
    Route("DELETE", "/api/rules/{group}/{rule}", delete_rule, status=204, errors=(403, 404, 409), needs="edit"),
)
