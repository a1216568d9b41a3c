"""The API of who asks: accounts, clients with their keys, and sign-in, one file a resource."""

from agentui.api.accounts import accounts, auth, clients, identities, passkeys
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (*accounts.ROUTES, *clients.ROUTES, *auth.ROUTES, *passkeys.ROUTES, *identities.ROUTES)
