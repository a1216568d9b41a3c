"""Every campaign in its short form. ``python -m tests.campaigns`` runs the long one."""

from pathlib import Path

import pytest

from tests.campaigns.campaign import Campaign, write_report
from tests.campaigns.every import every_campaign


@pytest.mark.timeout(300)
@pytest.mark.parametrize("campaign", list(every_campaign()), ids=lambda campaign: campaign.name)
async def test_a_campaign_finds_nothing(campaign: Campaign, tmp_path: Path) -> None:
    trial = await campaign.fight(tmp_path)
    write_report(trial, tmp_path)
    assert trial.failures == []
