"""The pipelines: a folder of documents, each compiled to a plan, one of them active."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar

from agentui.documents.folder import FolderLibrary
from agentui.errors import Conflict, InvalidPipeline, NotFound, Problem
from agentui.files import signature_of, write_atomically
from agentui.jsonio import InvalidJson, Json, dumps_pretty, loads
from agentui.pipeline.node import Catalog
from agentui.pipeline.plans.calls import cycle_of
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.plan import Plan


class PipelineLibrary(FolderLibrary[Plan]):
    """The pipelines, each compiled once, and which of them serves a caller who names none.

    ``data/state.json`` remembers the choice; without one (or when it is gone) ``default_active`` serves. Listeners are
    also called, with no ids, when another pipeline is made active.
    """

    kind: ClassVar[str] = "pipelines"
    noun: ClassVar[str] = "pipeline"

    def __init__(
        self,
        folder: Path,
        data: Path,
        catalog: Catalog,
        default_active: str = "default",
        *,
        lock: AbstractContextManager[object] | None = None,
    ) -> None:
        super().__init__(folder, data, lock=lock)
        self._catalog = catalog
        self._default = default_active
        self._state_file = data / "state.json"
        self._state_signature = signature_of(self._state_file)
        self._state: dict[str, Json] = _read_state(self._state_file)

    def refresh(self) -> frozenset[str]:
        """Take in what changed in the folder, and which pipeline another process has made the active one."""
        with self._lock:
            changed = super().refresh()
            signature = signature_of(self._state_file)
            if signature is not None and signature != self._state_signature:
                self._state_signature = signature
                self._state = _read_state(self._state_file)
                self.notify(frozenset())
            return changed

    def understand(self, id: str, document: Mapping[str, Json]) -> tuple[Plan, tuple[Problem, ...]]:
        """Compile the pipeline. Raises InvalidPipeline."""
        try:
            plan = compile_plan(id, document, self._catalog)
        except InvalidPipeline:
            raise
        except Exception as error:
            text = f"A node type failed while it was set up: {type(error).__name__}."
            raise InvalidPipeline(text, (Problem("node.crashed", text, facts={"error": type(error).__name__}),)) from error
        circle = self.circle(id, plan.calls)
        if circle is not None:
            raise InvalidPipeline(circle.message, (circle,), pipeline=id)
        return plan, plan.warnings

    def circle(self, id: str, calls: Collection[str]) -> Problem | None:
        """What is wrong where a pipeline of this id calls these: they call it in turn; None where they do not."""
        path = cycle_of(id, calls, self._calls_of)
        if not path:
            return None
        text = f"Pipelines call each other in a circle: {' -> '.join(path)}. Let one of them call another, or none."
        return Problem("pipeline.cycle", text, facts={"path": " -> ".join(path)})

    def _calls_of(self, id: str) -> frozenset[str]:
        """The pipelines that another one calls; none where it is not there."""
        try:
            return self.good(id).calls
        except (NotFound, InvalidPipeline):
            return frozenset()

    def plan(self, id: str) -> Plan:
        """The plan that serves under this id; a look-up, nothing more.

        Raises NotFound, or InvalidPipeline with its problems when no version was ever good.
        """
        return self.good(id)

    def compile(self, id: str, document: Mapping[str, Json]) -> Plan:
        """A plan of a changed document under this id, which is kept nowhere. Raises InvalidPipeline."""
        return compile_plan(id, document, self._catalog)

    @property
    def active(self) -> str:
        """The id of the pipeline that serves callers who name none. Raises NotFound when there is none."""
        chosen = self._state.get("active")
        if isinstance(chosen, str) and chosen in self:
            return chosen
        if self._default in self:
            return self._default
        raise NotFound(
            f"No pipeline is active, and there is none called {self._default!r}: activate one, or name one in the request."
        )

    def is_active(self, id: str) -> bool:
        """True when this pipeline serves callers who name none."""
        try:
            return self.active == id
        except NotFound:
            return False

    def activate(self, id: str) -> None:
        """Let this pipeline serve, from now on and after a restart. Raises NotFound, InvalidPipeline, NotSaved."""
        with self._lock:
            self.refresh()
            entry = self.entry(id)
            if not entry.is_valid:
                raise self._invalid(entry)
            state = {**self._state, "active": id}
            write_atomically(self._state_file, dumps_pretty(state))
            self._state = state
            self._state_signature = signature_of(self._state_file)
            self.notify(frozenset())

    def note_rename(self, id: str, new_id: str) -> None:
        """The active pipeline stays active under its new id."""
        if self.is_active(id):
            self._state = {**self._state, "active": new_id}
            self._note("state", lambda: write_atomically(self._state_file, dumps_pretty(self._state)))

    def check_delete(self, id: str) -> None:
        """The active pipeline must stay. Raises Conflict."""
        if self.is_active(id):
            raise Conflict(f"The pipeline {id!r} is active. Activate another one first.", pipeline=id)


def _read_state(path: Path) -> dict[str, Json]:
    """What was remembered; nothing where the file is new or broken (the default pipeline serves then)."""
    try:
        state = loads(path.read_bytes())
    except (OSError, InvalidJson):
        return {}
    return state if isinstance(state, dict) else {}
