"""``SecretStore``: provider keys by name, from the environment or from the sealed file.

    secrets.json   {"format": 1, "secrets": {"<name in lower case>": {"name", "origins", "sealed"}}}
    secret.key     the key that seals it, kept apart so that a copy of the one is nothing without the other

``sealed`` holds name, value and origins together, so that editing the file cannot send a key elsewhere. Values go in and
never come out but through ``get``.
"""

import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agentui.errors import AgentUIError, BadRequest, Forbidden, NodeFailed, NotFound
from agentui.files import write_atomically
from agentui.jsonio import InvalidJson, Json, dumps, dumps_pretty, loads
from agentui.secrets.encryption import Cipher, read_or_make_key
from agentui.secrets.origins import origin_of, read_origins

FILE = "secrets.json"
KEY_FILE = "secret.key"
PREFIX = "AGENTUI_SECRET_"
_ORIGINS = "_ORIGINS"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LOOK_AGAIN = 1.0
"""Seconds between two looks at the file's date."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A key, and the origins it may go to (None: any). Its value is not part of its repr."""

    name: str
    value: str = field(repr=False)
    origins: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class SecretName:
    """What may be known about a secret: everything but its value."""

    name: str
    source: Literal["environment", "store"]
    origins: frozenset[str] | None


class SecretStore:
    """Keys by name, upper and lower case alike. The environment wins over the sealed file.

    ``env`` is the part of the environment that begins with ``AGENTUI_SECRET_``: ``AGENTUI_SECRET_OPENAI`` is the secret
    ``openai`` and ``AGENTUI_SECRET_OPENAI_ORIGINS`` its origins, comma separated (``-`` in a name is ``_`` there).
    ``key`` replaces the key file. Raises ValueError when it is not a key. ``now`` is seconds that never jump.
    """

    def __init__(
        self, folder: Path, env: Mapping[str, str], key: str | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder = folder
        self._env = {_in_env(name): entry for name, entry in _environment(env).items()}
        self._given = None if key is None else Cipher(key)
        self._now = now
        self._looked: float | None = None
        self._stamp: tuple[int, int, int, int] | None = None
        self._file = _File()
        self._writing = threading.Lock()
        self._looking = threading.Lock()

    def get(self, name: str) -> Secret:
        """The secret of that name.

        Raises NotFound when there is none, NodeFailed when it is there but cannot be opened (a lost key, a damaged entry),
        BadRequest when the name or, in the environment, an origin is none.
        """
        key = _checked(name)
        if (found := self._env.get(_in_env(key))) is not None:
            return Secret(name=name, value=found.value, origins=read_origins(found.origins))
        file = self._refreshed()
        secret = file.opened.get(key)
        if secret is None:
            secret = file.opened[key] = self._open(file, key, name)
        return secret

    def has(self, name: str) -> bool:
        """Whether there is a secret of that name, which ``get`` may still fail to open."""
        key = name.lower()
        return _in_env(key) in self._env or key in self._refreshed().entries

    def set(self, name: str, value: str, origins: Iterable[str] | None) -> None:
        """Cipher a secret, replacing one of the same name. Raises BadRequest for a bad name, an empty value or a bad origin,
        NodeFailed when the file or its key cannot be read (nothing is written then), NotSaved when one cannot be written."""
        key, bound = _checked(name), read_origins(origins)
        if not value.strip():
            raise BadRequest(f"The secret {name!r} has no value.", param="value")
        listed = None if bound is None else sorted(bound)
        cipher = self._cipher(make=True)
        sealed = cipher.encrypt(dumps({"name": name, "value": value.strip(), "origins": listed}))
        with self._writing:
            entries = self._readable_entries()
            self._write(entries | {key: {"name": name, "origins": listed, "sealed": sealed}})

    def delete(self, name: str) -> None:
        """Remove a sealed secret. Raises NotFound when there is none."""
        key = _checked(name)
        with self._writing:
            entries = self._readable_entries()
            if key not in entries:
                raise NotFound(f"The secret store holds no {name!r}; what the environment sets is removed there.", name=name)
            self._write({other: entry for other, entry in entries.items() if other != key})

    def names(self) -> list[SecretName]:
        """Every secret that ``get`` knows, sorted by name, without values. Damaged entries are listed too."""
        found = {key: SecretName(entry.name, "environment", _shown(entry.origins)) for key, entry in self._env.items()}
        for key, entry in self._refreshed().entries.items():
            if _in_env(key) not in found:
                found[key] = _listed(key, entry)
        return sorted(found.values(), key=lambda known: known.name.lower())

    def derive(self, purpose: str) -> bytes:
        """32 bytes that are always the same for a purpose and this store's key, and tell nothing of it or of another purpose's.
        The key file is made where it is missing.

        Raises NodeFailed when the key cannot be read, NotSaved when it cannot be made.
        """
        return self._cipher(make=True).derive(purpose)

    def seal(self, purpose: str, data: bytes) -> str:
        """Data that somebody else keeps, encrypted for a purpose. The key file is made where it is missing.

        Raises NodeFailed when the key cannot be read, NotSaved when it cannot be made.
        """
        return self._cipher(make=True).of(purpose).encrypt(data)

    def unseal(self, purpose: str, sealed: str) -> bytes | None:
        """What ``seal`` was given; None for what was sealed for another purpose or with another key, or has been changed.
        Raises NodeFailed when the key is gone or cannot be read."""
        return self._cipher(make=False).of(purpose).decrypt(sealed)

    def _open(self, file: "_File", key: str, name: str) -> Secret:
        """Unseal one entry."""
        if file.broken is not None:
            raise NodeFailed(file.broken, secret=name)
        if key not in file.entries:
            raise NotFound(
                f"There is no secret {name!r}. Set {PREFIX}{_in_env(key)} in the environment, or store it with "
                f"'agentui secret set {name}'.",
                name=name,
            )
        cipher = self._cipher(make=False)
        match _unsealed(cipher, file.entries[key]):
            case {"name": str(own), "value": str(value), "origins": None | list() as origins} if own.lower() == key:
                return Secret(name=own, value=value, origins=None if origins is None else frozenset(map(str, origins)))
        raise NodeFailed(
            f"The secret {name!r} cannot be opened: its entry in {FILE} is damaged or was sealed with another key. "
            "Store it again.",
            secret=name,
        )

    def _cipher(self, *, make: bool) -> Cipher:
        """The store's cipher; the key file is made when it is missing and ``make`` says so."""
        if self._given is not None:
            return self._given
        path = self._folder / KEY_FILE
        try:
            return Cipher(read_or_make_key(path) if make else path.read_text("ascii"))
        except FileNotFoundError:
            raise NodeFailed(
                f"The key {KEY_FILE} of the secret store is gone; put it back or store the secrets again."
            ) from None
        except (OSError, ValueError) as error:
            raise NodeFailed(f"The key {KEY_FILE} of the secret store cannot be read: put it back from a copy.") from error

    def _refreshed(self) -> "_File":
        """The file, read again if it changed, looking at most once a second. Every thread finds one state of it, whole."""
        with self._looking:
            now = self._now()
            if self._looked is None or now - self._looked >= _LOOK_AGAIN:
                self._looked, stamp = now, self._stamped()
                if stamp != self._stamp:
                    self._stamp, self._file = stamp, self._load()
            return self._file

    def _stamped(self) -> tuple[int, int, int, int]:
        """What changes when one of the two files does: their dates and sizes (0 for a file that is not there)."""
        stamp: list[int] = []
        for name in (FILE, KEY_FILE):
            try:
                stat = (self._folder / name).stat()
                stamp += (stat.st_mtime_ns, stat.st_size)
            except OSError:
                stamp += (0, 0)
        return stamp[0], stamp[1], stamp[2], stamp[3]

    def _load(self) -> "_File":
        """Read the file; one that cannot be read breaks sealed secrets, not those of the environment."""
        try:
            match loads((self._folder / FILE).read_bytes()):
                case {"format": 1, "secrets": dict(entries)}:
                    return _File(entries)
            return _File(broken=f"{FILE} in the data folder is not a secret store of this version; move it away.")
        except FileNotFoundError:
            return _File()
        except (OSError, InvalidJson):
            text = f"{FILE} in the data folder is damaged or cannot be read; put it back from a copy or move it away."
            return _File(broken=text)

    def _readable_entries(self) -> dict[str, Json]:
        """The entries as they are on the disk now. Raises NodeFailed rather than have a damaged file overwritten."""
        file = self._load()
        if file.broken is not None:
            raise NodeFailed(file.broken)
        return file.entries

    def _write(self, entries: Mapping[str, Json]) -> None:
        """Replace the file and forget what was read from it."""
        write_atomically(self._folder / FILE, dumps_pretty({"format": 1, "secrets": entries}), private=True)
        with self._looking:
            self._looked = self._stamp = None


@dataclass(frozen=True, slots=True)
class _File:
    """One state of the sealed file: its entries, those that were unsealed, and what is wrong with it, if anything."""

    entries: dict[str, Json] = field(default_factory=dict)
    opened: dict[str, Secret] = field(default_factory=dict, repr=False)
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class _Variable:
    """A secret as the environment gives it; its origins are read when it is asked for, so that one typo breaks one secret."""

    name: str
    value: str = field(repr=False)
    origins: tuple[str, ...] | None = None


def check_origin(secret: Secret, url: str, *, has_fixed_host: bool = True) -> None:
    """Raise Forbidden unless the secret may go to the URL's origin (BadRequest when the URL has none).

    One that is bound to no origin may go where the pipeline says (``has_fixed_host``), and not where a request may say.
    """
    if secret.origins is None:
        if not has_fixed_host:
            raise Forbidden(
                f"The secret {secret.name!r} is bound to no origin, and the host of this address comes from a macro. "
                "Write the host, or bind the secret to the origins it may go to.",
                secret=secret.name,
            )
        return
    origin = origin_of(url)
    if origin not in secret.origins:
        bound = ", ".join(sorted(secret.origins)) or "no origin at all"
        raise Forbidden(
            f"The secret {secret.name!r} may not be sent to {origin}; it is bound to {bound}. "
            "Use another secret, or store this one with that origin.",
            secret=secret.name,
            origin=origin,
        )


def _environment(env: Mapping[str, str]) -> dict[str, _Variable]:
    """The secrets in the environment by name. ``AGENTUI_SECRET_KEY`` is the store's key and no secret."""
    found: dict[str, _Variable] = {}
    for variable, value in env.items():
        name = variable.upper().removeprefix(PREFIX)
        if not variable.upper().startswith(PREFIX) or name == "KEY" or name.endswith(_ORIGINS) or not value.strip():
            continue
        if _NAME.fullmatch(name):
            listed = tuple(part.strip() for part in env.get(f"{variable}{_ORIGINS}", "").split(",") if part.strip())
            found[name] = _Variable(name.lower(), value.strip(), listed or None)
    return found


def check_key(key: str) -> None:
    """Raise ValueError unless this can be the store's key."""
    Cipher(key)


def _unsealed(cipher: Cipher, entry: Json) -> Json:
    """What an entry holds; None when it cannot be opened."""
    match entry:
        case {"sealed": str(sealed)} if (data := cipher.decrypt(sealed)) is not None:
            try:
                return loads(data)
            except InvalidJson:
                return None
    return None


def _listed(key: str, entry: Json) -> SecretName:
    """An entry as ``names`` shows it, damaged or not."""
    match entry:
        case {"name": str(name), "origins": list(origins)}:
            return SecretName(name, "store", frozenset(map(str, origins)))
        case {"name": str(name)}:
            return SecretName(name, "store", None)
    return SecretName(key, "store", None)


def _shown(origins: tuple[str, ...] | None) -> frozenset[str] | None:
    """The environment's origins for display: as they would be used, or as they are written where they are none."""
    try:
        return read_origins(origins)
    except AgentUIError:
        return frozenset(origins or ())


def check_name(name: str) -> None:
    """Raise BadRequest for what cannot be the name of a secret."""
    _checked(name)


def _checked(name: str) -> str:
    """The name in lower case. Raises BadRequest for one that is none."""
    if not _NAME.fullmatch(name):
        raise BadRequest("A secret's name begins with a letter and has up to 64 letters, digits, '_' and '-'.", param="name")
    return name.lower()


def _in_env(name: str) -> str:
    """The name as it stands in a variable."""
    return name.upper().replace("-", "_")
