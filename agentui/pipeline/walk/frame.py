"""What one walk over a plan sees and writes: the pipeline's own walk, and those of groups and pipelines inside it."""

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from agentui.jsonio import Json
from agentui.pipeline.context import MacroContext
from agentui.pipeline.incoming import Incoming
from agentui.pipeline.plans.plan import Plan
from agentui.pipeline.walk.budget import Allowance
from agentui.templating.core.weight import weight_within

LoopExit = Literal["break", "continue"]
"""How a node ends an iteration: the loop with it, or this one alone."""

_MAPPINGS = (dict, Mapping)
"""The kind that nearly all are first: asking an abstract class takes long."""


@dataclass(eq=False, slots=True)
class Frame:
    """One walk: the plan of its nodes, their OUT, and the variables that they see.

    ``path`` stands before the ids of its nodes in events and errors: "" at the top, ``loop1#3/`` inside. ``loop`` is what
    ``{{ loop.item }}`` and its like read, None outside of loops. The OUT of ``parent`` is seen below its own. All else (the
    stored variables, the deadline, the keys, the events) is the run's.
    """

    plan: Plan
    path: str = ""
    run_vars: Mapping[str, Json] = field(default_factory=dict)
    loop: Mapping[str, Json] | None = None
    parent: "Frame | None" = None
    out: dict[str, Json] = field(default_factory=dict, init=False)
    seen: Mapping[str, Json] = field(init=False)
    """OUT as templates read it: this walk's, else the parent's."""
    incoming: Incoming | None = None
    """The request that the nodes see: of the parent, else the run's, where none is given."""
    context: MacroContext | None = field(default=None, init=False)
    """The names of that request; None where it is the run's."""
    depth: int = 0
    """In how many pipelines that others call the walk stands."""
    allowance: Allowance | None = None
    """What its model calls may cost: of the walk around it where none is given, None where nobody limits them."""
    left_by: LoopExit | None = field(default=None, init=False)
    """How a node has ended the iteration that this walk is; None while none has."""
    answered_by: str | None = field(default=None, init=False)
    """The id of the node that has answered, or has begun to; None before that."""

    _weight: int = field(default=0, init=False)
    """What was weighed so far: the first variables, and OUT."""
    _unweighed: list[Json] = field(init=False)
    _received: list[Json] = field(default_factory=list, init=False)
    """OUT that came from upstreams and was not weighed either: how many bytes came is counted elsewhere."""

    def __post_init__(self) -> None:
        self._unweighed = [self.run_vars]
        if self.allowance is None and self.parent is not None:
            self.allowance = self.parent.allowance
        if self.parent is not None and self.incoming is None:
            self.incoming, self.context = self.parent.incoming, self.parent.context
        elif self.incoming is not None:
            self.context = MacroContext(self.incoming)
        self.seen = self.out if self.parent is None else ChainMap(self.out, cast(dict[str, Any], self.parent.seen))

    def set_out(self, node: str, out: Json, *, is_received: bool = False) -> None:
        """Keep a node's OUT, which nobody changes from here on; later nodes see its variables. ``is_received`` says that an
        upstream has sent it."""
        self.out[node] = out
        (self._received if is_received else self._unweighed).append(out)
        variables = out.get("vars") if isinstance(out, _MAPPINGS) else None
        if variables and isinstance(variables, _MAPPINGS):
            self.run_vars = {**self.run_vars, **variables}

    def weight_within(self, limit: int) -> int:
        """What templates see of nodes and variables weighs so much; of what is heavier than ``limit``, some weight beyond that.
        Every value is weighed once, and not before somebody asks."""
        if self._received:
            self._unweighed += self._received
            self._received.clear()
        above = 0 if self.parent is None else self.parent.weight_within(limit)
        return above + self.made_within(limit)

    def made_within(self, limit: int) -> int:
        """What the nodes of this walk made, and what they received as far as a template was to see it; as ``weight_within``."""
        while self._unweighed and self._weight <= limit:
            self._weight += weight_within(self._unweighed.pop(), limit)
        return self._weight

    def pin_of(self, node: str, pins: Mapping[str, Json]) -> str | None:
        """Under which id the OUT of a node is given: with its path, or in a loop its own, for every iteration; None where it is
        not."""
        id = self.path + node
        if id in pins:
            return id
        if "#" not in id:
            return None
        own = "/".join(step.partition("#")[0] for step in id.split("/") if "#" not in step)
        return own if own in pins else None

    @property
    def answer(self) -> Mapping[str, Json]:
        """The answering node's OUT, {} where it has none yet."""
        return {} if self.answered_by is None else self.out.get(self.answered_by, {})
