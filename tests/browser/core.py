"""How the tests of ``js/core`` run in a page: all modules at hand, the result back as JSON."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agentui.jsonio import Json

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Page

MODULES = (
    "bodies",
    "calls",
    "clipboard",
    "commands",
    "compare",
    "curl",
    "dialects",
    "doc",
    "estimate",
    "graph",
    "history",
    "holders",
    "i18n",
    "jsontext",
    "macros",
    "names",
    "ports",
    "provenance",
    "readable",
    "redact",
    "runlog",
    "schema",
    "search",
    "texts",
    "tiers",
    "walks",
)
"""What stands in ``static/js/core``; each is a variable of that name in the scripts of the tests."""

RANDOM = """
/** Numbers that look random and are the same every time (mulberry32). */
function randomFrom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (count) => Math.floor(next() * count);
  return {next, below, pick: (items) => items[below(items.length)]};
}
"""

Evaluate = Callable[..., Awaitable[Any]]
"""``await run("return 1 + arg", 2)``: what the body of an async function in the page gives back."""


def evaluator(page: "Page") -> Evaluate:
    """Runs scripts in a page that has nothing in it; one that makes the page complain fails."""
    complaints: list[str] = []

    def hear(message: "ConsoleMessage") -> None:
        # The browser asks every site for its icon, and this page is not one that could name it.
        if message.type in ("error", "warning") and not message.location["url"].endswith("/favicon.ico"):
            complaints.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    imports = "\n".join(f"const {name} = await import('/ui/js/core/{name}.js');" for name in MODULES)

    async def run(body: str, arg: Json = None) -> Any:
        result = await page.evaluate(f"async (arg) => {{ {imports} {RANDOM} {{ {body} }} }}", arg)
        assert complaints == []
        return result

    return run
