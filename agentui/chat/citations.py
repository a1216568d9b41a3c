"""Pages of the web that an answer cites, whichever vendor searched for them."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Citation:
    """A page, and what of the answer rests on it: the characters from ``start`` to before ``end`` of all that the choice says
    (None where the vendor does not tell). ``quote`` is what the page itself says, where that is told."""

    url: str
    title: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None


def byte_places(text: str, places: Iterable[int]) -> dict[int, int]:
    """For places in characters of ``text`` those in bytes of its UTF-8. Looks at the text once."""
    found: dict[int, int] = {}
    at = count = 0
    for place in sorted(set(places)):
        count += len(text[at:place].encode("utf-8", "surrogatepass"))
        at, found[place] = place, count
    return found


def character_places(text: str, places: Iterable[int]) -> dict[int, int]:
    """For places in bytes of the UTF-8 of ``text`` those in characters; one within a character is where that begins. Looks at
    the text once."""
    data = text.encode("utf-8", "surrogatepass")
    found: dict[int, int] = {}
    at = count = 0
    for place in sorted(set(places)):
        begins = min(place, len(data))
        while at < begins < len(data) and data[begins] & 0xC0 == 0x80:  # a byte that goes on with a character
            begins -= 1
        count += len(data[at:begins].decode("utf-8", "surrogatepass"))
        at, found[place] = begins, count
    return found
