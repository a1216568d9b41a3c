"""Where a call goes: a checked URL, taken apart once."""

from dataclasses import dataclass
from typing import NamedTuple

from yarl import URL


class Place(NamedTuple):
    """What a connection leads to: the scheme's TLS or none, the host as written (names in ASCII) and the port."""

    is_tls: bool
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Target:
    """One URL that may be called. ``host`` is how errors name it; ``lines`` continue a request after its method."""

    url: URL
    place: Place
    host: str
    lines: str

    @classmethod
    def of(cls, url: URL) -> "Target":
        """The target that an absolute http or https URL is."""
        host = host_of(url)
        place = Place(url.scheme == "https", url.raw_host or "", url.port or 0)
        return cls(url, place, host, f" {url.raw_path_qs} HTTP/1.1\r\nHost: {host}\r\n")


def host_of(url: URL) -> str:
    """The host as errors name it, with its port where that is not the scheme's own; never a path, query or user."""
    return url.host_port_subcomponent or url.raw_host or ""
