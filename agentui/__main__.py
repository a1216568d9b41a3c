"""``python -m agentui``: sets itself up where packages are missing, then does what the command line says.

Started as a file or a folder (a double click, ``python agentui``) it starts the demo.
"""

import gc
import sys
from pathlib import Path


def main() -> None:
    """Enter the environment, then the command line."""
    if not __package__:
        sys.path[0] = str(Path(__file__).resolve().parent.parent)
        if len(sys.argv) == 1:
            sys.argv.append("demo")
    from agentui.bootstrap import enter_environment

    # The chat in the terminal has packages of its own, which a server does without.
    enter_environment("agentui", "chat" if sys.argv[1:2] == ["chat"] else None)
    # What imports make stays; looking for garbage in it takes a seventh of a start.
    gc.disable()
    from agentui.cli import main as run

    gc.enable()
    sys.exit(run())


if __name__ == "__main__":
    main()
