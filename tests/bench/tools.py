"""``python -m tests.bench.tools``: what one step of the tool loop costs beside the model, in milliseconds.

A step executes one call, with its schema check and its record, and writes the next request with the tools offered beside the
caller's own: measured for each dialect where the caller speaks the upstream's, which is the longer way. Reported are medians.
"""

import asyncio
from collections.abc import Mapping
from statistics import median
from time import perf_counter

from agentui.chat.messages import Message, ToolCall, text_message
from agentui.chat.request import ChatRequest
from agentui.jsonio import Json
from agentui.principal import DEFAULT_PRINCIPAL
from agentui.tools.catalog import Catalog
from agentui.tools.executor import Executor
from agentui.tools.permissions import CallBudget, Permissions
from agentui.tools.tool import CallPlace, HostedTool, ToolAnswer, ToolCallContext
from agentui.vendors.offering import offer
from agentui.vendors.registry import make_vendors

STEPS = 2000
TOOLS = 10
MESSAGES = 20
SCHEMA: dict[str, Json] = {"type": "object", "properties": {"sides": {"type": "integer"}}, "required": ["sides"]}


async def _roll(arguments: Mapping[str, Json], context: ToolCallContext) -> ToolAnswer:
    return ToolAnswer("4", {"total": 4})


async def measure(dialect: str) -> float:
    """The median of one step's milliseconds."""
    vendors = make_vendors()
    vendor = next(each for each in vendors.values() if each.name == dialect)
    said = tuple(text_message("assistant" if number % 2 else "user", "Some words. " * 20) for number in range(MESSAGES))
    plain = vendor.render_request(ChatRequest("agentui", "model", (*said, text_message("user", "Roll."))))
    chat = vendor.parse_request(plain)
    catalog = Catalog.of([HostedTool(f"roll_{number}", "Rolls.", SCHEMA, _roll, "dice") for number in range(TOOLS)])
    executor = Executor(catalog, Permissions(enabled=True), CallPlace(DEFAULT_PRINCIPAL, "run"), budget=CallBudget(STEPS))
    call = ToolCall("call_1", "roll_1", '{"sides": 6}')
    took = []
    for step in range(STEPS):
        began = perf_counter()
        (result,) = await executor.execute_all([call], step)
        more = (Message("assistant", (call,)), Message("tool", (result,)))
        asked = chat.asking((*chat.messages, *more), "model", stream=True)
        vendor.render_request(offer(vendor, asked, [tool.offered() for tool in executor.offered()], None))
        took.append(perf_counter() - began)
    return median(took) * 1000


async def main() -> None:
    """Measure every dialect."""
    for dialect in make_vendors():
        print(f"{dialect:20} {await measure(dialect):.3f} ms a step")


if __name__ == "__main__":
    asyncio.run(main())
