"""SillyTavern's chats: JSON lines, the first of them about the chat, each other one a message with its swipes.

A user's line opens a floor, and the next line of somebody else answers it; its swipes are the versions of the answer. Further
lines of others are floors without a question, as a greeting is. What a narrator says stands with the question that follows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import chain, islice
from typing import Final, NamedTuple

from agentui.assets.chat_settings import SETTINGS, injects_in
from agentui.assets.files.chats import LATEST, ChatFile, ChatFloor, ChatMessage, ChatPage, ChatRecord, ChatRole, told_of
from agentui.assets.files.limits import FileLimits, InvalidFile
from agentui.assets.files.report import ImportReport
from agentui.assets.values import flag, members, text, whole
from agentui.jsonio import InvalidJson, Json, dumps, loads

_FORMAT: Final = "st_jsonl"
_READ: Final = frozenset(
    (
        "name",
        "is_user",
        "is_system",
        "mes",
        "send_date",
        "swipes",
        "swipe_id",
        "swipe_info",
        "extra",
        "user_name",
        "character_name",
    )
)
_HEADER: Final = frozenset(("user_name", "character_name", "chat_metadata"))
_NOBODY: Final = "unused"
_PICTURE: Final = "original_avatar"
_TITLE: Final = 200
"""The characters of a chat's title."""
_GROUP: Final = (
    "the chat is a group's: it becomes a chat without a character. Who said a message is kept and written again, but prompts "
    "do not tell it"
)
_NARRATED: Final = {"type": "narrator"}
_OF_FILES: Final = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})\s*@\s*(\d{1,2})h\s*(\d{1,2})m(?:\s*(\d{1,2})s)?(?:\s*(\d{1,3})ms)?", re.ASCII
)
"""A date as SillyTavern names files: ``2023-6-19 @14h 20m 30s 123ms``."""
_OF_PEOPLE: Final = ("%B %d, %Y %I:%M%p", "%B %d, %Y %I:%M %p", "%B %d, %Y")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS: Final = 10**11
"""A number below it counts seconds, one above it milliseconds."""


@dataclass(slots=True)
class _Floors:
    """The floors that lines make, in their order."""

    done: list[ChatFloor] = field(default_factory=list)
    asked: list[ChatMessage] = field(default_factory=list)

    def ask(self, message: ChatMessage) -> None:
        """Somebody asks, or tells what stands with the question."""
        self.asked.append(message)

    def answer(self, versions: list[ChatMessage], active: int) -> None:
        """Somebody answers, in these versions."""
        number = 1 if self.asked else 0
        answers = [
            ChatPage(number, "output", (said,), version, is_active=version == active + 1)
            for version, said in enumerate(versions, 1)
        ]
        self.done.append(ChatFloor((*self._question(), *answers)))

    def end(self) -> list[ChatFloor]:
        """All floors; a question that nobody answered is one."""
        question = self._question()
        return [*self.done, ChatFloor(question)] if question else self.done

    def _question(self) -> tuple[ChatPage, ...]:
        asked, self.asked = tuple(self.asked), []
        return (ChatPage(0, "input", asked),) if asked else ()


def read_lines(data: bytes, limits: FileLimits) -> ChatFile:
    """The chat of a file. Lines that are no message are passed over and counted. Raises InvalidFile where nothing is one."""
    limits.check_size(data)
    report = ImportReport(_FORMAT)
    # One more than a chat may have, and the first line: so it is seen that there are too many, and no more are read.
    lines = list(islice(_parsed(data, limits, report), limits.messages + 2))
    header = lines.pop(0) if lines and "mes" not in lines[0] else {}
    if header and not any(name in header for name in ("chat_metadata", "user_name", "name")):
        raise InvalidFile("The first line of a chat names its user, or has chat_metadata.", "line 1")
    names = (text(header.get("user_name")), text(header.get("character_name")))
    speakers = _speakers(lines, header)
    if speakers:
        names = (next((text(line.get("name")) for line in lines if flag(line.get("is_user"))), ""), "")
        report.read["speakers"] = len(speakers)
        report.downgrade(_GROUP)
    limits.check_messages(sum(_size(line) for line in lines))
    floors, kept = _Floors(), 0
    for line in lines:
        kept += _take(line, floors, names, report)
    if not header and not kept:
        raise InvalidFile("No line of the file is a message.")
    if kept < len(lines):
        report.warn(f"{len(lines) - kept} lines said nothing and were passed over.")
        report.read["skipped_lines"] = report.read.get("skipped_lines", 0) + len(lines) - kept
    metadata = dict(members(header.get("chat_metadata")))
    variables = members(metadata.pop("variables", None))
    limits.check_metadata(metadata, "line 1: chat_metadata")
    _tell_of(metadata, report)
    beside = {name: value for name, value in header.items() if name not in _HEADER}
    limits.check_metadata(beside, "line 1")
    for name in beside:
        report.ignore(f"line 1: {name:.60}")
    record = ChatRecord(tuple(floors.end()), ", ".join(speakers)[:_TITLE], *names, variables, metadata, beside)
    return ChatFile(record, told_of(record, report))


def _tell_of(metadata: Mapping[str, Json], report: ImportReport) -> None:
    """Note what prompts read of what a chat says of itself, and what is only kept."""
    for name in metadata:
        if name not in SETTINGS:
            report.ignore(f"line 1: chat_metadata.{name:.60}")
    injects = injects_in(metadata)
    if injects:
        report.read["injections"] = len(injects)
    for inject in injects:
        if inject.has_filter:
            report.unsupported(f"line 1: chat_metadata.script_injects.{inject.id:.60}.filter")
            report.downgrade(f"chat_metadata.script_injects.{inject.id:.60}: its filter is a script, so it is not sent")


def _parsed(data: bytes, limits: FileLimits, report: ImportReport) -> Iterator[dict[str, Json]]:
    """The objects of the lines."""
    bad = 0
    # Line by line: a list of millions of short ones would take many times what the file does.
    every = chain.from_iterable(map(bytes.splitlines, BytesIO(data.removeprefix(b"\xef\xbb\xbf"))))
    for number, line in enumerate(every, 1):
        if not line.strip():
            continue
        try:
            value = loads(line)
        except InvalidJson:
            value = None
        if isinstance(value, dict):
            limits.check(value, f"line {number}")
            yield value
        else:
            bad += 1
    if bad:
        report.warn(f"{bad} lines are no JSON objects and were passed over.")
        report.read["skipped_lines"] = bad


def _speakers(lines: list[dict[str, Json]], header: Mapping[str, Json]) -> list[str]:
    """The characters of a group, in the order in which they spoke; none for a chat that is no group's. The first line of a
    group's chat names nobody, and each message tells whose picture stood beside it."""
    is_group = header.get("character_name") == _NOBODY or any(_PICTURE in line for line in lines)
    names = (text(line.get("name")) for line in lines if not flag(line.get("is_user")) and not _is_told(line))
    return [name for name in dict.fromkeys(names) if name] if is_group else []


def _is_told(line: Mapping[str, Json]) -> bool:
    """Whether nobody of the chat said a line: it is hidden, or a narrator's."""
    return flag(line.get("is_system")) or bool(members(line.get("extra")).get("type"))


def _size(line: Mapping[str, Json]) -> int:
    """The messages that a line makes at most."""
    swipes = line.get("swipes")
    return max(len(swipes), 1) if isinstance(swipes, list) else 1


def _take(line: Mapping[str, Json], floors: _Floors, names: tuple[str, str], report: ImportReport) -> bool:
    """Add a line to the floors; False for one that says nothing."""
    versions, active = _versions(line)
    if not versions:
        return False
    for name in line:
        if name not in _READ:
            report.ignore(f"[].{name:.60}")
    extra = members(line.get("extra"))
    for name in extra:
        if name != "type":
            report.ignore(f"[].extra.{name:.60}")
    is_hidden = flag(line.get("is_system"))
    role: ChatRole = "user" if flag(line.get("is_user")) else "assistant"
    if role == "assistant" and (extra.get("type") == "narrator" or (is_hidden and extra.get("type"))):
        role = "narrator"
    usual = {"user": names[0], "assistant": names[1]}.get(role)
    speaker = text(line.get("name"))
    first = ChatMessage(role, "", "" if speaker == usual else speaker, is_hidden)
    said = [
        replace(first, content=version.text, said_at=date_of(version.told.get("send_date")), beside=_beside(version.told))
        for version in versions
    ]
    if role == "assistant":
        floors.answer(said, active)
    else:
        floors.ask(said[active])
        if len(said) > 1:
            report.downgrade("[].swipes: of what a user or a narrator said the active version was taken")
    return True


class _Version(NamedTuple):
    """One swipe of a line: its text, and what the line tells of it."""

    text: str
    told: Mapping[str, Json]


def _beside(told: Mapping[str, Json]) -> dict[str, Json]:
    """What a line tells of a message and nothing here reads."""
    beside = {name: value for name, value in told.items() if name not in _READ}
    extra = members(told.get("extra"))
    return {**beside, "extra": extra} if extra and extra != _NARRATED else beside


def _versions(line: Mapping[str, Json]) -> tuple[list[_Version], int]:
    """The swipes of a line that say something, and which of them counts: the one that ``mes`` shows. Of that the line itself
    tells, of each other one its member of ``swipe_info``; where there is none, it was said when the line was."""
    shown = _said(line.get("mes"))
    swipes = line.get("swipes")
    all_of_it = [_said(swipe) for swipe in swipes] if isinstance(swipes, list) else []
    at = whole(line.get("swipe_id"), 0)
    if not 0 <= at < len(all_of_it):
        at = all_of_it.index(shown) if shown in all_of_it else 0
    if not all_of_it:
        all_of_it = [shown]
    elif shown:
        all_of_it[at] = shown
    if not all_of_it[at]:
        at = next((index for index, version in enumerate(all_of_it) if version), 0)
    given = line.get("swipe_info")
    infos = given if isinstance(given, list) else []
    alone = {"send_date": line.get("send_date")}
    told = [info if isinstance(info, dict) else alone for info in infos[: len(all_of_it)]]
    told += [alone] * (len(all_of_it) - len(told))
    told[at] = {**members(infos[at] if at < len(infos) else None), **line}
    found = [_Version(text, facts) for text, facts in zip(all_of_it, told, strict=True) if text]
    return found, sum(bool(version) for version in all_of_it[:at])


def _said(value: Json) -> str:
    """A text, also one that stands in an object as some programs write it."""
    return text(members(value).get("message")) if isinstance(value, dict) else text(value)


def date_of(value: Json) -> int | None:
    """The milliseconds since 1970 of a date in one of SillyTavern's forms; None for what is none. Without a zone it is UTC."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = value * 1000 if abs(value) < _SECONDS else value
        return int(found) if 0 <= found <= LATEST else None
    if not isinstance(value, str) or len(value) > 60:
        return None
    moment = _moment(value.strip())
    if moment is None:
        return None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return min(max(since // timedelta(milliseconds=1), 0), LATEST)


def _moment(value: str) -> datetime | None:
    try:
        if found := _OF_FILES.fullmatch(value):
            numbers = [int(part or 0) for part in found.groups()]
            year, month, day, hour, minute, second, milliseconds = numbers
            return datetime(year, month, day, hour, minute, second, milliseconds * 1000, UTC)
        if "," not in value:
            return datetime.fromisoformat(value)
    except ValueError:
        return None
    for form in _OF_PEOPLE:
        try:
            return datetime.strptime(value, form)  # the caller gives it a zone
        except ValueError:
            continue
    return None


def write_lines(record: ChatRecord) -> bytes:
    """A chat as SillyTavern's lines; versions of an answer are swipes, and ``swipe_info`` tells of each."""
    metadata = {**record.metadata, "variables": record.variables} if record.variables else record.metadata
    names = {"user_name": record.user_name, "character_name": record.character_name}
    header = {**record.header, **names, "chat_metadata": metadata}
    lines = [dumps(header)]
    for floor in record.floors:
        versions_by_no: dict[int, list[ChatPage]] = {}
        for page in sorted(floor.pages, key=lambda page: (page.page_no, page.version)):
            versions_by_no.setdefault(page.page_no, []).append(page)
        for versions in versions_by_no.values():
            lines += [dumps(line) for line in _lines(versions, record)]
    return b"\n".join(lines) + b"\n"


def _lines(versions: list[ChatPage], record: ChatRecord) -> Iterator[dict[str, Json]]:
    """The lines of the active one of some versions; with swipes where it is one message and there are other versions."""
    at = next((index for index, page in enumerate(versions) if page.is_active), 0)
    said = versions[at].messages
    for message in said:
        line = _line(message, record)
        if len(versions) > 1 and len(said) == 1:
            line["swipes"] = ["\n\n".join(other.content for other in page.messages) for page in versions]
            line["swipe_id"] = at
            line["swipe_info"] = [_told(page.messages[0]) if len(page.messages) == 1 else {} for page in versions]
        yield line


def _line(message: ChatMessage, record: ChatRecord) -> dict[str, Json]:
    usual = {"user": record.user_name, "assistant": record.character_name}.get(message.role, "")
    return {
        **_told(message),
        "name": message.name or usual,
        "is_user": message.role == "user",
        "is_system": message.is_hidden,
        "mes": message.content,
    }


def _told(message: ChatMessage) -> dict[str, Json]:
    """What a line tells of a message, and of each of its swipes likewise."""
    narrated = _NARRATED if message.role in ("narrator", "system") else {}
    told: dict[str, Json] = {**message.beside, "extra": {**narrated, **members(message.beside.get("extra"))}}
    if message.said_at is not None:
        moment = _EPOCH + timedelta(milliseconds=message.said_at)
        told["send_date"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return told
