"""Clocks for working variables."""

from itertools import count

from agentui.tools.vars.system import VariableSystem


def system(*, capacity: int = 1000, total: int = 8 * 1024 * 1024) -> VariableSystem:
    """An empty system whose clock moves on by a millisecond with every look."""
    return VariableSystem(now=count(1).__next__, capacity=capacity, total=total)
