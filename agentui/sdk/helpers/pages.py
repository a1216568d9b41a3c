"""Which page of a floor is shown."""

from collections.abc import Mapping

from agentui.sdk.helpers.fields import record, records

Shown = Mapping[str, object]


def get_active_page(floor: Mapping[str, object]) -> Shown | None:
    """The kept page of a floor that counts: its ``active_page``; else the last of ``pages`` that is active; else the first.

    A turn has two active pages, what was asked and what was answered, so that its ``active_page`` is null: the last one is the
    answer. None where the floor has no page.
    """
    active = floor.get("active_page")
    if isinstance(active, Mapping):
        return active
    pages = list(records(floor.get("pages")))
    return next((page for page in reversed(pages) if page.get("is_active") is True), pages[0] if pages else None)


def get_display_page(floor: Mapping[str, object]) -> Shown | None:
    """What to show of a floor while it may be generating: its ``pending_output``, else its active page.

    ``pending_output`` is the run's, of ``GET /floors/{id}/run``: ``{**floor, "pending_output": run["pending_output"]}``.
    """
    return record(floor.get("pending_output")) or get_active_page(floor)
