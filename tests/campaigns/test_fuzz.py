"""The fuzzers find what they look for: each is set on an engine with a fault put into it."""

import os
import subprocess
import threading
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from agentui.documents.folder import FolderLibrary
from agentui.jsonio import Json
from agentui.templating.core.problems import SourceText, TemplateSyntaxError
from agentui.templating.hadtavern.expressions import compile_expression
from agentui.templating.hadtavern.formulas.tokens import ExpressionError
from agentui.templating.hadtavern.macros import Insert, MacroReader
from agentui.templating.hadtavern.scope import Frame
from agentui.vendors.sse import SseDecoder, SseEvent
from tests.campaigns import files, fuzz_bodies, fuzz_expressions, fuzz_pipelines, fuzz_streams, fuzz_templates
from tests.campaigns.audit import Watch
from tests.campaigns.campaign import Campaign, Trial

pytestmark = pytest.mark.timeout(300)


async def failures(campaign: Campaign, folder: Path, size: int) -> list[str]:
    """What a small campaign finds."""
    trial: Trial = await replace(campaign, short=size).fight(folder)
    return trial.failures


@pytest.fixture
def rereads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Templates that look at an inserted text once more: the fault that rule 1 is about."""
    once = Insert.text

    def twice(self: Insert, frame: Frame) -> str:
        text = once(self, frame)
        try:
            reader = MacroReader(SourceText(text), allows_secrets=False, allows_prompt=False)
            pieces = reader.read_pieces()
            reader.source.raise_problems()
        except TemplateSyntaxError:
            return text
        return "".join(piece if isinstance(piece, str) else once(piece, frame) for piece in pieces)

    monkeypatch.setattr(Insert, "text", twice)


@pytest.mark.usefixtures("rereads")
async def test_a_second_reading_of_inserted_text_is_found(tmp_path: Path) -> None:
    found = await failures(fuzz_templates.CAMPAIGNS[0], tmp_path, 300)
    assert any("a text is wrong" in each for each in found)
    assert any("a body is wrong" in each for each in found)
    assert any("what a value says changes what the template does" in each for each in found)
    assert await failures(fuzz_pipelines.CAMPAIGNS[0], tmp_path, 100)


async def test_formulas_that_are_executed_or_taken_from_python_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Careless:
        def __init__(self, source: str) -> None:
            self.source = source

        def evaluate(self, random: Random) -> Json:
            try:
                return compile_expression(self.source).evaluate(random)
            except ExpressionError:
                return eval("0")  # noqa: S307 - the fault

    monkeypatch.setattr(fuzz_expressions, "compile_expression", Careless)
    found = await failures(fuzz_expressions.CAMPAIGNS[0], tmp_path, 100)
    assert any("an escape: exec" in each for each in found)
    assert any("a formula of another language has a value" in each for each in found)


async def test_a_door_that_changes_words_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter = fuzz_bodies.enter
    monkeypatch.setattr(
        fuzz_bodies, "enter", lambda vendors, asked, data: enter(vendors, asked, data.replace(b"[[VAR:secret]]", b"sk-canary"))
    )
    assert any("words are others" in each for each in await failures(fuzz_bodies.CAMPAIGNS[0], tmp_path, 300))


async def test_a_decoder_that_minds_how_a_stream_is_cut_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(SseDecoder):
        def feed(self, chunk: bytes) -> list[SseEvent]:
            return super().feed(chunk.rstrip(b" "))

    monkeypatch.setattr(fuzz_streams, "SseDecoder", Forgetful)
    found = await failures(fuzz_streams.CAMPAIGNS[0], tmp_path, 200)
    assert any("another chunking means something else" in each or "misheard" in each for each in found)


async def test_a_library_that_forgets_the_last_good_version_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FolderLibrary, "_last_good", lambda self, id: None)
    found = await failures(files.CAMPAIGNS[0], tmp_path, 40)
    assert any("the last good version does not serve" in each for each in found)
    trial = Trial("files.cut", 1, 60.0, 1, tmp_path / "served")
    await files.serve_damaged(trial)
    assert any("answers 422" in each for each in trial.failures)


def test_a_watch_sees_what_reaches_outside_and_only_while_it_is_on(tmp_path: Path) -> None:
    watch = Watch()
    (tmp_path / "before").write_text("x")
    with watch:
        assert not watch.has_seen
        (tmp_path / "file").write_text("x")
        subprocess.run(["true"], check=True)
        os.listdir(tmp_path)
        with watch.aside():
            os.mkdir(tmp_path / "aside")
        other = threading.Thread(target=lambda: os.mkdir(tmp_path / "other"))
        other.start()
        other.join()
    os.mkdir(tmp_path / "after")
    seen = watch.take()
    assert any(each.startswith("open ") and "file" in each for each in seen)
    assert any(each.startswith("subprocess.Popen ") for each in seen)
    assert any(each.startswith("os.listdir ") for each in seen)
    assert not any(each.startswith("os.mkdir ") for each in seen)
    assert not watch.has_seen
