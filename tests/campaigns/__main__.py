"""``python -m tests.campaigns [NAME ...]``: the campaigns in their long form, each with a report.

``--short`` runs the form of the test suite, ``--seed`` another walk, ``--size`` and ``--seconds`` other bounds; ``--report``
names the folder of the reports (``campaign-reports``). Exit code 1 when a campaign found something.
"""

import argparse
import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.campaigns.campaign import Campaign, Trial, write_report
from tests.campaigns.every import every_campaign


def main() -> int:
    """Run what was asked for, one after the other."""
    known = {campaign.name: campaign for campaign in every_campaign()}
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(known)}; none means all")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--report", type=Path, default=Path("campaign-reports"))
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"There is no campaign {unknown[0]!r}; there are {', '.join(known)}.")
    found = False
    for name in options.names or known:
        campaign = known[name]
        if options.size is not None:
            campaign = replace(campaign, short=options.size, long=options.size)
        if options.seconds is not None:
            campaign = replace(campaign, short_seconds=options.seconds, long_seconds=options.seconds)
        trial = _fight(campaign, options.seed, is_long=not options.short)
        path = write_report(trial, options.report)
        _say(trial, path)
        found = found or bool(trial.failures)
    return 1 if found else 0


def _fight(campaign: Campaign, seed: int, *, is_long: bool) -> Trial:
    """One campaign in a folder of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="agentui-campaign-") as folder:
        return asyncio.run(campaign.fight(Path(folder), seed=seed, is_long=is_long))


def _say(trial: Trial, path: Path) -> None:
    """A few lines for whoever watches; the report has the rest."""
    counts = ", ".join(f"{count:,} {name}" for name, count in sorted(trial.counts.items()))
    figures = ", ".join(f"{name} {value}" for name, value in trial.figures.items())
    print(f"{trial.name}: {'FAILED' if trial.failures else 'ok'}: {counts}" + (f"; {figures}" if figures else ""), flush=True)
    for failure in trial.failures[:5]:
        print(f"  {failure[:500]}", flush=True)
    print(f"  report: {path}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
