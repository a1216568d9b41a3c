"""The campaigns of faults and keys over a product that is broken on purpose: each finds what was broken."""

from pathlib import Path
from unittest.mock import patch

import pytest

from agentui.pipeline.model_call import StreamedPiece, StreamReader
from agentui.redaction import Redactor
from agentui.upstream import retry
from agentui.upstream.breaker import Breaker
from agentui.upstream.http.exchange import Exchange
from tests.campaigns import disconnects
from tests.campaigns.campaign import Trial
from tests.campaigns.canaries import sinks
from tests.campaigns.disconnects import disconnects as leave
from tests.campaigns.faults import upstream
from tests.campaigns.scanner import Scanner, spellings
from tests.campaigns.storm import storm

pytestmark = pytest.mark.timeout(300)


async def test_answers_that_end_wherever_they_end_are_found(tmp_path: Path) -> None:
    def close(reader: StreamReader) -> StreamedPiece:
        """Take any end for a good one."""
        return StreamedPiece((), ())

    trial = Trial("faults.upstream", 120, 60, 1, tmp_path)
    with patch.object(StreamReader, "close", close):
        await upstream(trial)
    assert any("it should have failed" in text or "neither finished nor failed" in text for text in trial.failures)


async def test_upstreams_that_are_not_let_go_are_found(tmp_path: Path) -> None:
    trial = Trial("faults.disconnects", 24, 60, 1, tmp_path)
    hasty = patch.multiple(disconnects, LIMIT=0.3, SETTLED=0.3)
    with patch.object(Exchange, "close", lambda exchange: None), hasty:
        await leave(trial)
    assert any("the upstream was not let go" in text for text in trial.failures)


async def test_attempts_without_end_are_found(tmp_path: Path) -> None:
    trial = Trial("faults.storm", 90, 60, 1, tmp_path)
    never = patch.object(Breaker, "failed", lambda breaker, now: None)
    with never, patch.object(retry.RetryBudget, "take", lambda budget, now: True):
        await storm(trial)
    assert any("attempts per request" in text for text in trial.failures)


async def test_keys_that_nobody_takes_out_are_found(tmp_path: Path) -> None:
    trial = Trial("canaries.sinks", 60, 60, 1, tmp_path)
    with patch.object(Redactor, "redact", lambda redactor, text: text):
        await sinks(trial)
    assert any("in the error" in text for text in trial.failures)


def test_every_spelling_of_a_key_is_found_wherever_it_stands() -> None:
    key = 'sk-a"b\\c/d+e=f~ghijklmnopqrstuvwxyz'
    for encoding, forms in spellings(key).items():
        for form in forms:
            scanner = Scanner({"a": key})
            scanner.scan("a text", b"before " + form + b" after")
            assert any(f"the a key, {encoding}," in find for find in scanner.finds), (encoding, form)
    clean = Scanner({"a": key})
    clean.scan("a text", f"***{key[-4:]} and {key[:11]}")
    assert clean.finds == []
