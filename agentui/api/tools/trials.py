"""``POST /tools/test``: one call of any tool, outside of any turn."""

from dataclasses import dataclass, replace
from functools import partial

from aiohttp import web

from agentui.api.chats.protocol import account_of, data_answer, now_ms, read, read_form, route
from agentui.api.keys import LIVE, SERVICES
from agentui.assets.bundle import PromptAssets
from agentui.chat.messages import ToolCall
from agentui.chats.records import MAIN
from agentui.chats.tools.permissions import permissions_of, read_permissions
from agentui.http.keys import PRINCIPAL, REDACTOR
from agentui.http.route import Route
from agentui.jsonio import dumps_text
from agentui.principal import Principal
from agentui.schemas.forms import Data
from agentui.schemas.tools import ToolTrial, ToolTried, TrialForm
from agentui.threads import in_thread
from agentui.tools.builtin import builtin_tools
from agentui.tools.catalog import Catalog
from agentui.tools.errors import UnknownTool
from agentui.tools.execution import Execution
from agentui.tools.executor import Executor, Surroundings
from agentui.tools.permissions import Permissions
from agentui.tools.tool import ALL_SLOTS, CallPlace, HostedTool
from agentui.turns.live.looking import look_at
from agentui.turns.request import ChatFacts, Reach
from agentui.variables.staging import Staged


async def try_tool(request: web.Request) -> web.Response:
    """Call a tool once by its name, with what a chat's next turn would see where a session is named. Nothing is recorded, and
    what the call stages is dropped; what cannot be undone is called only where the caller allows it."""
    form = await read_form(request, TrialForm)
    around = _nowhere(request[PRINCIPAL]) if form.session_id is None else await _chat(request, form.session_id, form.branch_id)
    own = builtin_tools(lambda: around.staged, lambda: around.assets, around.permissions.default_write_intent)
    tool = Catalog.of((*own, *await request.app[SERVICES].tools.catalog(account_of(request)))).get(form.name)
    if tool is None:
        raise UnknownTool(
            f"There is no tool named {form.name!r}: GET /tools/builtin and a session's tool-catalog name those there are.",
            selector=form.name,
        )
    return data_answer(await tried(request, tool, form, around.place))


@dataclass(frozen=True, slots=True)
class _Around:
    """What a tool finds when it is tried."""

    staged: Staged
    assets: PromptAssets
    permissions: Permissions
    place: CallPlace


def _nowhere(principal: Principal) -> _Around:
    """Without a chat: a buffer of its own for each call, for what one stages is nothing to the next."""
    return _Around(Staged({}, now=now_ms), PromptAssets(), Permissions(), CallPlace(principal, ""))


async def _chat(request: web.Request, session_id: str, branch_id: str | None) -> _Around:
    """What the next turn of a branch would see. Raises as ``look_at`` does."""
    look = await read(request, look_at, session_id, branch_id, None, _no_history)
    said = await read(request, read_permissions, look.session.id)
    bundle = await request.app[LIVE].bundles.load(account_of(request), look.facts.bindings)
    place = CallPlace(request[PRINCIPAL], "", look.session.id, branch_id or MAIN)
    return _Around(Staged(look.layers, now=now_ms), bundle.assets, permissions_of(said), place)


def _no_history(_: ChatFacts) -> Reach:
    """Tools are told nothing of what was said."""
    return Reach(0)


class _Heard:
    """Keeps how the one call of a trial ended."""

    def __init__(self) -> None:
        self.ended: Execution | None = None

    async def started(self, execution: Execution) -> None:
        """Nothing is recorded of a trial."""

    async def finished(self, execution: Execution) -> None:
        self.ended = execution


async def tried(request: web.Request, tool: HostedTool, form: ToolTrial, place: CallPlace) -> ToolTried:
    """Call a tool at a place of a chat ("" for none) and tell how that ended."""
    # Who tries a tool stands in no slot of a chat.
    tool = replace(tool, slots=ALL_SLOTS)
    heard = _Heard()
    around = Surroundings(listeners=(heard,), redact=request.app[REDACTOR].redact_json)
    permissions = Permissions(enabled=True, allow_irreversible=form.allow_irreversible)
    executor = Executor(Catalog.of((tool,)), permissions, place, around)
    arguments = await in_thread(partial(dumps_text, form.arguments))
    await executor.execute(ToolCall("trial", tool.name, arguments))
    ended = heard.ended
    assert ended is not None  # a budget of one call is told of once
    return ToolTried(ended.status, ended.error_code, ended.result_text, ended.result, ended.is_truncated, ended.duration_ms)


ROUTES: tuple[Route, ...] = (
    route("POST", "/tools/test", try_tool, Data[ToolTried], 404, 409, 422, body=TrialForm, writes=False),
)
