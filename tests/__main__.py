"""``python -m tests``: installs what the tests need (once) and runs the whole suite; arguments go to pytest.

The tests run in one process more than the machine has cores, because they often wait, but not in more than ``MOST``. ``-n 0``
runs them in one.
"""

import os
import subprocess
import sys

from agentui.bootstrap import ROOT, enter_environment

MOST = 4
"""Each process has a browser and a PostgreSQL of its own."""

if __name__ == "__main__":
    enter_environment("tests", "test")
    processes = ["-n", str(min(MOST, (os.cpu_count() or 1) + 1)), "--dist", "worksteal"]
    # Hundreds of programs are started: without their bytecode each would compile agentui anew, which is half of a start.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    sys.exit(subprocess.call([sys.executable, "-m", "pytest", *processes, *sys.argv[1:]], cwd=ROOT, env=environment))
