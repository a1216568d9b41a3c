"""
Check the types of the page's own JavaScript: ``python static/vendor/build/check_js.py [FILE ...]``.

Without a file, every module in ``static/js`` is checked. The modules are plain JavaScript with JSDoc types; TypeScript (inside
deno) checks them strictly. The vendored bundles name their entry files here as their types (``@ts-self-types``), and those
re-export the packages; deno takes the packages' types from its cache, or from the npm registry at the first run, as
``deno.lock`` pins them.

Exit codes: 0 clean, 1 type errors, 2 deno is not installed, 3 the packages' types are not to be had (no network).
"""

import sys
from pathlib import Path

from toolchain import BUILD, CONFIG, ToolMissing, run_deno

JS = BUILD.parent.parent / "js"
CLEAN, ERRORS, NO_DENO, NO_TYPES = range(4)


def check(files: list[Path]) -> int:
    """Check these files and what they import, print what is wrong, and give the exit code that the module's docstring lists."""
    entries = map(str, sorted(BUILD.glob("*.ts")))
    try:
        types = run_deno("cache", "--frozen", "--config", str(CONFIG), *entries)
    except ToolMissing as error:
        print(error, file=sys.stderr)
        return NO_DENO
    if types.returncode != 0:
        print(f"The packages' types cannot be had; is there a network?\n{types.stderr}", file=sys.stderr)
        return NO_TYPES
    checked = run_deno("check", "--frozen", "--config", str(CONFIG), *map(str, files))
    if checked.returncode != 0:
        print(checked.stdout + checked.stderr, file=sys.stderr)
        return ERRORS
    print(f"No type errors in {len(files)} modules.")
    return CLEAN


if __name__ == "__main__":
    named = [Path(name).resolve() for name in sys.argv[1:]]
    sys.exit(check(named or sorted(JS.rglob("*.js"))))
