"""All campaigns there are: each module of this folder that has a list ``CAMPAIGNS``."""

import importlib
import pkgutil
from collections.abc import Iterator

import tests.campaigns
from tests.campaigns.campaign import Campaign


def every_campaign() -> Iterator[Campaign]:
    """The campaigns, by module and in the order in which each module lists them."""
    for info in sorted(pkgutil.iter_modules(tests.campaigns.__path__), key=lambda info: info.name):
        if info.name.startswith("test_") or info.name in ("__main__", "conftest", "campaign", "every"):
            continue
        module = importlib.import_module(f"tests.campaigns.{info.name}")
        yield from getattr(module, "CAMPAIGNS", ())
