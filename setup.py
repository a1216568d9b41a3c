"""Adds one step to the build of a wheel: the page and the gallery, which stand at the top of the repository, go along."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = ("static", "pipelines", "presets")
ROOT = Path(__file__).resolve().parent


class BuildWithFolders(build_py):
    """Copies the folders to where ``agentui/shipped.py`` looks for them. An editable install finds them in the checkout."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "agentui" / "_shipped"
        # An earlier build may have left files that are gone since.
        shutil.rmtree(target, ignore_errors=True)
        for name in FOLDERS:
            # What the page's bundles are made of is for maintainers.
            ignored = shutil.ignore_patterns("build") if name == "static" else None
            shutil.copytree(ROOT / name, target / name, ignore=ignored)


setup(cmdclass={"build_py": BuildWithFolders})
