"""A scope like the one of a real OpenAI request behind a SetVars node."""

from dataclasses import replace
from typing import Any

from agentui.templating.hadtavern.scope import Scope

CONTEXT = {
    "model": "gpt-4o-mini",
    "vendor_format": "openai",
    "system": "Be kind.",
    "params": {"temperature": 0.7, "max_tokens": None, "top_p": 1.0, "stop": None},
    "chat": {"last_user": "Hi", "messages": [{"role": "user", "content": "Hi"}]},
    "incoming": {
        "method": "POST",
        "path": "/v1/chat/completions",
        "query_params": {"session": "s-1"},
        "headers": {"authorization": "Bearer sk-1", "x-api-key": "ant-1", "dots.in": "yes"},
        "json": {"max_tokens": 128, "temperature": 0.25},
        "api_keys": {"authorization": "Bearer sk-1", "key": "gem-1"},
    },
}


def scope(**changes: Any) -> Scope:
    """The scope with some of its parts replaced."""
    return replace(Scope(context=CONTEXT), **changes)


class Warnings(list[str]):
    """Collects what a rendering warned of."""

    def __call__(self, message: str) -> None:
        self.append(message)
