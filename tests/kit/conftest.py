"""A server whose chats are answered by the built-in demo model."""

import pytest

from agentui.demo import DemoServer
from tests.conftest import Server, StartServer, call


@pytest.fixture
async def kit_server(start_server: StartServer, demo: DemoServer) -> Server:
    """A server whose only pipeline asks the demo."""
    pipelines = {"default": call("openai", f"{demo.origin}/v1", model="demo-small")}
    return await start_server(pipelines, mcp_programs=True)
