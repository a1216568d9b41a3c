"""``Principal``: in whose name a request is made. The guard makes one for each request, and everybody below is handed it."""

from dataclasses import dataclass, field
from typing import Final, Literal

DEFAULT_ACCOUNT = "default-admin"
"""The account that is always there: everybody's, where nobody signs in (TavernHeadless' contract, 5.3)."""

KEY_PREFIX: Final = "tvk_live_"
"""What every client key begins with (TavernHeadless' contract, 5.4)."""

Role = Literal["admin", "user"]


@dataclass(frozen=True, slots=True)
class Principal:
    """Whose data a request reads and writes, and what it may do.

    ``may_edit`` is the right to change pipelines and presets, which decide where prompts and keys go. ``client`` and ``key``
    are the ids of the program entry and its key that the request came with; None where it came with none. ``proof`` is the hash
    of the very secret that was shown, of a key or of a sign-in: what was begun with it ends with it.
    ``until`` is when the token that was shown ends, in milliseconds since 1970; None for what has no end of its own.
    """

    account: str
    role: Role
    may_edit: bool
    client: str | None = None
    key: str | None = None
    proof: str | None = field(default=None, repr=False)
    until: int | None = None


DEFAULT_PRINCIPAL = Principal(DEFAULT_ACCOUNT, "admin", may_edit=True)
"""Who asks where nobody signs in."""
ANONYMOUS = Principal("", "user", may_edit=False)
"""Who asks for what is public, where others have to sign in: nothing belongs to this one."""
