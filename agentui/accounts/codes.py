"""The error codes of accounts, clients and sign-in (TavernHeadless' contract, parts 5.1, 5.3, 5.4), and of our own routes."""

from agentui.errors import ApiError, Code
from agentui.jsonio import Json

CODES: dict[str, Code] = {
    "account_conflict": Code(409, "Another account has this id."),
    "account_forbidden": Code(403, "Only an admin may do this, or who may edit pipelines and presets."),
    "account_has_resources": Code(409, "Things are stored for the account; details count them by kind."),
    "account_mode_restricted": Code(409, "This server has one account only (AGENTUI_ACCOUNT_MODE=single)."),
    "account_not_found": Code(404, "There is no such account."),
    "account_protected": Code(409, "The default account stays an active admin."),
    "auth_account_disabled": Code(403, "The account is disabled."),
    "auth_account_not_found": Code(401, "The account that the key or the token names does not exist."),
    "auth_account_unresolved": Code(403, "The key or the token names no account."),
    "auth_invalid_credentials": Code(403, "The server knows no such key."),
    "auth_invalid_token": Code(403, "The token is damaged, unsigned, signed by somebody else, not valid yet, or expired."),
    "auth_required": Code(401, "The request carries no key, no token, and no sign-in."),
    "client_api_key_expires_at_invalid": Code(400, "A key expires in the future, or never."),
    "client_api_key_invalid": Code(
        401, "The client's key is unknown, revoked or expired, or its client or account is disabled."
    ),
    "client_api_key_not_found": Code(404, "The client has no such key."),
    "client_api_key_restricted": Code(403, "The client's key may not be used for this; details name its restriction."),
    "client_api_key_revoked": Code(409, "A revoked key has no successor: make a new one."),
    "client_default_disable_not_supported": Code(409, "An account's default client is always there."),
    "client_disabled": Code(409, "A disabled client gets no keys."),
    "client_kind_invalid": Code(400, "There is no such kind of client."),
    "client_management_actor_invalid": Code(403, "Clients and their keys are not managed with a client's key."),
    "client_metadata_invalid": Code(400, "A client's metadata are an object."),
    "client_metadata_too_large": Code(413, "A client's metadata are larger than 16 KiB."),
    "client_name_required": Code(400, "A client's name has 1 to 120 characters."),
    "client_not_found": Code(404, "The account has no such client."),
    "identity_conflict": Code(409, "The person or the address is linked to an account already, or the account to too many."),
    "identity_not_found": Code(404, "The account has no such linked sign-on."),
    "invalid_cursor": Code(400, "The cursor is none that this list has given out."),
    "passkey_conflict": Code(409, "The passkey is kept here already."),
    "passkey_invalid": Code(400, "This is no valid answer of an authenticator that was asked to make a passkey."),
    "passkey_not_found": Code(404, "The account has no such passkey."),
    "password_wrong": Code(403, "The current password is another one."),
    "purge_exists": Code(409, "The account is to be removed with all that it has already."),
    "purge_not_found": Code(404, "The account is not to be removed."),
    "purge_under_way": Code(409, "The removal has begun and cannot be taken back."),
    "sign_in_elsewhere": Code(409, "The page was opened at another address than the one that people sign in at."),
    "sign_in_expired": Code(409, "What was begun is over, was finished before, or was begun in another browser."),
    "sign_in_failed": Code(401, "The account or the password is wrong, or the passkey is."),
    "sign_in_last_way": Code(409, "It is the only way by which the account signs in."),
    "sign_in_not_allowed": Code(403, "Who the identity provider let in has no account here, or may have none."),
    "sign_in_not_found": Code(404, "The account is not signed in there."),
    "sign_in_off": Code(409, "On this server nobody signs in (AGENTUI_AUTH_MODE=off)."),
    "sign_in_provider_failed": Code(502, "The identity provider cannot be asked, or says something that is not right."),
    "sign_in_refused": Code(403, "The identity provider let nobody in."),
    "sign_in_way_unknown": Code(400, "There is no such way to sign in."),
    "too_many_clients": Code(409, "The account has as many clients, or the client as many keys, as it may have."),
    "too_many_passkeys": Code(409, "The account has as many passkeys as it may have."),
}


class Wrong(ApiError):
    """What was shown is nothing that this server, or whoever makes its tokens, gave out: it counts as a guess."""


def wrong(code: str, message: str) -> Wrong:
    """The error of a code that counts as a guess."""
    return Wrong(message, status=CODES[code].status, code=code)


def failure(code: str, message: str, **details: Json) -> ApiError:
    """The error of a code, to be raised with facts as details."""
    return ApiError(message, status=CODES[code].status, code=code, **details)
