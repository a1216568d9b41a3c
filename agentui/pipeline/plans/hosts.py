"""Where the nodes of a pipeline's document would send keys."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from agentui.errors import AgentUIError
from agentui.jsonio import Json
from agentui.pipeline.node import Catalog
from agentui.pipeline.run import Services
from agentui.redaction import mask_url
from agentui.upstream.http.proxy import Proxy
from agentui.upstream.proxies import DIRECT

_FIXED_HOST = re.compile(r"https?://[^/?#\[{]+(?=[/?#])|https?://\[[0-9a-fA-F:.]+\](?::[0-9]+)?(?=[/?#])")
"""An address's beginning in which no macro stands."""
CALLERS_OWN = "the caller's own provider"


def hosts_of(document: Mapping[str, Json], catalog: Catalog, services: Services) -> list[str]:
    """Where the nodes of a document would send keys (spec: reliability T25), sorted. Broken documents are read as far as
    they go, because people want to know this before anything else."""
    nodes = document.get("nodes")
    hosts: set[str] = set()
    for node in nodes if isinstance(nodes, list) else ():
        kind = node.get("type") if isinstance(node, dict) else None
        if not isinstance(kind, str) or kind not in catalog or not catalog[kind].calls_upstream:
            continue
        if not catalog[kind].address_field:  # it calls another pipeline, which tells its own
            continue
        config = node.get("config")
        config = config if isinstance(config, dict) else {}
        for place in _places(config, services):
            hosts.add(_host(place, services, catalog[kind].address_field))
            hosts |= _proxy_host(place)
    return sorted(hosts)


def _places(config: Mapping[str, Json], services: Services) -> Iterator[Mapping[str, Json]]:
    """Where a node calls: what its configuration says, and each of its targets that says more."""
    yield config
    rows = config.get("targets")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            yield _place_of(row, config, services)


def _place_of(row: Mapping[str, Json], config: Mapping[str, Json], services: Services) -> Mapping[str, Json]:
    """The fields of a target that say where it calls: its own, then its preset's, then the node's."""
    written = {name: row.get(name) for name in ("provider", "base_url", "proxy") if row.get(name) not in (None, "", "node")}
    preset = row.get("preset")
    if isinstance(preset, str) and preset.strip():
        try:
            known = services.preset(preset.strip())
        except AgentUIError:
            return {"base_url": f"preset {preset.strip()[:200]}", **written}
        return {"provider": known.provider, "base_url": known.base_url, "proxy": known.proxy, **written}
    return {**({} if "provider" in written else config), **written}


def _proxy_host(config: Mapping[str, Json]) -> set[str]:
    """The host and port of a node's own proxy, which sees what is not under TLS; its text where that holds macros."""
    text = config.get("proxy")
    if not isinstance(text, str) or text.strip() in ("", DIRECT):
        return set()
    try:
        return {Proxy.parse(text).name}
    except ValueError:
        return {mask_url(text)} if "[[" in text or "{{" in text else set()


def _host(config: Mapping[str, Json], services: Services, field: str) -> str:
    """The host of one node's address; the provider's own where it is empty."""
    base = config.get(field)
    base = base.strip() if isinstance(base, str) else ""
    if not base:
        vendor = next((services.vendors[name] for name in services.vendors if name == config.get("provider")), None)
        if vendor is None:
            return CALLERS_OWN
        base = vendor.default_base_url
    if "[[" in base or "{{" in base:
        fixed = _FIXED_HOST.match(base)
        if fixed is None:
            return base
        base = fixed[0]
    try:
        parts = urlsplit(services.upstream.resolve(base))
        port = f":{parts.port}" if parts.port else ""
    except (AgentUIError, ValueError):
        return base
    if not parts.hostname:
        return base
    return f"[{parts.hostname}]{port}" if ":" in parts.hostname else f"{parts.hostname}{port}"
