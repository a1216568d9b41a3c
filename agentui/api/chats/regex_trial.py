"""Trying regex scripts on a text. Nothing is kept, and no profile has to exist."""

from datetime import UTC, datetime
from time import perf_counter
from typing import Final

from aiohttp import web

from agentui.api.chats.protocol import data_answer, read_form, route
from agentui.assets.script import PLACEMENT_BY_NUMBER, BoundScript, RegexScript
from agentui.http.route import Route
from agentui.regexes.scripts import Channel, run_scripts
from agentui.regexes.search_time import SearchTime
from agentui.schemas.forms import Data
from agentui.schemas.regex_trial import RegexTestForm, TriedChannel, TriedScript, TriedText
from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import MacroScope
from agentui.threads import in_search_thread

TRIAL: Final = "trial"
"""Stands for a chat: trials of scripts wait for each other."""


async def test_scripts(request: web.Request) -> web.Response:
    """Run regex scripts over a text, in each of the four channels."""
    form = await read_form(request, RegexTestForm)
    return data_answer(await in_search_thread(lambda: _tried(form), TRIAL))


def _tried(form: RegexTestForm) -> TriedText:
    scripts = [BoundScript(RegexScript.of(each)) for each in form.scripts]
    placement = PLACEMENT_BY_NUMBER[form.placement]
    time = SearchTime()

    def tried(channel: Channel) -> TriedChannel:
        macros = MacroRun(MacroScope("preview", datetime.now(UTC), form.macros)).expand
        began = perf_counter()
        made = run_scripts(form.text, scripts, placement=placement, channel=channel, depth=form.depth, macros=macros, time=time)
        milliseconds = round((perf_counter() - began) * 1000, 3)
        return TriedChannel(
            made.text, milliseconds, [TriedScript(one.name, one.matches, one.skipped, one.error) for one in made.trace]
        )

    return TriedText(tried("persist"), tried("prompt"), tried("display"), tried("edit"))


ROUTES: tuple[Route, ...] = (
    route("POST", "/regex-profiles/test", test_scripts, Data[TriedText], 413, body=RegexTestForm, writes=False),
)
