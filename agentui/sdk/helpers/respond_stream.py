"""The events of a live turn, put together to what a page shows while it is generated."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NotRequired, TypedDict

from agentui.sdk.helpers.appended import Appended
from agentui.sdk.helpers.fields import number, record, text
from agentui.sdk.helpers.tools import TERMINAL_PHASES
from agentui.sdk.helpers.usage import resolve_usage

Status = Literal["idle", "streaming", "done", "error"]
_FAILED = "Stream request failed"


class RespondStreamError(TypedDict):
    """Why a turn failed; ``code`` is there where the server said one."""

    code: NotRequired[str]
    message: str


class RespondStreamWarning(TypedDict):
    """A call of a tool of which a person should know before the turn is generated once more."""

    code: str
    execution_id: str
    tool_name: str
    message: str


class RespondStreamResult(TypedDict):
    """A turn that was committed; the last three members as the server sent them, where it did."""

    branch_id: str | None
    final_state: str | None
    floor_id: str | None
    floor_no: int | None
    generated_text: str
    summaries: list[str]
    total_usage: Mapping[str, object]
    input_tokens: int
    output_tokens: int
    total_tokens: int
    memory: NotRequired[object]
    prompt_snapshot: NotRequired[object]
    runtime_trace: NotRequired[object]


@dataclass(frozen=True, slots=True)
class RespondStreamState:
    """A live turn so far: ``idle``, then ``streaming``, then ``done`` or ``error``, which are the end.

    ``run`` is the newest run event, ``result`` the turn as it was committed (``done``), ``error`` why it was not (``error``).
    """

    status: Status = "idle"
    branch_id: str | None = None
    floor_id: str | None = None
    floor_no: int | None = None
    run: Mapping[str, object] | None = None
    result: RespondStreamResult | None = None
    error: RespondStreamError | None = None
    pieces: Appended[str] = field(default_factory=Appended)
    """What ``content`` is made of."""
    told: Appended[str] = field(default_factory=Appended)
    """What ``summaries`` are made of."""
    calls: Appended[Mapping[str, object]] = field(default_factory=Appended)
    """What ``tool_events`` are made of."""

    @property
    def content(self) -> str:
        """The words that have arrived; of a turn that is done those that were kept."""
        return "".join(self.pieces)

    @property
    def summaries(self) -> list[str]:
        """The summaries that have arrived."""
        return list(self.told)

    @property
    def tool_events(self) -> list[Mapping[str, object]]:
        """Every event of a tool, in order."""
        return list(self.calls)

    @property
    def active_tools(self) -> dict[str, Mapping[str, object]]:
        """The newest event of every call that has not ended, by its id."""
        active: dict[str, Mapping[str, object]] = {}
        ended: set[str] = set()
        for event in self.calls:
            id = str(event["execution_id"])
            if event.get("phase") in TERMINAL_PHASES:
                ended.add(id)
                active.pop(id, None)
            elif id not in ended:
                active[id] = event
        return active

    @property
    def warnings(self) -> list[RespondStreamWarning]:
        """What is to be known of the calls that ended: one whose outcome nobody knows, and those that must not be made again
        without asking."""
        return [warning for event in self.calls if (warning := _warning(event)) is not None]


def create_initial_respond_stream_state() -> RespondStreamState:
    """The state before the first event."""
    return RespondStreamState()


def reduce_respond_stream(state: RespondStreamState, event: Mapping[str, object]) -> RespondStreamState:
    """The state after one more event (``{"type": ..., "payload": ...}``, as the client's streams give them).

    The given state stays as it is. Events that nobody knows change nothing, nor does anything behind ``done`` or ``error``; a
    payload that lacks something is taken for what it has. All events of a turn together cost what they are long.
    """
    if state.status in ("done", "error"):
        return state
    payload = record(event.get("payload"))
    match event.get("type"):
        case "start":
            return replace(_placed(state, payload), status="streaming")
        case "chunk":
            return replace(state, status="streaming", pieces=state.pieces.plus(text(payload.get("chunk")) or ""))
        case "run":
            return _run(state, payload)
        case "summary":
            return replace(state, status="streaming", told=state.told.plus(*_summaries(payload)))
        case "tool" if text(payload.get("execution_id")):
            return replace(state, status="streaming", calls=state.calls.plus(payload))
        case "error":
            return _failed(state, payload)
        case "done":
            return _done(state, payload)
    return state


def _placed(state: RespondStreamState, payload: Mapping[str, object]) -> RespondStreamState:
    """The state with the turn's place, as far as it is said."""
    return replace(
        state,
        branch_id=text(payload.get("branch_id")) or state.branch_id,
        floor_id=text(payload.get("floor_id")) or state.floor_id,
        floor_no=state.floor_no if (no := number(payload.get("floor_no"))) is None else no,
    )


def _run(state: RespondStreamState, run: Mapping[str, object]) -> RespondStreamState:
    """What a run event holds as pending is all that has arrived of its attempt: another attempt begins anew."""
    heard = text(record(run.get("pending_output")).get("text"))
    pieces = state.pieces if heard is None else Appended[str]().plus(heard)
    return replace(_placed(state, run), status="streaming", run=run, pieces=pieces)


def _failed(state: RespondStreamState, payload: Mapping[str, object]) -> RespondStreamState:
    error: RespondStreamError = {"message": text(payload.get("message")) or _FAILED}
    if (code := text(payload.get("code"))) is not None:
        error["code"] = code
    return replace(state, status="error", error=error)


def _done(state: RespondStreamState, payload: Mapping[str, object]) -> RespondStreamState:
    """The end; what the event leaves out is what has arrived before."""
    placed = _placed(state, payload)
    kept = text(payload.get("generated_text"))
    pieces = placed.pieces if kept is None else Appended[str]().plus(kept)
    summaries = _summaries(payload)
    told = Appended[str]().plus(*summaries) if summaries else placed.told
    usage = resolve_usage(record(payload.get("total_usage")))
    result: RespondStreamResult = {
        "branch_id": placed.branch_id,
        "final_state": text(payload.get("final_state")),
        "floor_id": placed.floor_id,
        "floor_no": placed.floor_no,
        "generated_text": "".join(pieces),
        "summaries": list(told),
        "total_usage": record(payload.get("total_usage")),
        "input_tokens": usage["input_tokens"],
        "output_tokens": usage["output_tokens"],
        "total_tokens": usage["total_tokens"],
    }
    if payload.get("memory") is not None:
        result["memory"] = payload["memory"]
    if payload.get("prompt_snapshot") is not None:
        result["prompt_snapshot"] = payload["prompt_snapshot"]
    if payload.get("runtime_trace") is not None:
        result["runtime_trace"] = payload["runtime_trace"]
    return replace(placed, status="done", result=result, pieces=pieces, told=told)


def _summaries(payload: Mapping[str, object]) -> list[str]:
    said = payload.get("summaries")
    return [each for each in said if isinstance(each, str)] if isinstance(said, list) else []


def _warning(event: Mapping[str, object]) -> RespondStreamWarning | None:
    """What an event of a tool warns of. At its start nothing is known of a call, and so nothing is said."""
    phase, safety = event.get("phase"), event.get("replay_safety")
    if phase not in TERMINAL_PHASES:
        return None
    if phase == "uncertain" or safety == "uncertain":
        code, default = "tool_execution_uncertain", "Nobody knows whether this call was done."
    elif phase in ("success", "timeout") and safety == "never_auto_replay":
        code, default = "tool_never_auto_replay", "This call must not be made once more."
    elif phase in ("success", "timeout") and safety == "confirm_on_replay":
        code, default = "tool_confirm_on_replay", "Generating this turn again asks before it makes this call once more."
    else:
        return None
    return {
        "code": code,
        "execution_id": text(event.get("execution_id")) or "",
        "tool_name": text(event.get("tool_name")) or "",
        "message": text(event.get("message")) or default,
    }
