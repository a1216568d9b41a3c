"""OpenRouter's ``reasoning_details``: thoughts of whichever vendor stands behind it, with what that vendor signed.

    {"type": "reasoning.text", "text", "signature"}      {"type": "reasoning.summary", "summary"}
    {"type": "reasoning.encrypted", "data", "id"}        all with "format" and "index"

They go back as they were, in their order ("the entire sequence must match"): the list is the token (``chat.origin``) of the
thought, for the server that gave it. A stream tells them in pieces, of which those of one entry are joined. Source:
OpenRouter's guide to reasoning tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentui.chat.messages import Thinking
from agentui.chat.origin import OriginToken, read_token
from agentui.jsonio import InvalidJson, Json, dumps_text, loads

MEMBER = "reasoning_details"
_WORDS = ("text", "summary")


def words_of(details: Json) -> str:
    """What may be shown of a list of details, or of a piece of one."""
    if not isinstance(details, list):
        return ""
    return "".join(
        text for one in details if isinstance(one, dict) for name in _WORDS if isinstance(text := one.get(name), str)
    )


def token_of(details: Sequence[Json], origin: str) -> str:
    """The token of these details, which the server ``origin`` gave."""
    return str(OriginToken(origin, MEMBER, dumps_text(details)))


def is_detailed(thought: Thinking) -> bool:
    """Whether a thought came with details."""
    token = read_token(thought.signature)
    return token is not None and token.member == MEMBER


def details_of(thoughts: Sequence[Thinking]) -> list[Json]:
    """The details that these thoughts came with; those of a token that a caller has broken are gone."""
    details: list[Json] = []
    for thought in thoughts:
        token = read_token(thought.signature)
        if token is None or token.member != MEMBER:
            continue
        try:
            told = loads(token.text)
        except InvalidJson:
            continue
        details += told if isinstance(told, list) else []
    return details


@dataclass(slots=True)
class DetailPieces:
    """The details of an answer while they are told. Holds state, touches nothing else."""

    _entries: list[dict[str, Json]] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _growing: str = ""
    """The member of the last entry whose pieces are held."""

    @property
    def is_open(self) -> bool:
        """Whether anything was told since the entries were last taken."""
        return bool(self._entries)

    def feed(self, details: Json) -> None:
        """Take the next pieces; what is no list of objects means nothing."""
        for one in details if isinstance(details, list) else ():
            if isinstance(one, dict):
                self._add(one)

    def _add(self, piece: dict[str, Json]) -> None:
        last = self._entries[-1] if self._entries else None
        name = {"reasoning.text": "text", "reasoning.summary": "summary"}.get(str(piece.get("type")), "")
        if last is None or not name or not _goes_on(last, piece):
            self._close()
            self._entries.append(dict(piece))
            last, self._growing = self._entries[-1], name
        else:
            last.update({key: value for key, value in piece.items() if value is not None and key != name})
        if name and isinstance(words := piece.get(name), str):
            self._pieces.append(words)

    def _close(self) -> None:
        """Join the words of the last entry."""
        if self._pieces:
            self._entries[-1][self._growing] = "".join(self._pieces)
            self._pieces = []

    def take(self) -> list[Json]:
        """All entries since this was last asked."""
        self._close()
        taken: list[Json] = [*self._entries]
        self._entries = []
        return taken


def _goes_on(entry: dict[str, Json], piece: dict[str, Json]) -> bool:
    """Whether a piece belongs to the entry before it. One without an index is whole."""
    if piece.get("index") is None or any(entry.get(name) != piece.get(name) for name in ("type", "index")):
        return False
    ids = (entry.get("id"), piece.get("id"))
    return None in ids or ids[0] == ids[1]
