"""Where memories stand in the order of a preset: at its marker ``memory``, else behind its first prompt and in the chat."""

from agentui.assets.preset import DEFAULT_ORDER
from agentui.chat.messages import Message, Text
from agentui.prompt.drafts import Draft
from agentui.prompt.macros import PromptMacros
from agentui.prompt.memory import MACROS, MEMORY, PromptMemory
from agentui.prompt.ordered.frame import HISTORY, Frame
from agentui.prompt.ordered.injections import Injection


def place_memory(memory: PromptMemory, frame: Frame, macros: PromptMacros) -> None:
    """Put them into the frame, unless they stand in it: by a marker, or because a text has one of the macros."""
    if MEMORY in frame.slots or MEMORY in frame.in_chat or not MACROS.isdisjoint(macros.report.used):
        return
    is_within = memory.place == "chat"
    head = memory.pinned_text if is_within else memory.text
    if head:
        draft = Draft("memoryPinned" if is_within else MEMORY, MEMORY, MEMORY, Message("system", (Text(head),)))
        place = next((name for name, drafts in frame.slots.items() if drafts and name != HISTORY), None)
        if place is None:
            frame.slots = {MEMORY: [draft], **frame.slots}
        else:
            frame.slots[place].append(draft)
    if is_within and memory.recalled:
        # Of an order of its own: what stands at the same depth for longer is not joined with it. The user's, for vendors that
        # know one system text would move a system message to the top, where it would change all that they have cached.
        text, order = memory.recalled_text, DEFAULT_ORDER - 1
        frame.injections.append(Injection(MEMORY, MEMORY, text, "user", memory.depth, order, group=MEMORY))
