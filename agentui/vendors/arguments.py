"""The arguments of tool calls as JSON text. No text at all and ``null``, which models write for functions that take nothing,
are an empty object: every SDK parses them and looks into what comes out."""

from dataclasses import dataclass


def whole_arguments(text: str) -> str:
    """A call's arguments, ``{}`` for none."""
    return "{}" if text.strip() in ("", "null") else text


@dataclass(slots=True)
class ArgumentPieces:
    """The arguments of one call while they stream: ``null`` is held back until it turns out to be something else."""

    _held: str = ""
    _has_begun: bool = False

    def feed(self, text: str) -> str:
        """What may be passed on of the arguments, given their next piece."""
        if self._has_begun:
            return text
        text = self._held + text
        lead = text.strip()
        if lead in ("", "null") or (text.endswith(lead) and "null".startswith(lead)):
            self._held = lead
            return ""
        self._has_begun, self._held = True, ""
        return text

    def close(self) -> str:
        """The arguments are over: what was held back, unless it means none."""
        held, self._held = self._held, ""
        return "" if held == "null" else held
