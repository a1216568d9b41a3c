"""What the packages of this environment offer: their entry points."""

from functools import cache
from importlib import metadata


@cache
def entry_points(group: str) -> metadata.EntryPoints:
    """
    The entry points of a group (``agentui.nodes``), as the packages stood when the program first asked: what is installed later
    is there after its next start. A look goes through every package, which is a tenth of making an application.
    """
    return metadata.entry_points(group=group)
