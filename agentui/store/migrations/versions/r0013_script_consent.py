"""Which scripts inside an asset somebody allowed: beside its versions, so that it holds for all of them at once."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0013"
down_revision = "0012"


def upgrade(op: Operations) -> None:
    """Add the column. What waited for a consent goes on waiting; what ran goes on running."""
    told = "The hash of the scripts inside that somebody allowed; empty: none. Null: it came from no file, and all run."
    op.add_column("assets", sa.Column("scripts_allowed", sa.String(64), comment=told))
    op.execute(
        "UPDATE assets SET scripts_allowed = '' WHERE EXISTS (SELECT 1 FROM asset_versions"
        " WHERE asset_versions.id = assets.current_version_id AND origin_json LIKE '%\"scripts_allowed\"\\:false%')"
    )
