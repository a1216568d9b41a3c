"""``Principal``: in whose name a request is made. The guard makes one for each request, and everybody below is handed it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, Literal, TypeAlias, get_args

DEFAULT_ACCOUNT = "default-admin"
"""The account that is always there: everybody's, where nobody signs in (TavernHeadless' contract, 5.3)."""

KEY_PREFIX: Final = "tvk_live_"
"""What every client key begins with (TavernHeadless' contract, 5.4)."""

Role = Literal["admin", "user"]

RouteFamily: TypeAlias = Literal[
    "chat", "embeddings", "images", "audio", "moderations", "batches", "memory", "page", "administration"
]
"""What a key may be kept to: the vendors' routes by what they are for, the memory's API, what the page calls, and the routes of
accounts, keys, budgets, the ledger and the operation log."""
ROUTE_FAMILIES: Final[tuple[RouteFamily, ...]] = get_args(RouteFamily)
LONGEST_MODEL: Final = 500
"""Characters of a model's name that a pattern is held against; a longer one fits none."""


@dataclass(frozen=True, slots=True)
class Restrictions:
    """What a client key may be used for, where it may not be used for all that its account may. None says nothing of its kind.

    ``pipelines`` and ``models`` are patterns with ``*`` and ``?`` for what a caller may name: what a pipeline does by itself,
    which other pipelines and models it calls, is the pipeline's. ``admin`` False leaves an admin's key what a user may.
    """

    pipelines: Sequence[str] | None = None
    models: Sequence[str] | None = None
    routes: Sequence[RouteFamily] | None = None
    addresses: Sequence[IPv4Network | IPv6Network] | None = None
    admin: bool = True

    def allows_pipeline(self, id: str) -> bool:
        """Whether the holder may name this pipeline, and see it."""
        return self.pipelines is None or _fits(id, self.pipelines)

    def allows_model(self, name: str) -> bool:
        """Whether the holder may name this model, and see it. Gemini's clients write ``models/`` before the name."""
        return self.models is None or _fits(name.removeprefix("models/"), self.models)

    def allows_route(self, family: RouteFamily) -> bool:
        """Whether the holder may ask routes of this family."""
        return self.routes is None or family in self.routes

    def allows_address(self, address: IPv4Address | IPv6Address) -> bool:
        """Whether the holder may come from here."""
        return self.addresses is None or any(address in network for network in self.addresses)

    @property
    def may_edit(self) -> bool:
        """Whether the holder may change pipelines and presets: one who may, writes one that calls whatever it likes."""
        return self.pipelines is None and self.models is None


NO_RESTRICTIONS: Final = Restrictions()
"""Those of who may all that the account may."""


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return len(name) <= LONGEST_MODEL and any(fnmatchcase(name, pattern) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Principal:
    """Whose data a request reads and writes, and what it may do.

    ``may_edit`` is the right to change pipelines and presets, which decide where prompts and keys go. ``client`` and ``key``
    are the ids of the program entry and its key that the request came with; None where it came with none. ``proof`` is the hash
    of the very secret that was shown, of a key or of a sign-in: what was begun with it ends with it.
    ``restrictions`` are those of the key, None where it has none and where none was shown.
    ``until`` is when the token that was shown ends, in milliseconds since 1970; None for what has no end of its own.
    """

    account: str
    role: Role
    may_edit: bool
    client: str | None = None
    key: str | None = None
    proof: str | None = field(default=None, repr=False)
    until: int | None = None
    restrictions: Restrictions | None = None


DEFAULT_PRINCIPAL = Principal(DEFAULT_ACCOUNT, "admin", may_edit=True)
"""Who asks where nobody signs in."""
ANONYMOUS = Principal("", "user", may_edit=False)
"""Who asks for what is public, where others have to sign in: nothing belongs to this one."""
