"""The tool that tells the time."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agentui.errors import BadRequest
from agentui.jsonio import Json
from agentui.tools.builtin.answers import answered, parameters
from agentui.tools.tool import HostedTool, ToolAnswer, ToolCallContext


def get_time(now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> HostedTool:
    """The tool that tells the time; ``now`` is the clock. ``{"timezone": "Asia/Tokyo"}`` gives ``{"iso", "timezone",
    "weekday", "unix_ms"}``; without a zone it is the server's own."""

    async def tell(arguments: Mapping[str, Json], _: ToolCallContext) -> ToolAnswer:
        name, moment = arguments.get("timezone"), now()
        told = moment.astimezone() if name is None else moment.astimezone(_zone(name))
        milliseconds = round(moment.timestamp() * 1000)
        facts = {"iso": told.isoformat(timespec="seconds"), "timezone": name or str(told.tzinfo), "weekday": f"{told:%A}"}
        return answered({**facts, "unix_ms": milliseconds})

    zone = {"type": "string", "description": "An IANA name such as Europe/Berlin or UTC.", "maxLength": 64}
    return HostedTool(
        name="get_time",
        description="Tell the date, the time and the day of the week as they are now.",
        parameters=parameters({"timezone": zone}),
        handler=tell,
        group="time",
    )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # a name may lead out of the folder, or to one
        raise BadRequest(
            f"There is no time zone {name[:64]!r}. Use an IANA name such as Europe/Berlin.", param="timezone"
        ) from error
