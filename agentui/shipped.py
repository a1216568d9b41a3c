"""Where the files are that come with agentui: the page, and the gallery of pipelines and presets.

In a checkout they stand at the top of the repository; a wheel carries copies inside the package (``setup.py`` puts them there).
"""

from pathlib import Path
from typing import Literal, TypeAlias

Shipped: TypeAlias = Literal["static", "pipelines", "presets"]

_PACKAGE = Path(__file__).resolve().parent
_COPIES = _PACKAGE / "_shipped"


def shipped(name: Shipped) -> Path:
    """The folder of that name."""
    return (_COPIES if _COPIES.is_dir() else _PACKAGE.parent) / name
