"""A server that nobody could enter, or everybody, does not start."""

import subprocess
import sys

import pytest
from pydantic import ValidationError

from agentui.settings import Settings

KEYS = "alice-static-key:alice,key:with:colons:bob"
LONG = "x" * 32
HOME, ISSUER = "https://agents.example", "https://id.example/realms/house"


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"account_mode": "multi"}, "AGENTUI_AUTH_MODE"),
        ({"auth_mode": "api_key"}, "AGENTUI_AUTH_API_KEYS"),
        ({"auth_mode": "api_key", "account_mode": "multi"}, "AGENTUI_AUTH_API_KEY_ACCOUNTS"),
        ({"auth_mode": "api_key", "account_mode": "multi", "auth_api_keys": "no-account-key"}, "AGENTUI_AUTH_API_KEY_ACCOUNTS"),
        ({"auth_mode": "api_key", "auth_api_keys": "short"}, "8 characters"),
        ({"auth_mode": "api_key", "auth_api_key_accounts": "key-without-account"}, "key:account"),
        ({"auth_mode": "api_key", "auth_api_key_accounts": "same-key-0:alice,same-key-0:bob"}, "twice"),
        ({"auth_mode": "api_key", "auth_api_key_accounts": "same-key-0:alice", "auth_api_keys": "same-key-0"}, "twice"),
        ({"auth_mode": "api_key", "auth_api_key_accounts": "same-key-0:alice", "token": "same-key-0"}, "AGENTUI_TOKEN"),
        ({"auth_mode": "api_key", "auth_api_key_accounts": "tvk_live_0:alice"}, "tvk_live_"),
        ({"token": "tvk_live_0123456"}, "tvk_live_"),
        ({"auth_mode": "jwt"}, "AGENTUI_AUTH_JWT_SECRET"),
        ({"auth_mode": "jwt", "auth_jwt_secret": "x" * 31}, "32"),
        ({"auth_mode": "jwt", "auth_jwt_jwks": "keys.json"}, "AGENTUI_AUTH_JWT_ALGORITHMS"),
        ({"auth_mode": "jwt", "auth_jwt_secret": LONG, "auth_jwt_algorithms": "none"}, "none"),
        ({"auth_mode": "jwt", "auth_jwt_secret": LONG, "auth_jwt_algorithms": "HS256,dir"}, "dir"),
        ({"auth_mode": "jwt", "auth_jwt_secret": LONG, "account_mode": "multi", "workers": 2}, "AGENTUI_DATABASE_URL"),
        ({"host": "0.0.0.0"}, "AGENTUI_AUTH_MODE"),
        ({"public_url": "http://agents.example"}, "https://"),
        ({"public_url": "https://agents.example/ui/"}, "ends with its host"),
        ({"public_url": "https://me@agents.example"}, "without a user"),
        ({"public_url": "https://agents.example:port"}, "is no address"),
        ({"sign_in_ways": "password,magic"}, "magic"),
        ({"sign_in_ways": "passkey"}, "AGENTUI_PUBLIC_URL"),
        ({"sign_in_ways": "oidc"}, "AGENTUI_OIDC_ISSUER"),
        ({"oidc_issuer": ISSUER, "public_url": HOME}, "AGENTUI_OIDC_CLIENT_ID"),
        ({"oidc_issuer": ISSUER, "oidc_client_id": "x"}, "AGENTUI_PUBLIC_URL"),
        ({"oidc_issuer": "http://id.example"}, "https://"),
        ({"oidc_issuer": f"{ISSUER}?x=1"}, "no query"),
        ({"oidc_algorithms": "HS256"}, "no algorithm with a public key"),
        ({"oidc_algorithms": "none"}, "no algorithm with a public key"),
        ({"oidc_issuer": ISSUER, "oidc_client_id": "x", "public_url": HOME, "oidc_scopes": "email"}, "openid"),
        ({"oidc_issuer": ISSUER, "oidc_client_id": "x", "public_url": HOME, "oidc_create_accounts": True}, "multi"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, object], word: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings(**given)  # type: ignore[arg-type]
    assert word in str(refused.value)
    assert LONG not in str(refused.value)


def test_what_fits_is_taken() -> None:
    given = {"auth_api_key_accounts": KEYS, "auth_api_keys": " another-key , ", "host": "0.0.0.0"}
    settings = Settings(auth_mode="api_key", account_mode="multi", **given)  # type: ignore[arg-type]
    assert settings.api_keys == {"another-key": None, "alice-static-key": "alice", "key:with:colons": "bob"}
    assert "alice-static-key" not in repr(settings)
    Settings(auth_mode="jwt", auth_jwt_secret=LONG, account_mode="multi")  # type: ignore[arg-type]
    Settings(auth_mode="api_key", account_mode="multi", token="a-long-token")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://Agents.Example/", HOME),
        ("https://agents.example:443", HOME),
        ("https://agents.example:8443", f"{HOME}:8443"),
        ("http://localhost:7860/", "http://localhost:7860"),
        ("http://[::1]:7860", "http://[::1]:7860"),
    ],
)
def test_a_public_address_is_kept_as_browsers_spell_an_origin(given: str, origin: str) -> None:
    settings = Settings(public_url=given, auth_mode="api_key", token="a-long-token")  # type: ignore[arg-type]
    assert (settings.public_url, settings.ways) == (origin, ("password", "passkey"))
    assert Settings(public_url=given).ways == ()


def test_libraries_of_ways_that_nobody_has_used_are_not_imported() -> None:
    """They take 40 MB, which a server in which nobody signs in so shall not hold."""
    script = (
        "import sys; from agentui.serving.application import create_app; from agentui.settings import Settings; "
        f"create_app(Settings(auth_mode='api_key', token='{LONG}', public_url='{HOME}', oidc_issuer='{ISSUER}', "
        "oidc_client_id='x')); print([name for name in ('authlib', 'webauthn', 'joserfc', 'argon2') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stderr
