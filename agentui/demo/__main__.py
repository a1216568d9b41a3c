"""``python -m agentui.demo [--port 8765]``: serve the demo until interrupted."""

import argparse
import asyncio

from agentui.demo.server import DemoSettings, start_demo


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m agentui.demo", description="A demo of the vendors' APIs, without a key.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8765, help="port to listen on, 0 for a free one (default: %(default)s)")
    parser.add_argument(
        "--delay", type=float, default=DemoSettings().delay, help="seconds between words (default: %(default)s)"
    )
    options = parser.parse_args()
    try:
        asyncio.run(_serve(options.host, options.port, DemoSettings(options.delay)))
    except KeyboardInterrupt:
        print("\nThe demo has ended.")


async def _serve(host: str, port: int, settings: DemoSettings) -> None:
    """Serve until cancelled."""
    server = await start_demo(host, port, settings)
    print(f"The demo listens on {server.origin}. Press Ctrl+C to end it.")
    try:
        await asyncio.Event().wait()
    finally:
        await server.close()


if __name__ == "__main__":
    main()
