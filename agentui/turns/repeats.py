"""Requests that may come twice: what an Idempotency-Key claims, who holds the claim, and the answer that is kept for it.

    hold -> attach -> keep            a turn: claimed when its floor is opened, answered in the transaction that commits it
    once                              any other write: claimed, done and answered in one transaction

The rules are Stripe's: the same key with the same request gets the first answer again, with another request it is refused.
A turn's claim lives and dies with its floor: it is under way as long as the floor generates, a floor that fails frees its key
(``fail_floor``), and a floor that is removed takes the answer along. So a process that dies leaves either no turn and a key
that is free once the dead generation is cleared, or a turn with its answer.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, delete, func, select, update

from agentui.chats.codes import failure
from agentui.chats.records import AnyRow
from agentui.chats.rows import insert_new
from agentui.errors import ApiError
from agentui.ids import fingerprint
from agentui.jsonio import dumps_text, loads
from agentui.store.tables import claims, generations
from agentui.turns.failing import LOST, fail_floor
from agentui.turns.locks import is_dead

P = ParamSpec("P")
T = TypeVar("T")

HEADER = "idempotency-key"
REPLAYED = "idempotent-replayed"
"""The header of an answer that was given before."""
MAX_KEY = 255
MAX_ANSWER = 16 * 1024 * 1024
"""Bytes of an answer that is kept; a larger one is not given a second time."""
MAX_KEYS = 200_000
"""Claims that are kept, of whatever age."""
_AT_ONCE = 500
"""Claims that are looked at together when bodies have to go."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A request with a key, and the hash of what it asks for."""

    key: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Saved:
    """An answer as it is kept. ``packed`` is its compressed body; None where that was too large."""

    status: int
    headers: Mapping[str, str]
    packed: bytes | None

    def body(self) -> bytes:
        """The body as it was sent. Takes some milliseconds for a large one."""
        return zlib.decompress(self.packed or b"")


def claim(key: str, *parts: str | bytes) -> Claim:
    """What a request claims: ``parts`` are all that makes it another one.

    Raises 400 ``validation_error`` for a key that is none.
    """
    if not (0 < len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
        raise failure("validation_error", f"An Idempotency-Key has 1 to {MAX_KEY} printable characters of ASCII.", param=HEADER)
    return Claim(key, fingerprint(*parts))


def pack(body: bytes) -> bytes | None:
    """The body as it is kept; None where it is too large. Takes a millisecond for each 100 KB."""
    return zlib.compress(body, 1) if len(body) <= MAX_ANSWER else None


def answer_to(db: Connection, account: str, claim: Claim, owner: str, now: int) -> Saved | None:
    """What was answered to this request; None where it was not, or not by a turn that is kept.

    Raises 409 ``idempotency_in_progress`` while it is being answered, 422 ``idempotency_key_reused`` when another request had
    the key, 410 ``idempotency_answer_gone`` when it was answered and the answer is not there.
    """
    row = _find(db, account, claim)
    if row is None:
        return None
    if row.status is not None:
        return _saved(row)
    if _is_under_way(db, row, owner, now):
        raise _in_progress()
    return None


def hold(db: Connection, account: str, claim: Claim, owner: str, now: int) -> None:
    """Take the key for a turn that is about to be opened, also from one that is dead.

    Raises 409 ``idempotency_in_progress`` when somebody has it, or was answered a moment ago, and 422
    ``idempotency_key_reused``. No row is locked for longer than it is written: whoever waits for a lock of another's turn
    must hold none of its own.
    """
    row = _find(db, account, claim)
    if row is not None:
        if row.status is not None or _is_under_way(db, row, owner, now):
            raise _in_progress()
        if not fail_floor(db, account, row.floor_id, LOST, now):
            # It may have been committed since the row was read: then its answer is there, and stays.
            db.execute(delete(claims).where(*_named(account, claim), claims.c.status.is_(None)))
    if not _insert(db, account, claim, now):
        raise _in_progress()


def attach(db: Connection, account: str, claim: Claim, floor_id: str) -> None:
    """Tie a claim that was just taken to the floor of its turn."""
    db.execute(update(claims).where(*_named(account, claim)).values(floor_id=floor_id))


def keep(db: Connection, account: str, claim: Claim, saved: Saved, now: int) -> None:
    """Write down what is answered, within the transaction that does what is answered."""
    db.execute(
        update(claims)
        .where(*_named(account, claim))
        .values(
            status=saved.status,
            headers_json=dumps_text(dict(saved.headers)),
            body=saved.packed,
            size=len(saved.packed or b""),
            updated_at=now,
        )
    )


def once(
    db: Connection,
    account: str,
    claim: Claim,
    now: int,
    show: Callable[[T], Saved],
    transaction: Callable[Concatenate[Connection, P], T],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> tuple[Saved, bool]:
    """Run a transaction and keep what ``show`` makes of its result, unless this request was answered already; the answer, and
    whether it was. What the transaction raises leaves nothing, and the key free.

    Raises 422 ``idempotency_key_reused``, 410 ``idempotency_answer_gone``.
    """
    if not _insert(db, account, claim, now):
        row = _find(db, account, claim)
        if row is None or row.status is None:
            raise _in_progress()
        return _saved(row), True
    saved = show(transaction(db, *args, **kwargs))
    keep(db, account, claim, saved, now)
    return saved, False


def tidy(db: Connection, now: int, age: int, max_bytes: int, max_keys: int = MAX_KEYS) -> int:
    """Forget the claims that were answered more than ``age`` milliseconds ago, and the oldest beyond ``max_keys``; of the
    others give up the oldest bodies beyond ``max_bytes``. Returns how many claims went. Looks at every account.

    A claim without its body still keeps its request from being repeated.
    """
    answered = claims.c.status.is_not(None)
    gone = db.execute(delete(claims).where(answered, claims.c.updated_at < now - age)).rowcount
    newest = select(claims.c.updated_at).order_by(claims.c.updated_at.desc()).offset(max_keys).limit(1)
    limit = db.execute(newest).scalar_one_or_none()
    if limit is not None:
        gone += db.execute(delete(claims).where(answered, claims.c.updated_at <= limit)).rowcount
    excess = (db.execute(select(func.sum(claims.c.size))).scalar_one() or 0) - max_bytes
    if excess <= 0:
        return gone
    oldest = select(claims.c.account_id, claims.c.key, claims.c.size).where(claims.c.size > 0).order_by(claims.c.updated_at)
    while excess > 0 and (some := db.execute(oldest.limit(_AT_ONCE)).all()):
        for account, key, size in some:
            if excess <= 0:
                break
            db.execute(update(claims).where(claims.c.account_id == account, claims.c.key == key).values(body=None, size=0))
            excess -= size
    return gone


def _find(db: Connection, account: str, claim: Claim) -> AnyRow | None:
    """The row of a key. Raises 422 ``idempotency_key_reused``."""
    row = db.execute(select(claims).where(*_named(account, claim))).one_or_none()
    if row is not None and row.fingerprint != claim.fingerprint:
        raise failure(
            "idempotency_key_reused",
            "Another request had this Idempotency-Key: another path, body, session, branch, pipeline or provider key. "
            "Take a new key.",
        )
    return row


def _saved(row: AnyRow) -> Saved:
    """The answer of a row. Raises 410 ``idempotency_answer_gone``."""
    if row.body is None:
        raise failure(
            "idempotency_answer_gone",
            "The request with this Idempotency-Key was done, and its answer broke off, was too large to be kept, or made room "
            "for newer ones. What it wrote is there.",
            floor_id=row.floor_id,
        )
    return Saved(row.status, loads(row.headers_json), bytes(row.body))


def _is_under_way(db: Connection, row: AnyRow, owner: str, now: int) -> bool:
    """Whether the turn that holds a key lives."""
    lock = db.execute(
        select(generations.c.owner, generations.c.expires_at).where(generations.c.floor_id == row.floor_id)
    ).one_or_none()
    return lock is not None and not is_dead(db, lock.owner, lock.expires_at, owner, now)


def _insert(db: Connection, account: str, claim: Claim, now: int) -> bool:
    """Take a key that is free; the unique index decides."""
    values = {"account_id": account, "key": claim.key, "fingerprint": claim.fingerprint, "updated_at": now}
    return insert_new(db, claims, values)


def _named(account: str, claim: Claim) -> tuple[Any, Any]:
    return claims.c.account_id == account, claims.c.key == claim.key


def _in_progress() -> ApiError:
    return failure(
        "idempotency_in_progress",
        "The request with this Idempotency-Key is still being answered. Ask again in a moment to get its answer.",
        retry_after=1,
    )
