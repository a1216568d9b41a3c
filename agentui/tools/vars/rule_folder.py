"""A folder of skill rules as Markdown files, ``{group}/{name}.md``, read again when a file changed.

---
desc: How we write dialogue
when: Before writing a scene
alwaysLoad: false
---
# Dialogue ...
"""

import hashlib
import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agentui.errors import Conflict, NotFound, PreconditionFailed
from agentui.files import FileLock, signature_of, write_atomically
from agentui.tools.vars.errors import InvalidVariable
from agentui.tools.vars.front_matter import scalar, split_front_matter
from agentui.tools.vars.record import MAX_DESC
from agentui.tools.vars.rules import AGENT_RULES, MAX_RULE, RULE_PART, RuleGroups, SkillRule, shipped_rule

MAX_FILE = MAX_RULE
"""Bytes of a rule's file."""
MAX_FILES = 500
_FIELDS = ("desc", "when", "alwaysload")

log = logging.getLogger("agentui.tools")


@dataclass(frozen=True, slots=True)
class _Read:
    """What a file held. One that is no rule has none, and a ``problem``."""

    signature: tuple[int, int, int]
    rule: SkillRule | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ListedRule:
    """A rule, and whether it comes with the server. A file that is no rule has none, and a ``problem``."""

    group: str
    name: str
    is_shipped: bool
    rule: SkillRule | None
    problem: str | None = None


class RuleFolder:
    """The rules of this server: those that come with it, and those of a folder, which need not exist.

    It reads files: call it in a thread. ``lock`` is the file by which processes that share the folder write one after the
    other; without one the threads of this process do.
    """

    def __init__(self, folder: Path, lock: Path | None = None) -> None:
        self.folder = folder
        self._read: dict[Path, _Read] = {}
        self._writing = threading.RLock() if lock is None else FileLock(lock)

    def groups(self) -> RuleGroups:
        """All rules by their groups. A file that is no rule is left out, and the log says why; so is one that has the name of a
        rule that comes with the server."""
        found = {group: {rule.name: rule for rule in rules} for group, rules in AGENT_RULES.items()}
        for path, read in self._looked().items():
            if read.rule is not None:
                found.setdefault(path.parent.name, {}).setdefault(read.rule.name, read.rule)
        return {group: tuple(rules.values()) for group, rules in found.items()}

    def listed(self) -> list[ListedRule]:
        """Every rule with where it is from, by groups and names; files that are no rules with what is wrong with them."""
        listed = [ListedRule(group, rule.name, True, rule) for group, rules in AGENT_RULES.items() for rule in rules]
        for path, read in self._looked().items():
            place = (path.parent.name, path.stem)
            if shipped_rule(*place) is None:
                listed.append(ListedRule(*place, False, read.rule, read.problem))
            else:
                listed.append(ListedRule(*place, False, None, "A rule of this name comes with the server."))
        return listed

    def _looked(self) -> Mapping[Path, _Read]:
        """What the files hold, in their order; those that did not change are not read again."""
        seen: dict[Path, _Read] = {}
        for path in self._files():
            signature = signature_of(path)
            if signature is None:
                continue
            old = self._read.get(path)
            seen[path] = old if old is not None and old.signature == signature else _read_file(path, signature)
        self._read = seen
        return seen

    def text(self, group: str, name: str) -> str:
        """A rule as its file holds it; one that comes with the server as a file would hold it. Raises NotFound."""
        if (rule := shipped_rule(group, name)) is not None:
            return written_rule(rule)
        try:
            return self._path(group, name).read_text("utf-8-sig")
        except (OSError, ValueError, InvalidVariable):
            raise NotFound(f"There is no rule {group}/{name}.") from None

    def write(self, group: str, name: str, text: str, expected: str = "") -> bool:
        """Keep a rule's file; whether it is a new one. One is written at a time, and where ``expected`` is given only in the
        place of that version (``version_of``): of two who read the same the second is refused.

        Raises InvalidVariable for what is no rule, Conflict for one that comes with the server and where there are MAX_FILES,
        PreconditionFailed where another version is there, and NotSaved."""
        path = self._path(group, name)
        self._refuse_shipped(group, name)
        read_rule(name, text)
        if len(data := text.encode()) > MAX_FILE:
            raise InvalidVariable("/text", f"A rule has at most {MAX_FILE} bytes.")
        with self._writing:
            if expected and expected != (version := self._version(group, name)):
                raise PreconditionFailed(f"The rule {group}/{name} was changed meanwhile: read it again.", etag=version)
            is_new = not path.exists()
            if is_new and sum(1 for _ in self._files()) >= MAX_FILES:
                raise Conflict(f"There are {MAX_FILES} rules already: remove one first.")
            write_atomically(path, data)
        return is_new

    def _version(self, group: str, name: str) -> str:
        """The version of what is there; "" for nothing."""
        try:
            return version_of(self.text(group, name))
        except NotFound:
            return ""

    def remove(self, group: str, name: str) -> None:
        """Remove a rule's file, and its group's folder where it was the last. Raises NotFound and Conflict as above."""
        self._refuse_shipped(group, name)
        try:
            path = self._path(group, name)
            with self._writing:
                path.unlink()
        except (OSError, InvalidVariable):
            raise NotFound(f"There is no rule {group}/{name}.") from None
        with suppress(OSError):  # other files are there
            path.parent.rmdir()

    def _path(self, group: str, name: str) -> Path:
        """Where a rule's file is. Raises InvalidVariable for names that are none, and for a link: none leads out of the
        folder."""
        for field, part in (("group", group), ("name", name)):
            if RULE_PART.fullmatch(part) is None or part.endswith((" ", ".")):
                raise InvalidVariable(
                    f"/{field}", "has 1 to 60 letters, digits, spaces, dots, _ and -, the first a letter or a digit."
                )
        path = self.folder / group / f"{name}.md"
        if path.is_symlink() or path.parent.is_symlink():
            raise InvalidVariable("/name", "is a link, and links are not followed.")
        return path

    @staticmethod
    def _refuse_shipped(group: str, name: str) -> None:
        if shipped_rule(group, name) is not None:
            raise Conflict(f"The rule {group}/{name} comes with the server and cannot be changed: give yours another name.")

    def _files(self) -> Iterator[Path]:
        """The files that may be rules, the first MAX_FILES by their names; none leads out of the folder."""
        paths = sorted(path for path in self.folder.glob("*/*.md") if not path.is_symlink() and not path.parent.is_symlink())
        yield from paths[:MAX_FILES]


def version_of(text: str) -> str:
    """What tells a rule's text from another: 16 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_rule(name: str, text: str) -> SkillRule:
    """A rule out of its file's text: the front matter, then the rule. Without a description the first line serves. Raises
    InvalidVariable for a field that is none, and for a rule without a text."""
    if "\0" in text:
        raise InvalidVariable("/prompt", "A text cannot hold the character NUL.")
    fields, prompt = split_front_matter(text.replace("\r\n", "\n"))
    for field in fields:
        if field not in _FIELDS:
            raise InvalidVariable("/", f"{field!r:.100} is none of desc, when and alwaysLoad.")
    if not prompt.strip():
        raise InvalidVariable("/prompt", "A rule needs a text.")
    first = prompt.strip().splitlines()[0].lstrip("# ")
    return SkillRule(
        name,
        (fields.get("desc") or first)[:MAX_DESC],
        prompt,
        fields.get("when", "")[:MAX_DESC],
        fields.get("alwaysload", "").lower() in ("true", "yes", "on", "1"),
    )


def written_rule(rule: SkillRule) -> str:
    """A rule as its file's text, which ``read_rule`` reads."""
    always = "true" if rule.always_load else "false"
    when = f" {scalar(rule.when)}" if rule.when else ""
    return f"---\ndesc: {scalar(rule.desc)}\nwhen:{when}\nalwaysLoad: {always}\n---\n{rule.prompt}"


def _rule_in(path: Path) -> SkillRule:
    """The rule of a file. Raises InvalidVariable, OSError and ValueError for one that is none."""
    if not all(RULE_PART.fullmatch(part) for part in (path.parent.name, path.stem)):
        raise InvalidVariable("/name", "the names of folder and file are of another form")
    if path.stat().st_size > MAX_FILE:
        raise InvalidVariable("/", f"it has more than {MAX_FILE} bytes")
    return read_rule(path.stem, path.read_text("utf-8-sig"))


def _read_file(path: Path, signature: tuple[int, int, int]) -> _Read:
    """What a file holds; the log tells of one that is no rule."""
    try:
        return _Read(signature, _rule_in(path))
    except (OSError, ValueError, InvalidVariable) as error:
        log.warning("The file %s is no skill rule: %s", path, error)
        return _Read(signature, None, str(error))
