"""The API of LLM profiles and instance configs, one file a resource."""

from agentui.api.profiles import effective, instances, profiles
from agentui.http.route import Route

ROUTES: tuple[Route, ...] = (*profiles.ROUTES, *instances.ROUTES, *effective.ROUTES)
