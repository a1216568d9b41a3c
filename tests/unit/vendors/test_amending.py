"""What a refusal's words leave out of a request."""

import pytest

from agentui.chat.request import WireRequest
from agentui.errors import UpstreamRefused
from agentui.jsonio import Json
from agentui.vendors.amending import amended

NAMES = ("temperature", "top_p", "verbosity", "seed", "store", "min_p")


def left_out(words: str, body: dict[str, Json]) -> tuple[str, ...] | None:
    """The names of what is left out; None where the refusal is the caller's to hear."""
    wire = WireRequest("openai", "chat", "some-model", False, "/v1/chat/completions", {"messages": [], **body})
    changed = amended(wire, UpstreamRefused(words, status=400, kind="invalid_request", vendor="openai"), is_own=False)
    return None if changed is None else changed.dropped


@pytest.mark.parametrize("shift", range(len(NAMES)))
def test_of_several_names_the_first_is_left_out_in_every_process(shift: int) -> None:
    told = [*NAMES[shift:], *NAMES[:shift]]
    words = f"{', '.join(f'`{name}`' for name in told)} cannot be specified together"
    assert left_out(words, dict.fromkeys(NAMES, 1)) == (told[0],)


def test_a_role_is_no_parameter() -> None:
    assert left_out("Roles must alternate between 'user' and 'assistant'.", {"user": "ann"}) is None
    assert left_out("Unsupported parameter: 'user'", {"user": "ann"}) == ("user",)
