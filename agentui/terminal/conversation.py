"""A chat on a server: what is said in it, on which branch, and what is known of it."""

import time
from pathlib import Path

from agentui.sdk import ListOf, NotFound, TavernClient, TurnStream
from agentui.sdk.endpoints import ByPipeline
from agentui.sdk.helpers import (
    TimelineMessageView,
    VariableInspectorRow,
    build_timeline_messages,
    flatten_variable_snapshot,
    sort_variable_inspector_rows,
)
from agentui.sdk.shapes.chats.branches import BranchSummary
from agentui.sdk.shapes.chats.prompt_runtime import Explanation
from agentui.sdk.shapes.chats.sessions import ActiveRun, Timeline, TimelineFloor
from agentui.sdk.shapes.common import Session

SHOWN_FLOORS = 10
"""Floors that are shown where a chat is gone on with."""
_PAUSE = 0.1
"""Seconds between two looks at a turn that was left."""


class NothingYet(Exception):
    """The command is about an answer, and there is none; the message says so."""


def open_session(client: TavernClient, name: str | None, character: Path | None) -> Session:
    """The session of this name or id, or a new one of this name, where a character is given with it.

    Raises TavernApiError, and ValueError where a character is given for a session that there is.
    """
    found = None if name is None else _find(client, name)
    if found is not None:
        if character is not None:
            raise ValueError(f"The session {name!r} is there already and has its character: leave --character out.")
        return found
    if character is None:
        return client.sessions.create() if name is None else client.sessions.create(name=name, title=name)
    imported = client.imports.character(file=character)
    made = imported["session"]
    assert made is not None  # a session is what was asked for
    return made if name is None else client.sessions.update(made["id"], name=name, title=name)


def _find(client: TavernClient, name: str) -> Session | None:
    """The session that is called so, or has this id."""
    named = client.sessions.list(name=name)["data"]
    if named:
        return named[0]
    try:
        return client.sessions.get(name)
    except NotFound:
        return None


class Conversation:
    """One session from one of its branches. Its methods raise what the client raises."""

    def __init__(self, client: TavernClient, session: Session, pipeline: str | None = None) -> None:
        self.session_id = session["id"]
        self.branch = "main"
        binding = session["character_binding"]
        summary = None if binding is None else binding["snapshot_summary"]
        self.character = "Assistant" if summary is None else summary["name"]
        self._client = client
        self._pipeline: ByPipeline = {} if pipeline is None else {"pipeline": pipeline}

    def messages(self) -> list[TimelineMessageView]:
        """What was said last on the branch and on the way to it."""
        return build_timeline_messages(self._floors(SHOWN_FLOORS))

    def say(self, text: str) -> TurnStream:
        """Say something; the events of the answer."""
        return self._client.sessions.respond_stream(
            self.session_id, message=text, branch_id=self.branch, config={"enableTools": True}, **self._pipeline
        )

    def regenerate(self) -> TurnStream:
        """Generate the newest answer anew."""
        return self._client.sessions.regenerate_stream(self.session_id, branch_id=self.branch, **self._pipeline)

    def swipe(self) -> TurnStream:
        """Generate another version of the newest answer. Raises NothingYet."""
        return self._client.floors.retry_stream(self._newest()["id"], **self._pipeline)

    def show_version(self, number: int) -> str:
        """Make a version of the newest answer the one that counts; its words. Raises NothingYet where there is none."""
        floor = self._newest()
        answers = [page for page in floor["pages"] if page["page_kind"] == "output"]
        if number > len(answers):
            raise NothingYet(f"There are {len(answers)} versions of this answer.")
        page = answers[number - 1]
        self._client.pages.activate(page["id"])
        return "\n".join(message["content"] for message in page["messages"])

    def edit(self, text: str) -> TurnStream:
        """Say the newest message of the user's otherwise, on a branch that is made. Raises NothingYet."""
        asked = [message["id"] for message in self._newest()["messages"] if message["role"] == "user"]
        if not asked:
            raise NothingYet("The newest floor is a greeting: nothing was said on it.")
        return self._client.messages.edit_and_regenerate_stream(asked[-1], content=text, **self._pipeline)

    def branches(self) -> list[BranchSummary]:
        """The branches of the session, by name."""
        return self._client.branches.list(self.session_id, sort_by="branch_id", sort_order="asc", limit=100)["data"]

    def go_to(self, branch: str) -> bool:
        """Go to a branch; True where it is new, and begins behind the newest floor of this one. Without a name it gets one.
        Raises NothingYet."""
        is_known = branch in {each["branch_id"] for each in self.branches()}
        if not is_known:
            newest, fork = self._newest()["id"], self._client.branches.create_from_floor
            branch = (fork(newest, branch_id=branch) if branch else fork(newest))["branch_id"]
        self.branch = branch
        return not is_known

    def variables(self) -> list[VariableInspectorRow]:
        """The variables that are visible from the branch's end, by name."""
        newest = self._floors(1)
        resolve = self._client.variables.resolve_context
        if newest and newest[0]["branch_id"] == self.branch:
            snapshot = resolve(session_id=self.session_id, floor_id=newest[0]["id"], include_layers=True)
        else:
            snapshot = resolve(session_id=self.session_id, branch_id=self.branch, include_layers=True)
        return sort_variable_inspector_rows(flatten_variable_snapshot(snapshot))

    def why(self) -> Explanation:
        """What is kept of the newest answer's prompt. Raises NothingYet."""
        return self._client.prompt_runtime.get_floor_explain(self._newest()["id"])

    def wait_for_end(self, floor_id: str, branch_id: str) -> None:
        """Wait until a turn that was left has ended: until then its branch takes no other."""
        while (run := self._active(branch_id)) is not None and run["latest_floor_id"] == floor_id:
            time.sleep(_PAUSE)

    def _active(self, branch_id: str) -> ActiveRun | None:
        return self._client.sessions.get_active_run(self.session_id, branch_id=branch_id)["active_run"]

    def _newest(self) -> TimelineFloor:
        floors = self._floors(1)
        if not floors:
            raise NothingYet("Nothing was said here yet.")
        return floors[0]

    def _floors(self, count: int) -> list[TimelineFloor]:
        """The newest floors of the branch, and of those it came from, the oldest of them first."""
        first = self._timeline(1, 0)
        total = first["meta"]["total"]
        wanted = first if total <= 1 else self._timeline(count, max(0, total - count))
        return wanted["data"]["floors"]

    def _timeline(self, limit: int, offset: int) -> ListOf[Timeline]:
        return self._client.sessions.get_timeline(
            self.session_id, branch_id=self.branch, include_ancestors=True, limit=limit, offset=offset
        )
