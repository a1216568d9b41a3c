"""The built-in demo: a small server on loopback that speaks the vendors' dialects without a key or a network."""

from agentui.demo.server import DemoServer, DemoSettings, create_demo_app, start_demo

__all__ = ["DemoServer", "DemoSettings", "create_demo_app", "start_demo"]
