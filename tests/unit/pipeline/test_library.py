"""The folders of pipelines and presets: what serves, what is kept, who may overwrite what."""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import model_validator

from agentui.documents.document import MAX_FILE_BYTES
from agentui.documents.versions import KEPT_VERSIONS
from agentui.errors import (
    BadRequest,
    BodyTooLarge,
    Conflict,
    InvalidPipeline,
    NotFound,
    NotSaved,
    PreconditionFailed,
    PreconditionRequired,
    Problem,
)
from agentui.files import write_atomically
from agentui.jsonio import Json, dumps, dumps_pretty, loads
from agentui.pipeline.library import PipelineLibrary
from agentui.pipeline.node import Catalog, Node, NodeParams, node
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.plans.plan import Plan
from agentui.presets import PresetLibrary


class LandmineParams(NodeParams):
    """A configuration whose own check has a bug."""

    @model_validator(mode="before")
    @classmethod
    def _explode(cls, value: object) -> object:
        raise ZeroDivisionError


@node("Landmine")
class Landmine(Node[LandmineParams]):
    """A plug-in with a bug."""

    Params = LandmineParams


CATALOG = Catalog({**BUILTIN, "Landmine": Landmine})


def pipeline(value: str = "hello", **fields: Json) -> dict[str, Json]:
    """A good pipeline that says ``value``."""
    rows = [{"name": "word", "mode": "string", "value": value}]
    return {"format": 1, "name": value, "nodes": [{"id": "n1", "type": "SetVars", "config": {"variables": rows}}], **fields}


def broken() -> dict[str, Json]:
    """A pipeline whose only node has no type that anybody knows."""
    return {"format": 1, "name": "broken", "nodes": [{"id": "n1", "type": "Nonsense"}]}


class Place:
    """The two folders, and libraries on them; a new library is a restart."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "pipelines"
        self.folder.mkdir()
        self.data = root / "data"

    def write(self, id: str, content: Json) -> None:
        raw = content if isinstance(content, bytes) else dumps(content)
        (self.folder / f"{id}.json").write_bytes(raw)

    def open(self, default: str = "default") -> PipelineLibrary:
        library = PipelineLibrary(self.folder, self.data, CATALOG, default)
        library.refresh()
        return library


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    yield Place(tmp_path)


def test_a_file_that_is_dropped_in_serves_without_a_restart(place: Place) -> None:
    library = place.open()
    with pytest.raises(NotFound):
        library.plan("new")
    place.write("new", pipeline("one"))
    assert library.refresh() == {"new"}
    assert library.plan("new").name == "one"


def test_a_change_is_seen_even_when_size_and_time_stay_the_same(place: Place) -> None:
    place.write("p", pipeline("one"))
    library = place.open()
    file = place.folder / "p.json"
    before = file.stat()
    file.write_bytes(dumps(pipeline("two")))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    library.refresh()
    assert library.plan("p").name == "two"


def test_an_untouched_folder_changes_nothing(place: Place) -> None:
    place.write("p", pipeline())
    place.write("q", b"{")
    library = place.open()
    plan = library.plan("p")
    assert library.refresh() == frozenset()
    assert library.plan("p") is plan


def test_a_removed_file_is_gone_and_does_not_come_back_broken(place: Place) -> None:
    place.write("p", pipeline())
    library = place.open()
    (place.folder / "p.json").unlink()
    assert library.refresh() == {"p"}
    with pytest.raises(NotFound):
        library.plan("p")
    place.write("p", b"{")
    library.refresh()
    with pytest.raises(InvalidPipeline):
        library.plan("p")


async def test_watching_takes_in_changes_by_itself(place: Place) -> None:
    library = place.open()
    watcher = asyncio.create_task(library.watch(0.01))
    place.write("p", pipeline())
    for _ in range(2000):
        if "p" in library:
            break
        await asyncio.sleep(0.01)
    assert "p" in library
    watcher.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watcher


def test_a_broken_file_says_where_and_the_last_good_version_serves(place: Place) -> None:
    place.write("p", pipeline("good"))
    library = place.open()
    place.write("p", b'{\n  "format": 1,\n  "name" 2\n}')
    library.refresh()
    entry = library.entry("p")
    (problem,) = entry.problems
    assert (problem.code, problem.line, problem.column) == ("json.syntax", 3, 10)
    assert not entry.is_valid
    assert entry.text is not None and entry.text.startswith("{\n")
    assert library.plan("p").name == "good"


def test_a_pipeline_that_does_not_compile_is_no_different(place: Place) -> None:
    place.write("p", pipeline("good"))
    library = place.open()
    place.write("p", broken())
    library.refresh()
    assert [problem.code for problem in library.entry("p").problems] == ["node.unknown_type"]
    assert library.plan("p").name == "good"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b"null", dumps(broken())])
def test_the_last_good_version_survives_a_restart(place: Place, content: bytes) -> None:
    place.write("p", pipeline("good"))
    place.open()
    place.write("p", content)
    library = place.open()
    assert library.plan("p").name == "good"
    assert library.entry("p").problems


def test_a_pipeline_that_was_never_good_raises_its_problems(place: Place) -> None:
    place.write("p", broken())
    library = place.open()
    with pytest.raises(InvalidPipeline) as caught:
        library.plan("p")
    assert caught.value.problems[0].code == "node.unknown_type"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.floats(0, 1), flip=st.integers(0, 7), cuts=st.booleans())
def test_no_damage_to_a_file_stops_the_last_good_version(place: Place, cut: float, flip: int, cuts: bool) -> None:
    good = dumps_pretty(pipeline("good"))
    place.write("p", good)
    library = place.open()
    at = min(int(cut * len(good)), len(good) - 1)
    damaged = good[:at] if cuts else good[:at] + bytes([good[at] ^ (1 << flip)]) + good[at + 1 :]
    place.write("p", damaged)
    library.refresh()
    entry = library.entry("p")
    assert library.plan("p") is not None
    assert entry.is_valid or entry.problems


def test_a_plug_in_that_fails_costs_one_pipeline(place: Place) -> None:
    place.write("p", {"format": 1, "name": "x", "nodes": [{"id": "n1", "type": "Landmine"}]})
    place.write("q", pipeline())
    library = place.open()
    assert [problem.code for problem in library.entry("p").problems] == ["node.crashed"]
    assert library.entry("q").is_valid


def test_a_byte_order_mark_is_forgiven(place: Place) -> None:
    place.write("p", b"\xef\xbb\xbf" + dumps(pipeline()))
    assert place.open().entry("p").is_valid


def test_what_is_no_pipeline_file_is_left_out_with_a_sentence(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_bytes(dumps(pipeline()))
    place.write("good", pipeline())
    (place.folder / "a b.json").write_bytes(dumps(pipeline()))
    (place.folder / ("x" * 65 + ".json")).write_bytes(dumps(pipeline()))
    (place.folder / "folder.json").mkdir()
    (place.folder / "leads-out.json").symlink_to(outside)
    (place.folder / "leads-in.json").symlink_to(place.folder / "good.json")
    (place.folder / "nowhere.json").symlink_to(place.folder / "missing.json")
    (place.folder / ".good.json.1.tmp").write_bytes(b"{")
    (place.folder / "notes.txt").write_text("not ours")
    library = place.open()
    assert [entry.id for entry in library.entries()] == ["good", "leads-in"]
    assert len(library.complaints) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_named_pipe_does_not_hang_the_server(place: Place) -> None:
    os.mkfifo(place.folder / "pipe.json")
    assert place.open().entries() == []


def test_a_file_that_is_too_large_is_not_read(place: Place) -> None:
    place.write("p", b" " * (MAX_FILE_BYTES + 1))
    assert [problem.code for problem in place.open().entry("p").problems] == ["file.too_large"]


def test_a_folder_that_goes_away_takes_nothing_out_of_service(place: Place) -> None:
    place.write("p", pipeline())
    library = place.open()
    place.folder.rename(place.folder.with_name("elsewhere"))
    library.refresh()
    assert library.plan("p").name == "hello"
    assert "cannot be read" in library.complaints[0]


class Replaced(PipelineLibrary):
    """A file takes its folder's place while a pipeline of this name is read."""

    def understand(self, id: str, document: Mapping[str, Json]) -> tuple[Plan, tuple[Problem, ...]]:
        if document["name"] == "replace":
            self.folder.rename(self.folder.with_name("elsewhere"))
            self.folder.write_text("a file where the folder was")
        return super().understand(id, document)


def test_a_folder_that_a_file_replaces_while_it_is_read_takes_nothing_out_of_service(place: Place) -> None:
    place.write("a", pipeline())
    place.write("b", pipeline())
    library = Replaced(place.folder, place.data, CATALOG)
    library.refresh()
    place.write("a", pipeline("replace"))
    # The young ``b`` is read once more, and is not there any more.
    library.refresh()
    assert place.folder.is_file()
    assert (library.entry("b").document, library.entry("b").problems) == (pipeline(), ())


def test_a_link_that_loses_its_target_is_gone(place: Place) -> None:
    place.write("real", pipeline())
    (place.folder / "link.json").symlink_to(place.folder / "real.json")
    library = place.open()
    assert library.plan("link").name == "hello"
    (place.folder / "real.json").unlink()
    library.refresh()
    assert library.entries() == []


# Saving


def test_saving_keeps_every_field_and_its_place(place: Place) -> None:
    document = {"zeta": 1, **pipeline(), "alpha": {"b": 1, "a": [True, None, 1.5, "ü"]}}
    place.open().save("p", document, if_none_match="*")
    raw = (place.folder / "p.json").read_bytes()
    assert raw == dumps_pretty(document)
    assert list(loads(raw)) == list(document)


def test_saving_needs_to_say_what_it_replaces(place: Place) -> None:
    library = place.open()
    with pytest.raises(PreconditionRequired):
        library.save("p", pipeline())
    first = library.save("p", pipeline("one"), if_none_match="*")
    with pytest.raises(PreconditionRequired):
        library.save("p", pipeline("two"))
    second = library.save("p", pipeline("two"), if_match=first.etag)
    with pytest.raises(PreconditionFailed) as caught:
        library.save("p", pipeline("three"), if_match=first.etag)
    assert caught.value.details == {"current": pipeline("two"), "etag": second.etag}
    assert library.plan("p").name == "two"


def test_a_new_document_does_not_replace_one_that_is_there(place: Place) -> None:
    library = place.open()
    library.save("p", pipeline("one"), if_none_match="*")
    with pytest.raises(PreconditionFailed):
        library.save("p", pipeline("two"), if_none_match="*")
    assert library.save("p", pipeline("three"), if_match="*").name == "three"


def test_a_save_over_a_removed_document_says_so(place: Place) -> None:
    library = place.open()
    etag = library.save("p", pipeline(), if_none_match="*").etag
    (place.folder / "p.json").unlink()
    with pytest.raises(PreconditionFailed) as caught:
        library.save("p", pipeline("two"), if_match=etag)
    assert caught.value.details == {"current": None, "etag": None}


def test_an_edit_by_hand_is_not_overwritten_unseen(place: Place) -> None:
    library = place.open()
    etag = library.save("p", pipeline("one"), if_none_match="*").etag
    place.write("p", pipeline("by hand"))
    with pytest.raises(PreconditionFailed) as caught:
        library.save("p", pipeline("two"), if_match=etag)
    assert caught.value.details["current"]["name"] == "by hand"


def test_a_document_with_problems_is_saved_but_does_not_serve(place: Place) -> None:
    library = place.open()
    etag = library.save("p", pipeline("good"), if_none_match="*").etag
    library.activate("p")
    entry = library.save("p", broken(), if_match=etag)
    assert loads((place.folder / "p.json").read_bytes()) == broken()
    assert not entry.is_valid
    assert entry.good is not None and entry.good.etag == etag
    assert library.plan(library.active).name == "good"


@pytest.mark.parametrize("id", ["", "../x", "a/b", "a.b", "x" * 65, "ü", ".hidden", "a b", "con", "NUL", "Lpt1"])
def test_only_ids_are_written(place: Place, id: str) -> None:
    with pytest.raises(BadRequest):
        place.open().save(id, pipeline(), if_none_match="*")
    assert list(place.folder.iterdir()) == []


def test_what_is_no_object_or_too_large_is_refused(place: Place) -> None:
    library = place.open()
    with pytest.raises(BadRequest):
        library.save("p", [1], if_none_match="*")
    with pytest.raises(BodyTooLarge):
        library.save("p", pipeline(padding="x" * MAX_FILE_BYTES), if_none_match="*")


def test_a_save_follows_no_link_and_overwrites_none(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("untouched")
    (place.folder / "p.json").symlink_to(outside)
    library = place.open()
    for condition in ({"if_none_match": "*"}, {"if_match": "*"}):
        with pytest.raises(Conflict):
            library.save("p", pipeline(), **condition)
    assert outside.read_text() == "untouched"


def test_two_names_that_differ_in_capitals_only_are_refused(place: Place) -> None:
    library = place.open()
    library.save("Chat", pipeline(), if_none_match="*")
    with pytest.raises(Conflict):
        library.save("chat", pipeline(), if_none_match="*")


def test_a_save_that_fails_leaves_the_old_file_and_no_rubbish(place: Place) -> None:
    library = place.open()
    library.save("p", pipeline("old"), if_none_match="*")
    target = place.folder / "p.json"
    target.unlink()
    target.mkdir()
    (target / "in the way").touch()
    with pytest.raises(NotSaved):
        write_atomically(target, b"new")
    assert [path.name for path in place.folder.iterdir()] == ["p.json"]
    assert library.plan("p").name == "old"


def test_a_data_folder_that_cannot_be_written_is_a_complaint_and_no_error(place: Place) -> None:
    place.data.write_text("a file where the folder should be")
    place.write("p", pipeline())
    library = place.open()
    assert library.plan("p").name == "hello"
    assert len(library.complaints) == 2


# Which one is active


def test_the_choice_survives_a_restart(place: Place) -> None:
    place.write("default", pipeline("d"))
    place.write("other", pipeline("o"))
    library = place.open()
    assert library.active == "default"
    library.activate("other")
    assert library.active == "other"
    assert place.open().active == "other"


def test_the_default_serves_when_the_chosen_one_is_gone(place: Place) -> None:
    place.write("default", pipeline())
    place.write("other", pipeline())
    library = place.open()
    library.activate("other")
    (place.folder / "other.json").unlink()
    library.refresh()
    assert library.active == "default"


def test_without_any_the_error_says_what_to_do(place: Place) -> None:
    place.write("other", pipeline())
    with pytest.raises(NotFound, match="activate one"):
        _ = place.open("demo").active


def test_a_pipeline_with_problems_cannot_be_activated(place: Place) -> None:
    place.write("p", pipeline())
    library = place.open()
    place.write("p", broken())
    with pytest.raises(InvalidPipeline):
        library.activate("p")
    with pytest.raises(NotFound):
        library.activate("missing")


def test_a_broken_state_file_means_the_default(place: Place) -> None:
    place.write("default", pipeline())
    place.data.mkdir()
    (place.data / "state.json").write_bytes(b"{")
    library = place.open()
    assert library.active == "default"
    library.activate("default")
    assert loads((place.data / "state.json").read_bytes()) == {"active": "default"}


def test_the_active_pipeline_cannot_be_deleted(place: Place) -> None:
    library = place.open()
    entry = library.save("default", pipeline(), if_none_match="*")
    other = library.save("other", pipeline(), if_none_match="*")
    with pytest.raises(Conflict):
        library.delete("default", entry.etag)
    with pytest.raises(PreconditionRequired):
        library.delete("other", None)
    with pytest.raises(PreconditionFailed):
        library.delete("other", '"0000000000000000"')
    library.delete("other", other.etag)
    assert "other" not in library
    assert not (place.folder / "other.json").exists()


# Versions


def test_every_version_is_kept_up_to_a_limit_and_can_be_read(place: Place) -> None:
    library = place.open()
    entry = library.save("p", pipeline("v1"), if_none_match="*")
    for number in range(2, KEPT_VERSIONS + 6):
        entry = library.save("p", pipeline(f"v{number}"), if_match=entry.etag)
    versions = library.versions("p")
    assert [version.number for version in versions] == list(range(KEPT_VERSIONS + 5, 5, -1))
    assert versions[0].etag == entry.etag
    assert library.version("p", 6)[1] == pipeline("v6")
    with pytest.raises(NotFound):
        library.version("p", 5)


def test_saving_the_same_again_makes_no_version(place: Place) -> None:
    library = place.open()
    library.save("p", pipeline(), if_none_match="*")
    library.save("p", pipeline(), if_match="*")
    place.open()
    assert len(library.versions("p")) == 1


def test_edits_by_hand_are_versions_too(place: Place) -> None:
    place.write("p", pipeline("one"))
    library = place.open()
    place.write("p", pipeline("two"))
    library.refresh()
    assert [library.version("p", version.number)[1]["name"] for version in library.versions("p")] == ["two", "one"]


def test_a_named_version_stays(place: Place) -> None:
    library = place.open()
    library.save("p", pipeline("precious"), if_none_match="*")
    assert library.name_version("p", 1, "before the change").name == "before the change"
    for number in range(KEPT_VERSIONS + 3):
        library.save("p", pipeline(f"v{number}"), if_match="*")
    assert library.versions("p")[-1].name == "before the change"
    assert library.version("p", 1)[1] == pipeline("precious")
    library.name_version("p", 1, "")
    library.save("p", pipeline("last"), if_match="*")
    with pytest.raises(NotFound):
        library.version("p", 1)


def test_versions_outlive_the_document(place: Place) -> None:
    library = place.open()
    entry = library.save("p", pipeline("lost"), if_none_match="*")
    library.delete("p", entry.etag)
    assert library.version("p", 1)[1] == pipeline("lost")
    with pytest.raises(NotFound):
        library.versions("never")


@pytest.mark.parametrize("id", ["../good/pipelines", "..", "a/../../x", ""])
def test_versions_lead_nowhere_else(place: Place, id: str) -> None:
    place.write("p", pipeline())
    library = place.open()
    with pytest.raises(NotFound):
        library.versions(id)
    with pytest.raises(NotFound):
        library.version(id, 1)


# Presets


def test_presets_are_a_folder_like_any_other(tmp_path: Path) -> None:
    library = PresetLibrary(tmp_path / "presets", tmp_path / "data")
    library.refresh()
    document = {"format": 1, "name": "OpenAI", "provider": "openai", "headers": {"authorization": "x"}, "extra": 1}
    entry = library.save("openai", document, if_none_match="*")
    assert entry.is_valid
    assert library.good("openai").headers == {"authorization": "x"}
    bad = library.save("openai", {**document, "provider": "nobody"}, if_match=entry.etag)
    assert [problem.field for problem in bad.problems] == ["provider"]
    assert library.good("openai").provider == "openai"


def test_the_shipped_files_are_good(gallery: Path, tmp_path: Path) -> None:
    for library in (
        PipelineLibrary(gallery / "pipelines", tmp_path / "data", CATALOG),
        PresetLibrary(gallery / "presets", tmp_path / "data"),
    ):
        library.refresh()
        assert library.entries()
        assert {entry.id: entry.problems for entry in library.entries() if entry.problems} == {}
        assert library.complaints == ()
