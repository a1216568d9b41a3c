"""The shapes of accounts, clients and keys over HTTP. What is wrong with a client has codes of its own (contract, 5.4), so its
fields are looked at one by one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, model_validator

from agentui.accounts.codes import failure
from agentui.accounts.passwords import LONGEST, SHORTEST
from agentui.accounts.provider import LONGEST_EMAIL, LONGEST_SUBJECT
from agentui.accounts.purging import MOST_DELAY, USUAL_DELAY
from agentui.accounts.records import Client, ClientKey, ClientKind
from agentui.accounts.restrictions import network_of
from agentui.jsonio import Json, dumps
from agentui.principal import ROUTE_FAMILIES, Role, RouteFamily
from agentui.schemas.forms import NO_NUL, Form, Patch
from agentui.usage.records import Period, Unit

MAX_METADATA: Final = 16 * 1024
"""Bytes of a client's metadata as JSON."""
MOST_OVERLAP: Final = 30 * 86_400
"""Seconds."""


def _can_be_named(id: str) -> str:
    if id in (".", ".."):
        raise ValueError("an address cannot hold this id")
    return id


AccountId = Annotated[str, Field(min_length=1, max_length=120), NO_NUL, AfterValidator(_can_be_named)]
AccountName = Annotated[str, Field(min_length=1, max_length=120), NO_NUL]
MayEdit = Annotated[bool, Field(description="Whether a user may change pipelines and presets; admins always may.")]


class NewAccount(Form):
    """An account to make; without an ``id`` it gets one."""

    id: AccountId | None = None
    name: AccountName
    role: Role = "user"
    may_edit: MayEdit = False


class AccountPatch(Patch):
    """What to change of an account."""

    name: AccountName = "unnamed"
    role: Role = "user"
    status: Literal["active", "disabled"] = "active"
    may_edit: MayEdit = False


class PurgeForm(Form):
    """That an account is to be removed with all that it has."""

    confirm: Annotated[str, Field(description="The account's id once more, so that nobody does this by a slip.")]
    delay_seconds: Annotated[int, Field(ge=0, le=MOST_DELAY, description="When it begins; until then it can be cancelled.")] = (
        USUAL_DELAY
    )


class ClientForm(Form):
    """A client to make."""

    name: JsonValue = Field(None, json_schema_extra={"type": "string", "minLength": 1, "maxLength": 120})
    kind: JsonValue = Field("custom", json_schema_extra={"enum": list(get_args(ClientKind))})
    metadata: JsonValue = Field(default_factory=dict, json_schema_extra={"type": "object"})

    @property
    def fields(self) -> dict[str, Any]:
        """The fields for the store. Raises 400 and 413 with codes of their own."""
        return checked_client(self.model_dump())


class ClientPatch(Patch):
    """What to change of a client."""

    name: JsonValue = Field(None, json_schema_extra={"type": "string", "minLength": 1, "maxLength": 120})
    kind: JsonValue = Field("custom", json_schema_extra={"enum": list(get_args(ClientKind))})
    metadata: JsonValue = Field(default_factory=dict, json_schema_extra={"type": "object"})

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that were given, for the store. Raises 400 and 413 with codes of their own."""
        return checked_client(self.given)


def checked_client(fields: Mapping[str, Json]) -> dict[str, Any]:
    """The fields of a client, each looked at. Raises 400 ``client_name_required``, ``client_kind_invalid``,
    ``client_metadata_invalid``, and 413 ``client_metadata_too_large``."""
    found = dict(fields)
    if "name" in fields:
        name = fields["name"].strip() if isinstance(fields["name"], str) else ""
        if not 0 < len(name) <= 120 or "\0" in name:
            raise failure("client_name_required", "A client needs a name of 1 to 120 characters.")
        found["name"] = name
    if "kind" in fields and fields["kind"] not in get_args(ClientKind):
        raise failure("client_kind_invalid", f"A client is of one of these kinds: {', '.join(get_args(ClientKind))}.")
    if "metadata" in fields:
        if not isinstance(fields["metadata"], dict):
            raise failure("client_metadata_invalid", "A client's metadata are an object.")
        if len(dumps(fields["metadata"])) > MAX_METADATA:
            raise failure("client_metadata_too_large", f"A client's metadata are at most {MAX_METADATA} bytes of JSON.")
    return found


class ClientQuery(Form):
    """Which clients."""

    status: Literal["active", "disabled"] | None = Field(None, description="active or disabled: only those.")
    kind: ClientKind | None = Field(None, description="basic, advanced, deriver, worker or custom: only those.")
    limit: int = Field(50, ge=1, le=200, description="Most items in the answer, at most 200.")
    cursor: str | None = Field(None, max_length=400, description="Where to go on: next_cursor of the answer before.")


class KeyQuery(Form):
    """Which keys."""

    status: Literal["active", "revoked"] | None = Field(None, description="active or revoked: only those.")


class KeyLimit(Form):
    """A budget of a key: so much of a unit in a period. Money is in billionths of a dollar."""

    unit: Unit = "money"
    period: Period = "ever"
    amount: int = Field(ge=0, le=2**62)


def _network(text: str) -> str:
    try:
        return network_of(text)
    except ValueError:
        raise ValueError("must be an IP address, or a network such as 10.0.0.0/8") from None


Pattern = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
"""What a name has to look like: ``*`` stands for anything, ``?`` for one character."""
Network = Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_network)]


class RestrictionsForm(Form):
    """What a key is kept to; what is null or left out is open. An admin's key without ``admin`` manages no accounts."""

    model_config = ConfigDict(extra="forbid")

    pipelines: Annotated[list[Pattern], Field(min_length=1, max_length=64)] | None = None
    models: Annotated[list[Pattern], Field(min_length=1, max_length=64)] | None = None
    routes: Annotated[list[RouteFamily], Field(min_length=1, max_length=len(ROUTE_FAMILIES))] | None = None
    addresses: Annotated[list[Network], Field(min_length=1, max_length=64)] | None = None
    admin: bool = True


class _KeyFields(Form):
    """What a key has. It expires at a time in milliseconds since 1970, or never; ``limits`` are budgets of its own."""

    name: Annotated[str, Field(max_length=120), NO_NUL] | None = None
    expires_at: JsonValue = Field(None, json_schema_extra={"type": ["integer", "null"]})
    restrictions: RestrictionsForm | None = None
    limits: list[KeyLimit] = Field(default_factory=list, max_length=16)

    def fields(self, now: int) -> dict[str, Any]:
        """Those that were given, but for the limits. Raises 400 ``client_api_key_expires_at_invalid`` for what is no time in
        the future."""
        fields = self.given
        fields.pop("limits", None)
        ends = fields.get("expires_at")
        if ends is not None and (isinstance(ends, bool) or not isinstance(ends, int) or not now < ends < 2**53):
            raise failure("client_api_key_expires_at_invalid", "expires_at is a future time, in milliseconds since 1970.")
        return fields

    @property
    def budgets(self) -> list[tuple[Unit, Period, int]]:
        """The limits."""
        return [(limit.unit, limit.period, limit.amount) for limit in self.limits]


class NewKey(_KeyFields):
    """A key to make."""


class KeyPatch(_KeyFields, Patch):
    """What to change of a key, which stays the same key. ``restrictions`` and ``limits`` take the place of all that there were;
    of a limit that stays what was spent stays spent."""


class Rotation(Form):
    """How a key gets its successor."""

    overlap_seconds: int = Field(0, ge=0, le=MOST_OVERLAP, description="How long the old one is taken as well.")


Password = Annotated[str, Field(min_length=SHORTEST, max_length=LONGEST)]


Said = Annotated[str, Field(max_length=4096)]
"""What an identity provider has sent a browser back with."""
Credential = Annotated[
    dict[str, JsonValue], Field(description="The browser's PublicKeyCredential as JSON (WebAuthn 3, 5.1), bytes in base64url.")
]
PasskeyTitle = Annotated[str, Field(min_length=1, max_length=120), NO_NUL]


class BeginForm(Form):
    """How somebody is going to sign in."""

    way: Annotated[str, Field(max_length=40)]


class FromProvider(Form):
    """What an identity provider has sent the browser back with, in the query of its address."""

    state: Said
    code: Said | None = None
    iss: Said | None = None
    error: Said | None = None


class SignInForm(Form):
    """Who signs in, and how it is proved: an account and its password, a passkey's answer, or what an identity provider has
    sent the browser back with."""

    way: Annotated[str, Field(max_length=40)] = "password"
    account: AccountId | None = None
    password: Annotated[str, Field(max_length=LONGEST)] | None = None
    credential: Credential | None = None
    state: Said | None = None
    code: Said | None = None
    iss: Said | None = None
    error: Said | None = None


class NewPasskeyForm(Form):
    """A passkey that an authenticator has made, and what people call it."""

    name: PasskeyTitle
    credential: Credential


class PasskeyName(Form):
    """What people call a passkey."""

    name: PasskeyTitle


class NewIdentity(Form):
    """Whom an account is to be linked to: a person by the provider's id of them, or whoever has a verified address first."""

    subject: Annotated[str, Field(min_length=1, max_length=LONGEST_SUBJECT), NO_NUL] | None = None
    email: Annotated[str, Field(min_length=3, max_length=LONGEST_EMAIL, pattern="^[^@\\s]+@[^@\\s]+$"), NO_NUL] | None = None

    @model_validator(mode="after")
    def _names_one(self) -> "NewIdentity":
        if (self.subject is None) == (self.email is None):
            raise ValueError("name a subject or an email, and not both")
        return self


class NewPassword(Form):
    """A password for an account; ``only`` takes its passkeys and linked sign-ons away, too."""

    password: Password
    only: bool = Field(False, description="Whether passkeys and linked sign-ons of the account are removed as well.")


class PasswordChange(Form):
    """Another password of one's own; the present one is asked for where there is one."""

    password: Password
    current_password: Annotated[str, Field(max_length=LONGEST)] | None = None


@dataclass(frozen=True, slots=True)
class Ways:
    """How people get in. ``ways`` are those to sign in to the page; where there is none nobody has to, or a token is asked
    for. ``provider_name`` is what the operator calls the identity provider, and ``public_url`` where the page is at home."""

    auth_mode: Literal["off", "api_key", "jwt"]
    account_mode: Literal["single", "multi"]
    ways: list[str]
    provider_name: str | None
    public_url: str | None


@dataclass(frozen=True, slots=True)
class BegunSignIn:
    """How it goes on: ``options`` are for the browser's authenticators, ``url`` is the provider's address to go to."""

    way: str
    options: dict[str, JsonValue] | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Me:
    """Who asks, and what that one may do. ``name`` is null where nobody signs in, or did yet."""

    account_id: str
    name: str | None
    role: Role
    may_edit: bool
    client_id: str | None
    key_id: str | None


@dataclass(frozen=True, slots=True)
class ShownSignIn:
    """A browser in which somebody is signed in; ``is_this`` says that it is the one that asks."""

    id: str
    method: str
    device: str
    is_this: bool
    created_at: int
    last_used_at: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class SignedOut:
    """It is done. ``provider_url`` is where the browser signs out of the identity provider, where it came in by one and the
    operator wants that."""

    signed_out: Literal[True] = True
    provider_url: str | None = None


@dataclass(frozen=True, slots=True)
class PasswordSet:
    """Whose password was set."""

    account_id: str
    signed_out: Literal[True] = True


@dataclass(frozen=True, slots=True)
class ClientItem:
    """An answer that is one client."""

    item: Client


@dataclass(frozen=True, slots=True)
class KeyItem:
    """An answer that is one key."""

    item: ClientKey


@dataclass(frozen=True, slots=True)
class KeyItems:
    """An answer that is a list of keys, always whole."""

    items: list[ClientKey]
    next_cursor: None = None
