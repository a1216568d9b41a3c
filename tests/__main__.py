"""``python -m tests``: installs what the tests need (once) and runs the whole suite; arguments go to pytest."""

import subprocess
import sys

from agentui.bootstrap import ROOT, enter_environment

if __name__ == "__main__":
    enter_environment("tests", "test")
    sys.exit(subprocess.call([sys.executable, "-m", "pytest", *sys.argv[1:]], cwd=ROOT))
