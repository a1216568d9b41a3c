"""What comes out of files goes into the library: assets, and the session that begins with a character."""

from dataclasses import dataclass

from sqlalchemy import Connection

from agentui.assets.files.limits import InvalidFile
from agentui.assets.files.scripts import embedded_scripts, scripts_digest
from agentui.chats.codes import failure
from agentui.chats.records import Session
from agentui.errors import ApiError
from agentui.jsonio import Json, loads
from agentui.library.assets import create_asset, find_content, hold_asset, set_consent
from agentui.library.bindings import create_session
from agentui.library.content import Packed
from agentui.library.records import Asset, AssetKind, Expected, Kept


@dataclass(frozen=True, slots=True)
class FileAsset:
    """A file's content, ready to be kept; ``source`` is the format that it came in."""

    kind: AssetKind
    name: str
    packed: Packed
    source: str
    tags: tuple[str, ...] = ()


def refused(error: InvalidFile) -> ApiError:
    """The error of a file that cannot be taken: 413 ``payload_too_large``, or 400 ``validation_error`` with the place in it."""
    message, where = str(error), error.where
    if error.is_too_large:
        return failure("payload_too_large", message, path=where)
    problem = {"path": where, "message": message, "code": "file"}
    return ApiError(message, status=400, code="validation_error", problems=[problem])


def import_asset(db: Connection, account: str, file: FileAsset, now: int) -> Asset:
    """Keep what a file held; scripts inside it wait for a consent."""
    kept = (file.kind, file.name, file.packed)
    return create_asset(db, account, *kept, now, source=file.source, tags=file.tags, scripts_allowed="")


def import_with_session(db: Connection, account: str, file: FileAsset, title: str | None, now: int) -> tuple[Asset, Session]:
    """Keep a character and begin a session with it."""
    asset = import_asset(db, account, file, now)
    fields = {"title": title, "character_id": asset.id}
    return asset, create_session(db, account, fields, now)


@dataclass(frozen=True, slots=True)
class Consent:
    """How many regex scripts the newest version of a character or a prompt preset holds, and whether they run."""

    version: Kept
    scripts: int
    is_given: bool


def allow_scripts(
    db: Connection, account: str, kind: AssetKind, id: str, expected: Expected, now: int, *, allowed: bool
) -> Consent:
    """Let the scripts that a character or a prompt preset holds now run, in every version that has the same, or none of any
    version. They are read here, apart from the event loop. Raises 404 and 409 in the kind's code."""
    hold_asset(db, account, kind, id, expected)
    scripts = embedded_scripts(loads(find_content(db, account, kind, id).text))
    set_consent(db, account, kind, id, now, scripts_digest(scripts) if allowed else "")
    return consent_to(find_content(db, account, kind, id))


def consent_to(kept: Kept) -> Consent:
    """The consent to the scripts inside a version; what is long takes a while."""
    scripts = embedded_scripts(loads(kept.text))
    return Consent(kept, len(scripts), kept.scripts_allowed in (None, scripts_digest(scripts)))


def origin_of(kept: Kept) -> Json:
    """What the file of a version held beside its content; None where there was none."""
    return None if kept.origin_text is None else loads(kept.origin_text)
