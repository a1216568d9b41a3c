"""By which rules the prompt of a chat's turn is made: what the chat keeps, as the assembly takes it."""

from collections.abc import Mapping

from agentui.chats.policies import StoredPolicies
from agentui.jsonio import Json
from agentui.prompt.policy import Resolution, resolve_policy


def resolved(policies: StoredPolicies, request: Mapping[str, Json] | None = None) -> Resolution:
    """What is kept, with a request's own wishes over it."""
    session, branch = policies.session, policies.branch
    return resolve_policy(session.value if session is not None else None, branch.value if branch is not None else None, request)
