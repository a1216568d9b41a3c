"""Live turns: say something in a chat and hear the answer, once more, or otherwise.

A turn is answered as a whole or as a stream of events; both are the same turn. What cannot begin is told by a status; a stream
whose body and target are right has begun, and tells everything else by an event ``error``.
"""

import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from aiohttp import web

from agentui.api.chats.listeners import StreamListener, WholeListener
from agentui.api.chats.prompt_runtime import ROUTES as PROMPT_ROUTES
from agentui.api.chats.prompt_runtime import check_pipeline
from agentui.api.chats.protocol import (
    BODY,
    account_of,
    data_answer,
    invalid,
    path_id,
    read,
    read_document,
    read_form,
    route,
    validate,
)
from agentui.api.keys import ENGINE, LIVE, TURNS
from agentui.api.proxy.detached import complete
from agentui.api.proxy.incoming import caller_key
from agentui.api.proxy.repeats import claim_for, replay
from agentui.api.proxy.targets import HttpTarget, Recorder, Tee
from agentui.chats.messages import find_message
from agentui.chats.parts import Content
from agentui.chats.rows import find_floor, find_session
from agentui.chats.state.limits import rendered
from agentui.chats.state.records import Key, Write
from agentui.errors import AgentUIError
from agentui.http.credentials import OWN_KEYS, without_own_keys
from agentui.http.guard import RUN_REDACTOR
from agentui.http.keys import PRINCIPAL, REDACTOR, SETTINGS
from agentui.http.limits import LIMITS
from agentui.http.route import EVENT_STREAM, Route
from agentui.http.writing import send_whole
from agentui.pipeline.walk.executor import INTERNAL
from agentui.prompt.prepared import PromptIntent
from agentui.prompt.report import dry_run_document
from agentui.schemas.forms import Data
from agentui.schemas.live import (
    DryRun,
    DryRunForm,
    EditForm,
    LiveForm,
    RegenerateForm,
    Respond,
    RespondForm,
    RetryForm,
)
from agentui.threads import in_thread
from agentui.turns.live.request import Checks, LiveRequest, PromptRequest
from agentui.turns.repeats import HEADER
from agentui.turns.request import TurnRequest

log = logging.getLogger("agentui.turns")

_ENTITY = frozenset({"accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "cookie",
                     "host", "idempotency-key", "transfer-encoding"})  # fmt: skip
"""Headers that are about this exchange, and not about the conversation that a pipeline is asked."""


async def respond(request: web.Request) -> web.StreamResponse:
    """Say something in a session, and answer with the committed reply. Without a message the character speaks again; with the
    intent ``impersonate`` the answer is a draft of what the user may say next, and nothing is kept."""
    return await _answer(request, _respond, WholeListener)


async def respond_stream(request: web.Request) -> web.StreamResponse:
    """Say something in a session, and stream the reply as events. Without a message the character speaks again; with the intent
    ``impersonate`` a draft of what the user may say next is streamed, and nothing is kept."""
    return await _answer(request, _respond, StreamListener)


async def regenerate(request: web.Request) -> web.StreamResponse:
    """Generate the newest floor of a branch anew; the old one is superseded."""
    return await _answer(request, _regenerate, WholeListener)


async def regenerate_stream(request: web.Request) -> web.StreamResponse:
    """Generate the newest floor of a branch anew, as events."""
    return await _answer(request, _regenerate, StreamListener)


async def retry(request: web.Request) -> web.StreamResponse:
    """Generate another version of a floor's answer; the older ones stay, inactive."""
    return await _answer(request, _retry, WholeListener)


async def retry_stream(request: web.Request) -> web.StreamResponse:
    """Generate another version of a floor's answer, as events."""
    return await _answer(request, _retry, StreamListener)


async def edit(request: web.Request) -> web.StreamResponse:
    """Say a message of the user's otherwise, and go on from there on a branch of its own."""
    return await _answer(request, _edit, WholeListener)


async def edit_stream(request: web.Request) -> web.StreamResponse:
    """Say a message of the user's otherwise, and go on from there as events."""
    return await _answer(request, _edit, StreamListener)


async def dry_run(request: web.Request) -> web.StreamResponse:
    """Make the prompt of a turn that is not taken: nothing is sent, and nothing is kept."""
    await check_pipeline(request)
    id, document = path_id(request), await read_document(request)
    if "session_state_writes" in document:
        raise _writes_nothing("a dry run writes nothing")
    form = validate(DryRunForm, document)
    place = form.branch_id, form.source_floor_id
    asked = PromptRequest(account_of(request), id, form.message, *place, intent=form.prompt_intent, policy=form.policy)
    # The contract's code here, where all other ways to ask for a prompt say session_not_found (tavern-api-2 part 1.19).
    found = await request.app[LIVE].look(asked, unknown="not_found")
    shows_matches = form.debug_options.include_worldbook_matches
    return data_answer(
        await in_thread(lambda: dry_run_document(found.prepared, found.bundle.ids(), with_matches=shows_matches))
    )


def _writes_nothing(message: str) -> AgentUIError:
    """Why ``session_state_writes`` are refused."""
    return invalid(
        f"{message[0].upper()}{message[1:]}.", [{"path": "/session_state_writes", "message": message, "code": "custom"}]
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A live turn as its caller asks for it. ``check`` raises where what it is about does not exist."""

    live: LiveRequest
    check: Callable[[], Awaitable[object]]


async def _respond(request: web.Request) -> _Asked:
    id, form = path_id(request), await read_form(request, RespondForm, optional=True)
    if form.prompt_intent == "impersonate" and form.session_state_writes:
        raise _writes_nothing("a draft of the user's words writes nothing")
    said = None if form.message is None else Content(form.message)
    turn = _turn(request, form, session=id, branch=form.branch_id, user=said, source_floor_id=form.source_floor_id)
    # Seed 002's table has not_found. TavernHeadless was recorded with this code on this route, and its clients look for it
    # (spec: tavern-api parts 13 and 14).
    check = partial(read, request, find_session, id, code="session_not_found")
    return _Asked(_live(request, form, turn, form.prompt_intent), check)


async def _regenerate(request: web.Request) -> _Asked:
    id, form = path_id(request), await read_form(request, RegenerateForm, optional=True)
    turn = _turn(request, form, kind="regenerate_page", session=id, branch=form.branch_id, confirmed=form.confirmed)
    check = partial(read, request, find_session, id, code="session_not_found")
    return _Asked(_live(request, form, turn, "regenerate"), check)


async def _retry(request: web.Request) -> _Asked:
    id, form = path_id(request), await read_form(request, RetryForm, optional=True)
    turn = _turn(request, form, kind="retry_turn", target_floor_id=id, confirmed=form.confirmed)
    check = partial(read, request, find_floor, id, code="floor_not_found")
    return _Asked(_live(request, form, turn, form.prompt_intent), check)


async def _edit(request: web.Request) -> _Asked:
    id, form = path_id(request), await read_form(request, EditForm)
    said = Content(form.content)
    place = {"branch": form.branch_id, "source_message_id": id}
    turn = _turn(request, form, kind="edit_and_regenerate", user=said, **place, confirmed=form.confirmed)
    return _Asked(_live(request, form, turn), partial(read, request, find_message, id, code="message_not_found"))


def _turn(request: web.Request, form: LiveForm, **wanted: Any) -> TurnRequest:
    """A turn as all of these want it. Raises 409 ``session_state_payload_too_large``."""
    run_id = request.app[ENGINE].new_run_id()
    return TurnRequest(account_of(request), run_id, must_exist=True, state_writes=_state_writes(form), **wanted)


def _live(request: web.Request, form: LiveForm, turn: TurnRequest, intent: PromptIntent = "normal") -> LiveRequest:
    """What every live turn is told alike."""
    config, debug = form.config, form.debug_options
    headers = without_own_keys(request[OWN_KEYS], {name.lower(): value for name, value in request.headers.items()})
    key = caller_key(headers, {})
    return LiveRequest(
        request[PRINCIPAL],
        turn,
        intent=intent,
        pipeline=request.match_info.get("pipeline") or headers.get("x-agentui-pipeline"),
        params=form.generation_params.given,
        policy=form.policy,
        checks=Checks(
            director=bool(config.enableDirector),
            verifier=bool(config.enableVerifier),
            fail_strategy=config.verifierFailStrategy or "warn",
            max_retries=1 if config.maxRetries is None else config.maxRetries,
        ),
        headers={name: value for name, value in headers.items() if name not in _ENTITY and not _is_ours(name)},
        api_key=key,
        tools=bool(config.enableTools),
        tool_mode=config.toolMode or "inline",
        asks_memory=config.enableMemoryConsolidation,
        shows_snapshot=debug.include_prompt_snapshot,
        shows_trace=debug.include_runtime_trace,
        shows_matches=debug.include_worldbook_matches,
    )


def _state_writes(form: LiveForm) -> tuple[Write, ...]:
    """What the turn writes to the Session State, as it is kept. Raises 409 ``session_state_payload_too_large``."""
    return tuple(
        Write(
            Key(each.namespace, each.slot),
            None if each.delete else rendered(each.value, f"/session_state_writes/{number}/value"),
        )
        for number, each in enumerate(form.session_state_writes)
    )


def _is_ours(name: str) -> bool:
    return name.startswith("x-agentui-") and name != "x-agentui-hops"


async def _answer(
    request: web.Request, ask: Callable[[web.Request], Awaitable[_Asked]], kind: type[WholeListener] | type[StreamListener]
) -> web.StreamResponse:
    """Generate what is asked for, and answer as a whole or while it happens. A request with an Idempotency-Key goes on when its
    caller leaves, and is answered once."""
    app = request.app
    settings, limits = app[SETTINGS], app[LIMITS]
    limits.check_rate(request)
    with limits.under_way():
        asked = await ask(request)
        if kind is StreamListener:
            await asked.check()
            if asked.live.pipeline is not None:
                await app[LIVE].choice.ready(request[PRINCIPAL], asked.live.pipeline)
                app[LIVE].choice.check(request[PRINCIPAL], asked.live.pipeline)
        caller = HttpTarget(request, settings)
        key = request.headers.get(HEADER)
        if key is not None:
            claim = claim_for(request, key, request.get(BODY, b""), request.headers.get("x-agentui-pipeline", ""))
            saved = await app[TURNS].answered(account_of(request), claim)
            if saved is not None:
                return await replay(request, saved)
            await _generate_once(request, asked.live.claimed(claim), caller, kind)
        else:
            try:
                await _generate(request, asked.live, kind(request, caller, None))
            finally:
                caller.leave()
        assert caller.response is not None
        return await send_whole(request, caller.response, settings.write_timeout)


async def _generate_once(
    request: web.Request, live: LiveRequest, caller: HttpTarget, kind: type[WholeListener] | type[StreamListener]
) -> None:
    """Generate what goes on when its caller leaves."""
    recorder = Recorder()
    tee = Tee(caller, recorder)
    listener = kind(request, tee, recorder)
    await complete(request, _generate(request, live, listener), tee, lambda: listener.run, lambda: listener.is_open)


async def _generate(request: web.Request, live: LiveRequest, listener: WholeListener | StreamListener) -> None:
    """Generate a turn. What goes wrong in a stream is told inside it; else this raises what ``LiveTurns.generate`` does."""
    if isinstance(listener, WholeListener):
        await request.app[LIVE].generate(live, listener)
        return
    await listener.open()
    try:
        await request.app[LIVE].generate(live, listener)
    except AgentUIError as error:
        await listener.fail(error)
    except ConnectionError:
        raise
    except Exception:  # noqa: BLE001  the stream has begun, so nobody else could tell its reader
        redactor = request.get(RUN_REDACTOR, request.app[REDACTOR])
        log.error("A turn failed by a fault of agentui itself\n%s", redactor.redact(traceback.format_exc()))
        await listener.fail(AgentUIError(str(INTERNAL["message"])))


def _routes() -> Iterator[Route]:
    errors = (404, 409, 413, 422, 502, 503, 504)
    for path, whole, stream, form, is_optional in (
        ("/sessions/{id}/respond", respond, respond_stream, RespondForm, True),
        ("/sessions/{id}/regenerate", regenerate, regenerate_stream, RegenerateForm, True),
        ("/floors/{id}/retry", retry, retry_stream, RetryForm, True),
        ("/messages/{id}/edit-and-regenerate", edit, edit_stream, EditForm, False),
    ):
        fields: dict[str, Any] = {"body": form, "body_optional": is_optional}
        yield route("POST", path, whole, Data[Respond], *errors, **fields)
        yield route("POST", f"{path}/stream", stream, str, *errors, content_type=EVENT_STREAM, **fields)


_TURNS = tuple(_routes())
_DRY_RUN = route("POST", "/sessions/{id}/respond/dry-run", dry_run, Data[DryRun], 409, 413, body=DryRunForm, writes=False)
ROUTES: tuple[Route, ...] = (
    *_TURNS,
    _DRY_RUN,
)
PIPELINE_ROUTES: tuple[Route, ...] = tuple(
    replace(each, path=f"/p/{{pipeline}}{each.path}") for each in (*_TURNS, _DRY_RUN, *PROMPT_ROUTES)
)
"""The turns, and what tells of their prompts, once more below the name of the pipeline that answers them."""
