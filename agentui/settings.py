"""Every setting, and the only reader of the environment.

Each field is also ``AGENTUI_<NAME>`` in the environment; command-line options win over it.
"""

import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cached_property
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from agentui.principal import KEY_PREFIX

MIB = 1024 * 1024
MIN_TOKEN = 8
JWT_ALGORITHMS = (
    "HS256", "HS384", "HS512",
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
)  # fmt: skip
"""What a token may be signed by (RFC 7518, 3.1; RFC 8037): with a secret those of HMAC, with a public key the others; never
``none``."""
MIN_JWT_SECRET = 32
"""Bytes of the secret of tokens that are signed by HMAC: as many as the shortest of their hashes."""

SIGN_IN_WAYS = ("password", "passkey", "oidc")
"""How people may sign in to the page, in the order in which it offers them."""

CommaSeparated = Annotated[tuple[str, ...], NoDecode]
"""Texts that the environment gives as one, with commas between them (and not as JSON)."""


def default_data_folder() -> Path:
    """The per-user data folder of this system."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "agentui"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "agentui"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "agentui"


class Settings(BaseSettings):
    """What can be set: what is given, then what the environment says (in capitals or not), then the defaults.

    Times are seconds, sizes are bytes. Raises ValidationError.
    """

    model_config = SettingsConfigDict(env_prefix="AGENTUI_", extra="ignore", frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(7860, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    pipelines: Path = Field(Path("pipelines"), description="Folder of pipeline files.")
    presets: Path = Field(Path("presets"), description="Folder of preset files.")
    rules: Path = Field(Path("rules"), description="Folder of skill rules, Markdown files in folders of their groups.")
    var_ref_nested: bool = Field(
        False,
        description="Also follow the $VAR_REF in results of tools, messages and rules: whoever wrote them reads variables.",
    )
    data: Path = Field(
        default_factory=default_data_folder, description="Folder for state: versions, the active pipeline, sealed keys."
    )
    database_url: SecretStr | None = Field(
        None, description="PostgreSQL's address for sessions and variables; unset: a file in the data folder."
    )
    database_timeout: float = Field(
        10.0, gt=0, description="Longest wait for a connection to PostgreSQL, and there for another transaction's lock."
    )
    token: SecretStr | None = Field(None, description="Access token that every request must carry. Required beyond loopback.")
    auth_mode: Literal["off", "api_key", "jwt"] = Field(
        "off", description="How callers prove who they are: not at all, by keys, or by JSON Web Tokens."
    )
    account_mode: Literal["single", "multi"] = Field(
        "single", description="Whether everything belongs to the default account, or to the account that asks."
    )
    auth_api_keys: SecretStr | None = Field(
        None, description="Keys of the mode api_key that name no account, comma separated; in the mode single they need none."
    )
    auth_api_key_accounts: SecretStr | None = Field(
        None, description="Keys of the mode api_key with their accounts, key:account, comma separated."
    )
    auth_jwt_secret: SecretStr | None = Field(
        None, description="Secret of tokens that are signed by HMAC, at least 32 characters."
    )
    auth_jwt_jwks: str | None = Field(
        None, description="File or address of the public keys (JWKS) of tokens that are signed otherwise."
    )
    auth_jwt_algorithms: CommaSeparated = Field(
        (),
        description="Algorithms that tokens may have, comma separated; unset: HS256, HS384 and HS512 where there is a secret.",
    )
    auth_jwt_account_claim: str = Field("account_id", min_length=1, description="The claim of a token that names its account.")
    auth_jwt_issuer: str | None = Field(None, description="The issuer that tokens have to name; unset: any.")
    auth_jwt_audience: str | None = Field(None, description="The audience that tokens have to name; unset: any.")
    sign_in_age: int = Field(2_592_000, gt=0, description="How long somebody who signed in to the page stays signed in.")
    public_url: str | None = Field(
        None, description="Address at which people open the page, such as https://agents.example; passkeys and OIDC need it."
    )
    sign_in_ways: CommaSeparated = Field(
        (), description="Ways to sign in to the page: password, passkey, oidc, comma separated; unset: all that can be."
    )
    oidc_issuer: str | None = Field(
        None, description="Issuer of the OpenID Connect provider at which people sign in, as its document spells it."
    )
    oidc_client_id: str | None = Field(None, description="What the provider knows this server by.")
    oidc_client_secret: SecretStr | None = Field(
        None, description="Secret that the provider has given this server; unset: it is a public client."
    )
    oidc_name: str = Field("", max_length=60, description="What the button of this way to sign in says; unset: single sign-on.")
    oidc_scopes: CommaSeparated = Field(
        (), description="What the provider is asked to tell, comma separated; unset: openid, profile, email, all three."
    )
    oidc_algorithms: CommaSeparated = Field(
        (), description="Algorithms that the provider's tokens may have, comma separated; unset: RS256 and ES256."
    )
    oidc_create_accounts: bool = Field(
        False, description="Whether who comes from the provider for the first time gets an account."
    )
    oidc_email_domains: CommaSeparated = Field(
        (), description="Domains of whose verified addresses the provider's people are let in, comma separated; unset: any."
    )
    oidc_groups_claim: str = Field("groups", min_length=1, description="The claim that lists somebody's groups.")
    oidc_groups: CommaSeparated = Field(
        (), description="Groups whose members are let in from the provider, comma separated; unset: everybody."
    )
    oidc_admin_groups: CommaSeparated = Field(
        (), description="Groups whose members are admins, and nobody else from the provider is; unset: it changes no role."
    )
    oidc_sign_out: bool = Field(False, description="Whether who signs out here signs out of the provider, too.")
    usage: bool | None = Field(
        None, description="Whether every call to a model is written into the ledger; unset: where callers show who they are."
    )
    prices: Path | None = Field(None, description="File with prices of models that differ from the list prices; unset: none.")
    unknown_price: Literal["refuse", "free"] | None = Field(
        None,
        description="What becomes of a call whose price nobody knows where its caller has a budget of money; unset: what an "
        "admin chooses in the page, and until then it is refused.",
    )
    insecure: bool = Field(False, description="Listen beyond loopback without a token.")
    allowed_hosts: CommaSeparated = Field(
        (), description="Further names this server may be called by (Host header), comma separated."
    )
    cors_origins: CommaSeparated = Field((), description="Web origins whose pages may call this server, comma separated.")
    allow_private: bool | None = Field(
        None, description="Whether pipelines may call private addresses; unset: only when listening on loopback."
    )
    allow_self: bool = Field(False, description="Whether pipelines may call this very server.")
    max_hops: int = Field(1, ge=0, description="Most other servers of agentui that a request may have passed before this one.")
    upstream_proxy: SecretStr | None = Field(
        None, description="Proxy to call upstreams through, or direct for none; unset: what HTTPS_PROXY and its kin say."
    )
    trusted_proxies: CommaSeparated = Field(
        (), description="Addresses or networks of proxies whose X-Forwarded-For is believed, comma separated."
    )
    rate_limit: int = Field(0, ge=0, description="Requests to models that one address may make a minute; 0: any number.")
    token_attempts: int = Field(
        30, ge=0, description="Wrong access tokens that one address may send a minute before it has to wait; 0: any number."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="How much is logged.")
    log_format: Literal["text", "json"] = Field("text", description="How a line of the log is written.")
    log_requests: bool = Field(False, description="Write a line for every proxied request that ended.")
    otel_endpoint: str | None = Field(
        None, description="OTLP/HTTP collector for traces; unset: the one of OTEL_EXPORTER_OTLP_ENDPOINT, else none."
    )
    secret_key: SecretStr | None = Field(
        None, description="Key of the sealed store, instead of the key file in the data folder."
    )
    run_timeout: float = Field(1800.0, gt=0, description="A run's deadline while nothing streams yet.")
    connect_timeout: float = Field(5.0, gt=0, description="Longest wait for a connection to an upstream.")
    first_byte_timeout: float = Field(600.0, gt=0, description="Longest wait for an upstream's first byte.")
    idle_timeout: float = Field(120.0, gt=0, description="Longest silence inside an upstream's answer.")
    body_timeout: float = Field(30.0, gt=0, description="Longest silence while a caller's request body arrives.")
    write_timeout: float = Field(120.0, gt=0, description="Longest time a caller may leave an answer unread.")
    heartbeat: float = Field(15.0, gt=0, description="Silence after which an open stream gets a keep-alive.")
    max_body: int = Field(32 * MIB, gt=0, description="Largest request body.")
    max_upload: int = Field(512 * MIB, gt=0, description="Largest form with files, which is passed on while it comes.")
    max_reply: int = Field(32 * MIB, gt=0, description="Largest answer that is not streamed.")
    max_stream: int = Field(128 * MIB, gt=0, description="Largest streamed answer that is understood.")
    max_event: int = Field(16 * MIB, gt=0, description="Largest single event of a stream.")
    max_in_flight: int = Field(1000, gt=0, description="Most proxied requests at once; beyond it 503.")
    max_bodies: int = Field(
        256 * MIB, gt=0, description="Most memory for the bodies of all requests and answers under way; beyond it 503."
    )
    max_per_origin: int = Field(100, gt=0, description="Most calls at once to one upstream; further ones wait their turn.")
    max_queued_per_origin: int = Field(
        1000, ge=0, description="Most calls that wait for their turn at one upstream; beyond it 503."
    )
    queue_timeout: float = Field(
        30.0, gt=0, description="How long a call waits for its turn at one upstream before it is refused."
    )
    workers: int = Field(1, ge=1, le=256, description="How many processes `agentui serve` starts.")
    stop_timeout: float = Field(
        30.0, ge=0, description="How long a server that stops lets requests under way go on before it cuts them."
    )
    generation_queue: float = Field(
        0.0, ge=0, description="How long a turn waits while its branch generates another; 0 answers 409 at once."
    )
    turn_matching: bool = Field(
        True, description="Whether the history that a client sends tells where its turn belongs; else each is a new floor."
    )
    commit_timeout: float = Field(
        30.0, ge=0, description="How long an answer that is there is tried to be kept while the memory is locked or away."
    )
    generation_lease: float = Field(
        30.0,
        gt=0,
        description="How long a branch stays locked when the machine of a process that shared the database vanishes.",
    )
    mcp_programs: bool = Field(
        False, description="Whether callers of the API may configure MCP servers that are programs, which are started here."
    )
    chat_preset: str = Field(
        "openai", description="The preset that answers chats whose session names no model_provider; empty: none."
    )
    verifier_pipeline: str = Field("", description="The pipeline that checks answers of chats that ask for it; empty: none.")
    director_pipeline: str = Field("", description="The pipeline that directs turns of chats that ask for it; empty: none.")
    memory: Literal["off", "sync", "async"] = Field(
        "off",
        description="Whether turns write memories: not, with their commit, or by jobs behind them; a session may differ.",
    )
    memory_consolidation: bool | None = Field(
        None, description="Whether a model says what a turn taught where its request does not say; unset: in async."
    )
    memory_pipeline: str = Field(
        "", description="The pipeline that writes memories; empty: the model of the slot memory, else the session's."
    )
    memory_behind: int = Field(
        2, ge=0, le=100, description="How many floors stay unread between the head of a branch and what is remembered of it."
    )
    memory_wait: float = Field(
        600.0, ge=0, description="After which time a floor is read for memories though no more floors came behind it."
    )
    memory_approval: bool = Field(False, description="Whether what a model proposes as memories waits for a person's word.")
    memory_compaction: bool = Field(True, description="Whether many small summaries of a branch become a large one.")
    memory_place: Literal["chat", "system"] = Field(
        "chat", description="Where prompts have recalled memories: within the chat, or behind the first system text."
    )
    memory_depth: int = Field(
        4, ge=0, le=1000, description="How many messages of the chat stand behind recalled memories within it."
    )
    memory_form: Literal["flat", "dual"] = Field(
        "flat", description="Whether memories are one list in a prompt, or a section for each kind."
    )
    memory_budget: int = Field(500, ge=0, le=100_000, description="How many tokens of a prompt memories may take.")
    memory_summary_days: int = Field(
        0, ge=0, description="After how many days small summaries that no turn used are deprecated; 0: never."
    )
    memory_open_loop_days: int = Field(
        0, ge=0, description="After how many days open loops that no turn used are deprecated; 0: never."
    )
    memory_purge_days: int = Field(0, ge=0, description="After how many days deprecated memories are removed; 0: never.")
    idempotency_age: float = Field(
        86_400.0, gt=0, description="How long the answer to a request with an Idempotency-Key is kept."
    )
    idempotency_bytes: int = Field(256 * MIB, ge=0, description="How much of such answers is kept in all, compressed.")
    operation_log: int = Field(
        100_000, ge=0, description="How many entries of each account's operation log are kept; 0: nothing is logged."
    )
    operation_log_turns: bool = Field(
        False, description="Whether each turn that is committed stands in the operation log, too."
    )
    own_pipelines: bool = Field(
        True,
        description="Whether accounts may have pipelines, provider presets and keys of their own, without the right to edit.",
    )
    vendor_objects: int = Field(
        100_000,
        gt=0,
        description="How many things that vendors keep under keys of the server are remembered for each account.",
    )
    import_file: int = Field(16 * MIB, gt=0, description="Largest file that is imported.")
    import_text: int = Field(MIB, gt=0, description="Largest single text in a file that is imported.")
    import_unpacked: int = Field(32 * MIB, gt=0, description="How much an archive that is imported may unpack to.")
    import_members: int = Field(1000, gt=0, description="Most files in an archive that is imported.")
    import_pixels: int = Field(50_000_000, gt=0, description="Most pixels of a picture that is imported.")
    import_messages: int = Field(50_000, gt=0, description="Most messages of a chat that is imported.")
    run_history: int = Field(200, ge=0, description="How many finished runs are kept in memory for the editor.")
    run_history_bytes: int = Field(64 * MIB, ge=0, description="How much memory the kept runs may hold in all.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given and the environment; files of either kind are not looked for."""
        return init_settings, env_settings

    @field_validator(
        "allowed_hosts",
        "auth_jwt_algorithms",
        "cors_origins",
        "oidc_admin_groups",
        "oidc_algorithms",
        "oidc_email_domains",
        "oidc_groups",
        "oidc_scopes",
        "sign_in_ways",
        "trusted_proxies",
        mode="before",
    )
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for each in value:
            try:
                ip_network(each)
            except ValueError:
                raise ValueError(f"{each!r:.60} is neither an address nor a network like 10.0.0.0/8") from None
        return value

    @field_validator("otel_endpoint")
    @classmethod
    def _collector(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            parts = urlsplit(value)
        except ValueError:
            parts = None
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("a collector's address begins with http:// or https:// and names a host")
        if parts.username is not None or parts.query:
            # It is shown among the settings; the SDK has a place for keys.
            raise ValueError("a collector's address holds no user and no query: put keys into OTEL_EXPORTER_OTLP_HEADERS")
        return value

    @property
    def own_token(self) -> str | None:
        """The access token in clear."""
        return self.token.get_secret_value() if self.token is not None else None

    @field_validator("token")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < MIN_TOKEN:
            raise ValueError(f"an access token needs at least {MIN_TOKEN} characters")
        return value

    @model_validator(mode="after")
    def _token_beyond_loopback(self) -> "Settings":
        if not self.is_loopback and self.token is None and self.auth_mode == "off" and not self.insecure:
            raise ValueError(
                f"listening on {self.host} lets other machines in: set AGENTUI_TOKEN or AGENTUI_AUTH_MODE, or say --insecure "
                "if that is meant"
            )
        return self

    @field_validator("auth_api_key_accounts")
    @classmethod
    def _names_accounts(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not all(key and account for key, account in _pairs(value)):
            raise ValueError("each part is a key and an account with a colon between them: key:account,key:account")
        return value

    @field_validator("auth_jwt_secret")
    @classmethod
    def _no_guess(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value().encode()) < MIN_JWT_SECRET:
            # RFC 7518, 3.2: a shorter one is found by trying, offline.
            raise ValueError(f"the secret of tokens needs at least {MIN_JWT_SECRET} characters")
        return value

    @field_validator("auth_jwt_algorithms")
    @classmethod
    def _signs(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in JWT_ALGORITHMS:
                raise ValueError(f"{name!r:.40} is no algorithm for tokens, of which there are {', '.join(JWT_ALGORITHMS)}")
        return value

    @field_validator("public_url")
    @classmethod
    def _is_origin(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = safe_address(value, "the public address")
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError("the public address ends with its host or port: the page is at /ui/ below it")
        # As browsers spell an origin, which they leave the scheme's own port out of.
        usual = {"https": 443, "http": 80}[parts.scheme]
        host = (parts.hostname or "").lower()
        named = f"[{host}]" if ":" in host else host
        return f"{parts.scheme}://{named}" + ("" if parts.port in (None, usual) else f":{parts.port}")

    @field_validator("oidc_issuer")
    @classmethod
    def _is_issuer(cls, value: str | None) -> str | None:
        found = safe_address(value, "an issuer") if value is not None else None
        if found is not None and (found.query or found.fragment):
            raise ValueError("an issuer has no query and no fragment (OpenID Connect Discovery 1.0, 3)")
        return value

    @field_validator("oidc_algorithms")
    @classmethod
    def _signs_in_public(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        usable = [name for name in JWT_ALGORITHMS if not name.startswith("HS")]
        for name in value:
            if name not in usable:
                raise ValueError(f"{name!r:.40} is no algorithm with a public key, of which there are {', '.join(usable)}")
        return value

    @field_validator("sign_in_ways")
    @classmethod
    def _are_ways(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in SIGN_IN_WAYS:
                raise ValueError(f"{name!r:.40} is no way to sign in, of which there are {', '.join(SIGN_IN_WAYS)}")
        return value

    @model_validator(mode="after")
    def _can_sign_in(self) -> "Settings":
        wanted = {"password": True, "passkey": self.public_url is not None, "oidc": self.oidc_issuer is not None}
        for name in self.sign_in_ways:
            if not wanted[name]:
                needed = "AGENTUI_OIDC_ISSUER" if name == "oidc" else "AGENTUI_PUBLIC_URL"
                raise ValueError(f"to sign in by {name} needs {needed}")
        if self.oidc_issuer is not None:
            if self.oidc_client_id is None or self.public_url is None:
                raise ValueError("AGENTUI_OIDC_ISSUER needs AGENTUI_OIDC_CLIENT_ID and AGENTUI_PUBLIC_URL")
            if self.oidc_scopes and "openid" not in self.oidc_scopes:
                raise ValueError("AGENTUI_OIDC_SCOPES has to have openid, or the provider says nothing of who has signed in")
            if self.oidc_create_accounts and self.account_mode != "multi":
                raise ValueError("AGENTUI_OIDC_CREATE_ACCOUNTS needs AGENTUI_ACCOUNT_MODE=multi")
        return self

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways by which people sign in to the page; none where nobody does."""
        if self.auth_mode == "off":
            return ()
        possible = {"password": True, "passkey": self.public_url is not None, "oidc": self.oidc_issuer is not None}
        return tuple(name for name in SIGN_IN_WAYS if possible[name] and (not self.sign_in_ways or name in self.sign_in_ways))

    @cached_property
    def own_hosts(self) -> tuple[str, ...]:
        """Further names that this server is called by: those that are allowed, and that of its public address."""
        public = urlsplit(self.public_url).hostname if self.public_url is not None else None
        return self.allowed_hosts if public is None else (*self.allowed_hosts, public)

    @model_validator(mode="after")
    def _can_be_entered(self) -> "Settings":
        if any(len(key) < MIN_TOKEN for key in self.api_keys):
            raise ValueError(
                f"each key of AGENTUI_AUTH_API_KEYS and AGENTUI_AUTH_API_KEY_ACCOUNTS needs {MIN_TOKEN} characters"
            )
        self._check_told_apart()
        is_multi = self.account_mode == "multi"
        if is_multi and self.auth_mode == "off":
            raise ValueError("AGENTUI_ACCOUNT_MODE=multi needs AGENTUI_AUTH_MODE=api_key or jwt")
        if is_multi and self.workers > 1 and self.database_url is None:
            raise ValueError("AGENTUI_ACCOUNT_MODE=multi with several workers needs AGENTUI_DATABASE_URL, where accounts are")
        if self.auth_mode == "api_key" and self.token is None:
            if is_multi and self.auth_api_key_accounts is None:
                raise ValueError("AGENTUI_AUTH_MODE=api_key with accounts needs AGENTUI_AUTH_API_KEY_ACCOUNTS or AGENTUI_TOKEN")
            if not self.api_keys:
                raise ValueError("AGENTUI_AUTH_MODE=api_key needs AGENTUI_AUTH_API_KEYS or AGENTUI_TOKEN")
        if self.auth_mode == "jwt":
            if self.auth_jwt_secret is None and self.auth_jwt_jwks is None:
                raise ValueError("AGENTUI_AUTH_MODE=jwt needs AGENTUI_AUTH_JWT_SECRET or AGENTUI_AUTH_JWT_JWKS")
            if self.auth_jwt_jwks is not None and not self.auth_jwt_algorithms:
                raise ValueError("AGENTUI_AUTH_JWT_JWKS needs AGENTUI_AUTH_JWT_ALGORITHMS, such as RS256 or ES256")
        return self

    def _check_told_apart(self) -> None:
        """Raise ValueError where one key would mean two things: who has it would come in as somebody else, or not at all."""
        given = [key.strip() for key in (self.auth_api_keys.get_secret_value().split(",") if self.auth_api_keys else ())]
        given += [key for key, _ in (_pairs(self.auth_api_key_accounts) if self.auth_api_key_accounts else ())]
        keys = [key for key in given if key]
        if len(set(keys)) < len(keys):
            raise ValueError("a key stands twice in AGENTUI_AUTH_API_KEYS and AGENTUI_AUTH_API_KEY_ACCOUNTS: give each its own")
        if self.own_token is not None and self.own_token in keys:
            raise ValueError("AGENTUI_TOKEN is one of the keys of accounts, whose owner would be an admin: choose another")
        if any(key.startswith(KEY_PREFIX) for key in (*keys, self.own_token or "")):
            raise ValueError(f"keys that begin with {KEY_PREFIX} are made by the server: choose another for the operator's own")

    @model_validator(mode="after")
    def _can_count(self) -> "Settings":
        if self.usage and self.workers > 1 and self.database_url is None:
            raise ValueError("AGENTUI_USAGE with several workers needs AGENTUI_DATABASE_URL, where the ledger is")
        return self

    @property
    def keeps_usage(self) -> bool:
        """Whether every call to a model is written into the ledger."""
        if self.usage is None:
            return self.auth_mode != "off" and (self.workers == 1 or self.database_url is not None)
        return self.usage

    @property
    def api_keys(self) -> Mapping[str, str | None]:
        """The keys of the mode api_key, each with its account, or None where it names none."""
        bare = self.auth_api_keys.get_secret_value().split(",") if self.auth_api_keys is not None else ()
        named = _pairs(self.auth_api_key_accounts) if self.auth_api_key_accounts is not None else ()
        return {**{key.strip(): None for key in bare if key.strip()}, **dict(named)}

    @property
    def is_loopback(self) -> bool:
        """True when only this computer can connect."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def has_collector(self) -> bool:
        """True when traces have somewhere to go: by our own variable, or by OpenTelemetry's."""
        if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
            return False
        if self.otel_endpoint is not None:
            return True
        return any(os.environ.get(f"OTEL_EXPORTER_OTLP_{name}ENDPOINT") for name in ("", "TRACES_"))

    @property
    def may_call_private(self) -> bool:
        """Whether upstreams on private addresses are allowed."""
        return self.is_loopback if self.allow_private is None else self.allow_private


def safe_address(value: str, what: str) -> SplitResult:
    """The parts of an address that people's codes and passkeys may go to: over https, or to this very computer. Raises
    ValueError that says so of ``what`` the address is."""
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(f"{what} is no address") from None
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not host or parts.username is not None or not (parts.scheme == "https" or (parts.scheme == "http" and is_here)):
        raise ValueError(f"{what} begins with https:// (http:// only on this computer) and names a host, without a user")
    return parts


def _pairs(value: SecretStr) -> list[tuple[str, str]]:
    """Keys with their accounts; a key may hold colons, an account may not."""
    parts = (part.strip() for part in value.get_secret_value().split(",") if part.strip())
    return [(key.strip(), account.strip()) for key, _, account in (part.rpartition(":") for part in parts)]


def proxy_environment() -> Mapping[str, str]:
    """The part of the environment that names proxies for every program (``HTTPS_PROXY`` and its kin)."""
    names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
    return {name: value for name, value in os.environ.items() if name in names or name in map(str.lower, names)}


def misspelt_environment() -> Mapping[str, str]:
    """Variables that are no settings and nearly are, and the setting that each is like."""
    settings = [name.upper() for name in Settings.model_fields]
    found = {}
    for variable in os.environ:
        name = variable.upper().removeprefix("AGENTUI_")
        if name in settings or name.startswith("SECRET_") or not variable.upper().startswith("AGENTUI_"):
            continue
        for setting in get_close_matches(name, settings, n=1, cutoff=0.75):
            found[variable] = f"AGENTUI_{setting}"
    return found


def secret_environment() -> Mapping[str, str]:
    """The part of the environment that holds provider keys (``AGENTUI_SECRET_*``)."""
    return {name: value for name, value in os.environ.items() if name.startswith("AGENTUI_SECRET_")}
