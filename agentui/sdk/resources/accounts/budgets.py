"""Budgets: how much may be spent, and how much is. Made by ``python -m tests.sdk.generate``."""

from __future__ import annotations

from typing import Unpack

from agentui.sdk.asynctransport import AsyncResource
from agentui.sdk.endpoints import Endpoint, Items, Options
from agentui.sdk.shapes.accounts.budgets import BudgetItem, BudgetSettings, BudgetSettingsForm, UsageBudgetForm
from agentui.sdk.shapes.common import Deleted
from agentui.sdk.transport import Resource


class BudgetsSetCall(UsageBudgetForm, Options):
    """What ``budgets.set`` may be told."""


class BudgetsChangeSettingsCall(BudgetSettingsForm, Options):
    """What ``budgets.change_settings`` may be told."""


_LIST = Endpoint[Items[BudgetItem]]("GET", "/budgets")
_SET = Endpoint[BudgetItem]("PUT", "/budgets", body="json")
_SETTINGS = Endpoint[BudgetSettings]("GET", "/budgets/settings")
_CHANGE_SETTINGS = Endpoint[BudgetSettings]("PUT", "/budgets/settings", body="json")
_DELETE = Endpoint[Deleted]("DELETE", "/budgets/{id}")


class BudgetsResource(Resource):
    """Budgets: how much may be spent, and how much is."""

    def list(self, **given: Unpack[Options]) -> Items[BudgetItem]:
        """List budgets as they stand: an admin all of them, others those of their account, its projects and its keys.
        ``GET /budgets``
        """
        return self._call(_LIST, (), given)

    def set(self, **given: Unpack[BudgetsSetCall]) -> BudgetItem:
        """Set a budget, or change the amount of the one that there is: what was spent stays spent. ``PUT /budgets``"""
        return self._call(_SET, (), given)

    def settings(self, **given: Unpack[Options]) -> BudgetSettings:
        """Read what budgets there can be, and what becomes of calls whose price nobody knows. ``GET /budgets/settings``"""
        return self._call(_SETTINGS, (), given)

    def change_settings(self, **given: Unpack[BudgetsChangeSettingsCall]) -> BudgetSettings:
        """Choose what becomes of calls whose price nobody knows. ``PUT /budgets/settings``"""
        return self._call(_CHANGE_SETTINGS, (), given)

    def delete(self, budget_id: str, **given: Unpack[Options]) -> Deleted:
        """Remove a budget: it limits nothing any more. ``DELETE /budgets/{id}``"""
        return self._call(_DELETE, (budget_id,), given)


class AsyncBudgetsResource(AsyncResource):
    """Budgets: how much may be spent, and how much is."""

    async def list(self, **given: Unpack[Options]) -> Items[BudgetItem]:
        """List budgets as they stand: an admin all of them, others those of their account, its projects and its keys.
        ``GET /budgets``
        """
        return await self._call(_LIST, (), given)

    async def set(self, **given: Unpack[BudgetsSetCall]) -> BudgetItem:
        """Set a budget, or change the amount of the one that there is: what was spent stays spent. ``PUT /budgets``"""
        return await self._call(_SET, (), given)

    async def settings(self, **given: Unpack[Options]) -> BudgetSettings:
        """Read what budgets there can be, and what becomes of calls whose price nobody knows. ``GET /budgets/settings``"""
        return await self._call(_SETTINGS, (), given)

    async def change_settings(self, **given: Unpack[BudgetsChangeSettingsCall]) -> BudgetSettings:
        """Choose what becomes of calls whose price nobody knows. ``PUT /budgets/settings``"""
        return await self._call(_CHANGE_SETTINGS, (), given)

    async def delete(self, budget_id: str, **given: Unpack[Options]) -> Deleted:
        """Remove a budget: it limits nothing any more. ``DELETE /budgets/{id}``"""
        return await self._call(_DELETE, (budget_id,), given)
