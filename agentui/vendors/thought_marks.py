"""The mark on a thought that this proxy wrote into a caller's dialect for a model that speaks another one.

    agentui                                 nobody signed it
    agentui:<vendor>:<field>:<token>        its continuity token, whole

A caller gives the mark back as it gives back any signature (Claude's ``signature``, ``encrypted_content`` of Responses).
So the token finds its way home and never reaches a vendor that did not make it, and a thought without the mark is the
caller's own: its vendor gets it as it came, whatever its signature looks like.
"""

from agentui.chat.messages import Thinking

MARK = "agentui"


def mark_of(thought: Thinking) -> str:
    """The mark for a thought of another dialect."""
    if thought.signed_by is None:
        return MARK
    if thought.redacted is not None:
        return f"{MARK}:{thought.signed_by}:redacted:{thought.redacted}"
    return f"{MARK}:{thought.signed_by}:signature:{thought.signature or ''}"


def is_marked(signature: object) -> bool:
    """Whether a signature is a mark of ours."""
    return isinstance(signature, str) and (signature == MARK or signature.startswith(f"{MARK}:"))


def marked_thought(text: str, mark: str) -> Thinking:
    """The thought that a mark stands on, with the token that it carries."""
    match mark.split(":", 3):
        case [_, vendor, "signature", token]:
            return Thinking(text, token, None, vendor)
        case [_, vendor, "redacted", token]:
            return Thinking(text, None, token, vendor)
    return Thinking(text)
