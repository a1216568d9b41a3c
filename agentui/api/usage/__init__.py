"""The API of what calls cost: the ledger and the budgets, one file a resource."""

from agentui.api.usage import budgets, ledger
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (*ledger.ROUTES, *budgets.ROUTES)
