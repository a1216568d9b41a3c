"""What regex scripts make of a text before it is kept: of what the user says, and of what the model answers."""

from datetime import datetime

from agentui.assets.script import ScriptPlacement
from agentui.library.bundles import Bundle
from agentui.prompt.macros import text_member
from agentui.regexes.scripts import Channel, run_scripts
from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import MacroScope
from agentui.threads import in_thread


async def rewritten(bundle: Bundle, text: str, placement: ScriptPlacement, channel: Channel) -> str:
    """The newest text of a chat as it is kept: after the scripts that are for it, as it was where they leave nothing of it.

    Macros in scripts read names; what they would write is kept nowhere. Scripts may take long, so they run in a thread.
    """
    scripts = bundle.assets.scripts
    if not any(placement in bound.script.placements for bound in scripts):
        return text
    scope = MacroScope("assemble", datetime.now().astimezone(), values=_names(bundle))

    def run() -> str:
        expand = MacroRun(scope).expand
        made = run_scripts(text, scripts, placement=placement, channel=channel, depth=0, macros=expand).text
        return made.replace("\0", "\ufffd") if made.strip() else text  # PostgreSQL keeps no U+0000

    return await in_thread(run)


def _names(bundle: Bundle) -> dict[str, str]:
    """``{{char}}`` and ``{{user}}`` of a session."""
    snapshots = (bundle.bindings.get(f"{each}_snapshot") or {} for each in ("character", "user"))
    char, user = (text_member(snapshot, "name") for snapshot in snapshots)
    if bundle.assets.character is not None:
        char = bundle.assets.character.spoken_name
    return {"char": char or "Assistant", "user": user or "User"}
