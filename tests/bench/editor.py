"""``python -m tests.bench.editor``: how long a first visit takes, and what moving nodes costs the browser's main thread, with
200 and with 1,000 nodes.

A first visit is one of a browser that has kept nothing, at 10 Mbit/s and 40 ms, until the canvas shows a node; the best of
five.

A real Chromium drags one node of a wired grid along a line, then all of them, one pointer event after the other. Reported per
move: all tasks of the main thread, the scripts among them, and layout with style, in milliseconds (Chromium's own counters);
and the frames a second. 16.7 ms a move are 60 frames a second. Measured at the drawing's own size, where people work and most
nodes are out of sight, and with everything fitted into the window, where all nodes are drawn as plain boxes.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import playwright.async_api as playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM, OWN_MODULES
from tests.conftest import call, servers

MOVES = 120
COUNTERS = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")

OPEN = """async ([count, columns]) => {
  const tabs = await own('state/tabs.js');
  const node = (number) => ({
    id: `n${number}`, type: number % 3 ? 'ProviderCall' : 'SetVars', title: `Node ${number}`,
    config: number % 3 ? {provider: 'openai', model: 'demo-small'} : {variables: [{name: 'A', value: '1'}]},
    position: {x: 320 * (number % columns), y: 120 * Math.floor(number / columns)},
  });
  const nodes = Array.from({length: count}, (_, number) => node(number));
  const edges = nodes.slice(1).map((one, number) => ({from: `n${number}`, to: one.id, from_port: 'done'}));
  tabs.newPipeline({format: 1, name: `${count} nodes`, nodes, edges});
}"""

CENTRE = """async (id) => {
  const {shown} = await own('canvas/stage.js');
  await shown.flow.fitView({nodes: [{id}], maxZoom: 1, padding: 1});
}"""

FRAMES = """() => {
  window.frames_seen = 0;
  const count = () => { window.frames_seen += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
}"""


ARRIVED = """new MutationObserver((_, observer) => {
  if (!document.querySelector('.react-flow__node-pipe')) return;
  window.arrived = performance.now();
  observer.disconnect();
}).observe(document, {childList: true, subtree: true})"""
VISITS = 5
LINE = {"offline": False, "latency": 40, "downloadThroughput": 10e6 / 8, "uploadThroughput": 10e6 / 8}


async def first_visit(browser: "playwright.Browser", origin: str) -> float:
    """Milliseconds until the canvas shows a node, over a slow line."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    await page.add_init_script(ARRIVED)
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    await session.send("Network.emulateNetworkConditions", LINE)
    await page.goto(origin + "/ui/", wait_until="commit")
    await page.locator(".react-flow__node-pipe").first.wait_for()
    arrived = await page.evaluate("() => window.arrived")
    await context.close()
    return float(arrived)


async def counters(session: "playwright.CDPSession") -> dict[str, float]:
    """Chromium's counters of the page so far, in seconds."""
    metrics = await session.send("Performance.getMetrics")
    return {metric["name"]: metric["value"] for metric in metrics["metrics"] if metric["name"] in COUNTERS}


async def drag(page: "playwright.Page", session: "playwright.CDPSession", id: str) -> dict[str, float]:
    """Drag a node; milliseconds of the main thread for each move, and the frames a second."""
    box = await page.locator(f'.react-flow__node[data-id="{id}"]').bounding_box()
    assert box is not None, f"{id} is not drawn."
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 8, y + 4)
    before, frames, began = await counters(session), await page.evaluate("frames_seen"), time.perf_counter()
    for number in range(MOVES):
        await page.mouse.move(x + 8 + number, y + 4 + number / 2)
    took = time.perf_counter() - began
    after, seen = await counters(session), await page.evaluate("frames_seen")
    await page.mouse.up()
    await page.keyboard.press("Control+z")
    spent = {name: (after[name] - before[name]) * 1000 / MOVES for name in COUNTERS}
    return {**spent, "frames": (seen - frames) / took}


def line(what: str, figures: dict[str, float]) -> str:
    """One row of the table."""
    layout = figures["LayoutDuration"] + figures["RecalcStyleDuration"]
    return f"{what:34}{figures['TaskDuration']:9.2f}{figures['ScriptDuration']:9.2f}{layout:9.2f}{figures['frames']:9.0f}"


async def measure(page: "playwright.Page", session: "playwright.CDPSession", count: int) -> list[str]:
    """Open a document of so many nodes, then drag in it at its own size and fitted."""
    columns = 20 if count < 500 else 40
    began = time.perf_counter()
    await page.evaluate(OPEN, [count, columns])
    await page.get_by_role("tab", name=f"{count} nodes").wait_for()
    await page.locator(".react-flow__node-pipe").first.wait_for()
    opened = (time.perf_counter() - began) * 1000
    await page.wait_for_timeout(1500)
    rows = [f"{count} nodes: drawn {opened:.0f} ms after opening"]
    middle = f"n{columns * (count // columns // 2) + columns // 2}"
    rows.append(line(f"{count} nodes, all in the window", await drag(page, session, middle)))
    await page.evaluate(CENTRE, middle)
    await page.wait_for_timeout(800)
    rows.append(line(f"{count} nodes, at their own size", await drag(page, session, middle)))
    await page.keyboard.press("Control+a")
    rows.append(line(f"all {count} nodes, at their own size", await drag(page, session, middle)))
    await page.keyboard.press("0")
    await page.wait_for_timeout(800)
    rows.append(line(f"all {count} nodes, in the window", await drag(page, session, middle)))
    return rows


async def main() -> None:
    """Print the table."""
    async with playwright.async_playwright() as engine:
        with tempfile.TemporaryDirectory() as folder:
            async with servers(Path(folder)) as start_server:
                server = await start_server({"default": call("openai", "demo")})
                browser = await engine.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
                visits = [await first_visit(browser, server.origin) for _ in range(VISITS)]
                print(f"first visit: the canvas after {min(visits):.0f} ms, the slowest of {VISITS} after {max(visits):.0f} ms")
                context = await browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
                await context.add_init_script(OWN_MODULES)
                page = await context.new_page()
                await page.add_init_script("localStorage.setItem('agentui.tour', 'declined')")
                await page.goto(server.origin + "/ui/")
                session: Any = await context.new_cdp_session(page)
                await session.send("Performance.enable")
                await page.locator(".react-flow__node-pipe").first.wait_for()
                await page.evaluate(FRAMES)
                print(f"{'ms of the main thread a move':34}{'all':>9}{'scripts':>9}{'layout':>9}{'frames/s':>9}")
                for count in (200, 1000):
                    for row in await measure(page, session, count):
                        print(row)
                await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
