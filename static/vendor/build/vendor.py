"""
Make the bundles in ``static/vendor`` anew: ``python static/vendor/build/vendor.py [--relock]``. For maintainers: the bundles
are committed, so that nobody else needs this, Node, or a network.

It installs what ``package.json`` pins, exactly as ``deno.lock`` has it, into a folder that is thrown away; bundles each entry
file with the pinned esbuild; and writes the bundles, React Flow's style sheet, ``VENDOR.json`` and ``LICENSES.txt``, and
axe-core for the browser tests into ``tests/browser/vendor``. A second run changes no byte.

To take a newer version of a package: change its pin in ``package.json`` and run with ``--relock``, which resolves the versions
afresh and rewrites ``deno.lock``.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolchain import BUILD, CONFIG, ToolMissing, run_deno

VENDOR = BUILD.parent
TESTS = VENDOR.parent.parent / "tests" / "browser" / "vendor"
BUNDLES = ("codemirror", "eventsource", "markdown", "ui")
LOCK = "deno.lock"
ESBUILD = (
    "--bundle",
    "--minify",
    "--format=esm",
    "--platform=browser",
    "--target=es2022",
    "--charset=utf8",
    "--legal-comments=none",
    '--define:process.env.NODE_ENV="production"',
)
"""Legal comments are left out because LICENSES.txt holds every licence in full; the define takes React's production half."""
ALLOWED = {"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}
ALLOWED_IN_TESTS = ALLOWED | {"MPL-2.0"}


class VendorError(Exception):
    """The bundles cannot be made; the message says why."""


@dataclass(frozen=True, order=True)
class Package:
    """One npm package as installed: its integrity is the lock's (SRI, sha512), its text the licence file that it ships."""

    name: str
    version: str
    licence: str
    integrity: str
    text: str

    def entry(self) -> dict[str, str]:
        """The package's line in VENDOR.json."""
        return {"name": self.name, "version": self.version, "licence": self.licence, "integrity": self.integrity}


class Installation:
    """The packages of ``package.json``, installed into one folder."""

    def __init__(self, folder: Path, relock: bool) -> None:
        """Install into this empty folder. Raises VendorError where the lock does not fit or a package cannot be had."""
        self.folder = folder
        for name in ("package.json", CONFIG.name, LOCK, *(f"{bundle}.ts" for bundle in BUNDLES)):
            if not (relock and name == LOCK):
                shutil.copyfile(BUILD / name, folder / name)
        frozen = [] if relock else ["--frozen"]
        # A real node_modules, because esbuild looks for packages there.
        installed = run_deno("install", *frozen, "--node-modules-dir=auto", folder=folder)
        if installed.returncode != 0:
            raise VendorError(f"deno install failed:\n{installed.stderr}")
        lock = json.loads((folder / LOCK).read_text())
        # A key is name@version, and then _peer@version for each peer.
        self._integrity = {key.split("_")[0]: entry["integrity"] for key, entry in lock["npm"].items()}

    def package(self, folder: Path, allowed: set[str]) -> Package:
        """The package in this folder. Raises VendorError for a licence that is not allowed, or one without its text."""
        about = json.loads((folder / "package.json").read_text())
        name, version, licence = about["name"], about["version"], about.get("license")
        if licence not in allowed:
            raise VendorError(f"{name} {version} has the licence {licence}, which is none of {sorted(allowed)}")
        texts = [path for path in sorted(folder.iterdir()) if re.match(r"LICEN[CS]E\b", path.name, re.IGNORECASE)]
        if not texts:
            raise VendorError(f"{name} {version} ships no text of its licence")
        text = texts[0].read_text(encoding="utf-8").replace("\r\n", "\n").strip()
        return Package(name, version, licence, self._integrity[f"{name}@{version}"], text)

    def direct(self, name: str) -> Path:
        """The folder of a package that ``package.json`` names."""
        return self.folder / "node_modules" / name

    def bundle(self, name: str) -> tuple[bytes, set[Package]]:
        """Bundle one entry file: the module, and every package of which esbuild read a file."""
        packaged = self.folder.glob("node_modules/.deno/@esbuild+*/node_modules/@esbuild/*/**/esbuild*")
        programs = [path for path in packaged if path.is_file() and path.name in ("esbuild", "esbuild.exe")]
        if len(programs) != 1:
            raise VendorError(f"expected one esbuild for this machine, found {len(programs)}")
        out, meta = self.folder / "out.js", self.folder / "meta.json"
        command = [str(programs[0]), f"{name}.ts", *ESBUILD, f"--metafile={meta}", f"--outfile={out}", "--log-level=warning"]
        run = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if run.returncode != 0 or run.stderr:
            raise VendorError(f"esbuild complained of {name}.ts:\n{run.stderr}")
        inputs = [Path(path) for path in json.loads(meta.read_text())["inputs"] if path != f"{name}.ts"]
        packages = {self.package(self.folder / root, ALLOWED) for root in {_package_folder(path) for path in inputs}}
        # The minified code is not checked for types; whoever imports it gets those of the entry file.
        head = f'// @ts-nocheck\n// @ts-self-types="./build/{name}.ts"\n// Licences: LICENSES.txt beside this file.\n'
        return head.encode() + out.read_bytes(), packages


def _package_folder(path: Path) -> Path:
    """The package's folder of a file below the last ``node_modules`` of its path."""
    parts = path.parts
    last = len(parts) - 1 - parts[::-1].index("node_modules")
    depth = 2 if parts[last + 1].startswith("@") else 1
    return Path(*parts[: last + 1 + depth])


def licences(packages: Iterable[Package]) -> str:
    """The licence texts of these packages in one text, each below a line ``name version (licence)``."""
    rule = "=" * 80
    return "\n".join(f"{rule}\n{one.name} {one.version} ({one.licence})\n{rule}\n\n{one.text}\n" for one in sorted(packages))


def write(folder: Path, files: dict[str, tuple[bytes, str, set[Package]]]) -> None:
    """Write the files (bytes, how they are made, what is inside), VENDOR.json and LICENSES.txt into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    everything = {package for _, _, packages in files.values() for package in packages}
    entries: dict[str, Any] = {}
    legal = (licences(everything).encode(), "the licence files of the packages", set[Package]())
    for name, (body, how, packages) in sorted({**files, "LICENSES.txt": legal}.items()):
        (folder / name).write_bytes(body)
        entries[name] = {
            "sha256": hashlib.sha256(body).hexdigest(),
            "size": len(body),
            "built": how,
            "packages": [f"{package.name}@{package.version}" for package in sorted(packages)],
        }
    document = {"files": entries, "packages": [package.entry() for package in sorted(everything)]}
    (folder / "VENDOR.json").write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    """Read the command line, make everything, and say what was written."""
    parser = argparse.ArgumentParser(description="Make the bundles in static/vendor anew.")
    parser.add_argument("--relock", action="store_true", help="resolve the versions afresh and rewrite deno.lock")
    relock = parser.parse_args().relock
    with tempfile.TemporaryDirectory(prefix="agentui-vendor-") as folder:
        installation = Installation(Path(folder), relock)
        files: dict[str, tuple[bytes, str, set[Package]]] = {}
        for name in BUNDLES:
            body, packages = installation.bundle(name)
            files[f"{name}.js"] = (body, f"esbuild build/{name}.ts {' '.join(ESBUILD)}", packages)
        flow = installation.direct("@xyflow/react")
        files["xyflow.css"] = (
            (flow / "dist" / "style.css").read_bytes(),
            "copied from @xyflow/react/dist/style.css",
            {installation.package(flow, ALLOWED)},
        )
        axe = installation.direct("axe-core")
        inspector = (
            (axe / "axe.min.js").read_bytes(),
            "copied from axe-core/axe.min.js",
            {installation.package(axe, ALLOWED_IN_TESTS)},
        )
        write(VENDOR, files)
        write(TESTS, {"axe.min.js": inspector})
        if relock:
            shutil.copyfile(installation.folder / LOCK, BUILD / LOCK)
    for name in sorted(files):
        print(f"{name}: {len(files[name][0])} bytes")


if __name__ == "__main__":
    try:
        main()
    except (ToolMissing, VendorError) as error:
        sys.exit(str(error))
