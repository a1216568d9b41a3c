"""Whether a row of a chat is its account's still: what was removed with many others is nobody's, until it is gone, too."""

from typing import Final

from sqlalchemy import exists

from agentui.store.tables import branches, floors, messages, pages

FLOOR_IS_KEPT: Final = (
    exists()
    .where(branches.c.session_id == floors.c.session_id, branches.c.branch_id == floors.c.branch_id)
    .where(branches.c.account_id == floors.c.account_id)
    .correlate(floors)
)
"""Of a floor: its branch is the account's."""
PAGE_IS_KEPT: Final = exists().where(floors.c.id == pages.c.floor_id, FLOOR_IS_KEPT).correlate(pages)
"""The same of a page."""
MESSAGE_IS_KEPT: Final = exists().where(pages.c.id == messages.c.page_id, PAGE_IS_KEPT).correlate(messages)
"""The same of a message."""
