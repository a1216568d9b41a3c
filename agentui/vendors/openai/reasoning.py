"""What OpenAI's models that reason refuse, on both of its APIs."""

import re
from collections.abc import Mapping

from agentui.jsonio import Json

_NAMED = r"(?:^|[/:])(?:%s)"
_REASONING = re.compile(_NAMED % r"o\d|gpt-(?:[5-9]|\d\d)(?!\S*-chat)")
_NOT_REASONING = re.compile(_NAMED % r"gpt-3|gpt-4|gpt-\d\S*-chat|chatgpt-")

_DEFAULTS: Mapping[str, Json] = {
    "temperature": 1,
    "top_p": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "logprobs": False,
    "top_logprobs": 0,
}


def reasons(model: str) -> bool:
    """Whether a model is of the o series or gpt-5 and later, but for those that ChatGPT itself uses (gpt-5-chat-latest)."""
    return _REASONING.search(model) is not None


def never_reasons(model: str) -> bool:
    """Whether a model is known not to reason; of a compatible server's models nothing is known."""
    return _NOT_REASONING.search(model) is not None


def without_sampling(sampling: Mapping[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """Nothing of the sampling settings (None: not given), and the names of those that are not the models' defaults."""
    given = {name: value for name, value in sampling.items() if value is not None}
    return {}, [name for name, value in given.items() if value != _DEFAULTS.get(name)]
