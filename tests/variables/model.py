"""The five tiers in their simplest form: what the store must agree with, whatever happens."""

from dataclasses import dataclass, field

from agentui.jsonio import Json, dumps_text
from agentui.variables.scopes import GLOBAL, SCOPES, Scope, Target, branch_target


@dataclass
class Floor:
    """A floor, the branch it lies on, and whether its variables may change."""

    session: str
    branch: str
    is_locked: bool = False
    snapshot: dict[str, str] | None = None


@dataclass
class Model:
    """Hosts, and for each tier of each host its values as JSON text."""

    sessions: set[str] = field(default_factory=set)
    branches: set[tuple[str, str]] = field(default_factory=set)
    floors: dict[str, Floor] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    tiers: dict[Target, dict[str, str]] = field(default_factory=dict)

    def tier(self, target: Target) -> dict[str, str]:
        """The values of a tier."""
        return self.tiers.setdefault(target, {})

    def targets(self) -> list[Target]:
        """Every tier that has a host."""
        chats = [Target("chat", id) for id in sorted(self.sessions)]
        on_branches = [branch_target(*names) for names in sorted(self.branches)]
        on_floors = [Target("floor", id) for id in self.floors]
        return [GLOBAL, *chats, *on_branches, *on_floors, *(Target("page", id) for id in self.pages)]

    def is_locked(self, target: Target) -> bool:
        """Whether a tier's variables may no longer change."""
        floor = self.pages.get(target.scope_id) if target.scope == "page" else target.scope_id
        return target.scope in ("floor", "page") and floor is not None and self.floors[floor].is_locked

    def visible(self, session: str, branch: str | None, floor: str | None, page: str | None) -> dict[str, tuple[Scope, str]]:
        """The winning scope and text of every key from a place."""
        ids = {"global": "global", "chat": session, "floor": floor, "page": page}
        ids["branch"] = branch_target(session, branch).scope_id if branch is not None else None
        won: dict[str, tuple[Scope, str]] = {}
        for scope in SCOPES:
            id = ids[scope]
            if id is not None:
                won |= {key: (scope, text) for key, text in self.tier(Target(scope, id)).items()}
        return won

    def every(self) -> set[tuple[str, str, str, str]]:
        """All variables that have a host."""
        return {(t.scope, t.scope_id, key, text) for t in self.targets() for key, text in self.tier(t).items()}

    def drop_page(self, page: str) -> None:
        """A page goes with its variables."""
        del self.pages[page]
        self.tiers.pop(Target("page", page), None)

    def drop_floor(self, floor: str) -> None:
        """A floor goes with its pages and its variables."""
        for page in [page for page, of in self.pages.items() if of == floor]:
            self.drop_page(page)
        del self.floors[floor]
        self.tiers.pop(Target("floor", floor), None)

    def drop_branch(self, session: str, branch: str) -> None:
        """A branch goes with its floors and its variables."""
        for id in [id for id, floor in self.floors.items() if (floor.session, floor.branch) == (session, branch)]:
            self.drop_floor(id)
        self.branches.discard((session, branch))
        self.tiers.pop(branch_target(session, branch), None)

    def drop_session(self, session: str) -> None:
        """A session goes with everything below it."""
        for _, branch in [names for names in self.branches if names[0] == session]:
            self.drop_branch(session, branch)
        self.sessions.discard(session)
        self.tiers.pop(Target("chat", session), None)


def text_of(value: Json) -> str:
    """How the model spells a value."""
    return dumps_text(value)
