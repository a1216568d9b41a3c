"""Skill rules: texts for agents, by name. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Matching, Options
from agentui.sdk.shapes.editor.rules import NewRule, RuleLine, RuleText
from agentui.sdk.transport import Resource


class RulesPutCall(NewRule, Options, Matching):
    """What ``rules.put`` may be told."""


_LIST = Endpoint[Items[RuleLine]]("GET", "/api/rules", answer="whole")
_GET = Endpoint[RuleText]("GET", "/api/rules/{group}/{rule}", answer="whole")
_PUT = Endpoint[RuleText]("PUT", "/api/rules/{group}/{rule}", body="json", answer="whole")
_DELETE = Endpoint[None]("DELETE", "/api/rules/{group}/{rule}", answer="none")


class RulesResource(Resource):
    """Skill rules: texts for agents, by name."""

    def list(self, **given: Unpack[Options]) -> Items[RuleLine]:
        """List the skill rules by their groups, files that are no rules with what is wrong with them. ``GET /api/rules``"""
        return self._call(_LIST, (), given)

    def get(self, group: str, rule: str, **given: Unpack[Options]) -> RuleText:
        """Read a skill rule as its file holds it. ``GET /api/rules/{group}/{rule}``"""
        return self._call(_GET, (group, rule), given)

    def put(self, group: str, rule: str, **given: Unpack[RulesPutCall]) -> RuleText:
        """Write a skill rule's file, or a new one. ``PUT /api/rules/{group}/{rule}``"""
        return self._call(_PUT, (group, rule), given)

    def delete(self, group: str, rule: str, **given: Unpack[Options]) -> None:
        """Remove a skill rule's file. ``DELETE /api/rules/{group}/{rule}``"""
        self._call(_DELETE, (group, rule), given)


class AsyncRulesResource(AsyncResource):
    """Skill rules: texts for agents, by name."""

    async def list(self, **given: Unpack[Options]) -> Items[RuleLine]:
        """List the skill rules by their groups, files that are no rules with what is wrong with them. ``GET /api/rules``"""
        return await self._call(_LIST, (), given)

    async def get(self, group: str, rule: str, **given: Unpack[Options]) -> RuleText:
        """Read a skill rule as its file holds it. ``GET /api/rules/{group}/{rule}``"""
        return await self._call(_GET, (group, rule), given)

    async def put(self, group: str, rule: str, **given: Unpack[RulesPutCall]) -> RuleText:
        """Write a skill rule's file, or a new one. ``PUT /api/rules/{group}/{rule}``"""
        return await self._call(_PUT, (group, rule), given)

    async def delete(self, group: str, rule: str, **given: Unpack[Options]) -> None:
        """Remove a skill rule's file. ``DELETE /api/rules/{group}/{rule}``"""
        await self._call(_DELETE, (group, rule), given)
