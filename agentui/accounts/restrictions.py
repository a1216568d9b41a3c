"""What a client key is kept to: how its restrictions are kept, and the errors of whoever asks for more.

A refusal says which restriction of which key it was and who can change it. It says nothing of what is allowed: whoever has
found a key learns no addresses from it, and no names of pipelines.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network
from typing import Any, Final, Literal, TypeAlias

from agentui.accounts.codes import failure
from agentui.accounts.records import KeyRestrictions
from agentui.errors import ApiError
from agentui.jsonio import Json, dumps_text, loads
from agentui.principal import Principal, Restrictions, RouteFamily

Kind: TypeAlias = Literal["pipelines", "models", "routes", "addresses"]
_MAPPED: Final = 96
"""Bits before the IPv4 address in an IPv6 one that stands for it (RFC 4291, 2.5.5.2)."""


def network_of(text: str) -> str:
    """An address or a network as restrictions keep it: without the bits of hosts, and IPv4 within IPv6 as IPv4. Raises
    ValueError."""
    network = ip_network(text.strip(), strict=False)
    if isinstance(network, IPv6Network) and network.prefixlen >= _MAPPED:
        inner = network.network_address.ipv4_mapped
        if inner is not None:
            return str(ip_network((inner, network.prefixlen - _MAPPED), strict=False))
    return str(network)


@lru_cache(maxsize=1000)  # a key in use is read anew every second, and few have restrictions
def restrictions_of(text: str | None) -> Restrictions | None:
    """Restrictions as a key's row has them; None where it has none."""
    shown = shown_restrictions(text)
    if shown is None:
        return None
    networks = None if shown.addresses is None else tuple(ip_network(each) for each in shown.addresses)
    return Restrictions(shown.pipelines, shown.models, shown.routes, networks, admin=shown.admin)


def text_of(given: Mapping[str, Json] | None) -> str | None:
    """Restrictions as a key's row has them; None for those that keep nobody from anything."""
    kept = KeyRestrictions(**(given or {}))
    return None if kept == KeyRestrictions() else dumps_text(asdict(kept))


def shown_restrictions(text: str | None) -> KeyRestrictions | None:
    """Restrictions as the API shows them."""
    if text is None:
        return None
    kept: dict[str, Any] = loads(text.encode())
    return KeyRestrictions(**kept)


def check_route(principal: Principal, family: RouteFamily) -> None:
    """Raise 403 where the caller's key is kept from routes of this family."""
    if principal.restrictions is not None and not principal.restrictions.allows_route(family):
        raise _refused(principal, "routes", f"may not ask routes of the family {family!r}")


def check_address(principal: Principal, address: IPv4Address | IPv6Address | None) -> None:
    """Raise 403 where the caller's key may not be used from this address; None is what another worker of this server let in."""
    restrictions = principal.restrictions
    if restrictions is not None and address is not None and not restrictions.allows_address(address):
        raise _refused(principal, "addresses", f"may not be used from {address}")


def check_pipeline(principal: Principal, id: str, *, is_named: bool = True) -> None:
    """Raise 403 where the caller's key may not use this pipeline: the same error whether there is one or not. One that was not
    named, but answers who names none, is not told."""
    if principal.restrictions is not None and not principal.restrictions.allows_pipeline(id):
        what = f"may not use the pipeline {id[:100]!r}" if is_named else "may not use the pipeline that would answer: name one"
        raise _refused(principal, "pipelines", what)


def check_models(principal: Principal, names: Iterable[str]) -> None:
    """Raise 403 where the caller names a model that its key may not use."""
    if principal.restrictions is None:
        return
    for name in names:
        if not principal.restrictions.allows_model(name):
            raise _refused(principal, "models", f"may not use the model {name[:100]!r}")


def check_editing(principal: Principal) -> None:
    """Raise 403 where the caller's key is kept to some pipelines or models, and so writes none of its account's own either: one
    that is written calls whatever it likes."""
    if principal.restrictions is not None and not principal.restrictions.may_edit:
        kind: Kind = "pipelines" if principal.restrictions.pipelines is not None else "models"
        raise _refused(principal, kind, "changes no pipelines and presets, and tries none that are not saved")


def unread_model(principal: Principal) -> ApiError:
    """The error for a request whose model stands where this server does not look, or is the vendor's choice."""
    return _refused(principal, "models", "is kept to some models, and this request does not say which one it asks")


def _refused(principal: Principal, kind: Kind, what: str) -> ApiError:
    text = f"The client key {principal.key} {what}. Whose key it is can change its {kind}: in My keys, or by PATCH of the key."
    error = failure("client_api_key_restricted", text, key=principal.key, restriction=kind)
    error.is_permanent = True
    return error
