"""The files that came with an asset beside its content and its picture: one archive of a version."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0018"
down_revision = "0017"


def upgrade(op: Operations) -> None:
    """Add the column. What was imported before has lost its other files."""
    told = "The blob of a ZIP archive with the other files that it came with."
    op.add_column("asset_versions", sa.Column("files", sa.String(64), comment=told))
    op.create_index("ix_asset_versions_account_id_files", "asset_versions", ["account_id", "files"])
