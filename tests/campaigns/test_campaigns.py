"""A taste of every campaign; ``--campaigns`` runs the short forms, and ``python -m tests.campaigns`` the long ones."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaigns.campaign import Campaign, write_report
from tests.campaigns.every import every_campaign

TASTE = 5
"""The part of its short form that a campaign runs in every run of the tests."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("campaign", list(every_campaign()), ids=lambda campaign: campaign.name)
async def test_a_campaign_finds_nothing(campaign: Campaign, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if not pytestconfig.getoption("--campaigns"):
        campaign = replace(campaign, short=-(-campaign.short // TASTE))
    trial = await campaign.fight(tmp_path)
    write_report(trial, tmp_path)
    assert trial.failures == []
