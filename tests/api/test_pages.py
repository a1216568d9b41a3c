"""The editor's files: what they are bundled to, compressed, and kept by browsers."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import pytest

from agentui.http.bundle import LATER, MAIN, SHEET, CannotBundle, bundle_modules
from tests.conftest import ROOT, StartServer, call

STATIC = ROOT / "static"


def reading(files: Mapping[str, str]) -> Callable[[str], str]:
    """Files that exist in the test only."""
    return lambda name: files[name]


def test_every_module_is_in_one_bundle_behind_those_that_it_imports() -> None:
    made = bundle_modules(lambda name: (STATIC / name).read_text("utf-8"))
    main, later = made[MAIN].decode(), made[LATER].decode()
    defined = re.findall(r"^modules\['([^']+)'\] = ", main + later, re.MULTILINE)
    typed_only = {"state/types.js"}
    there = {path.relative_to(STATIC / "js").as_posix() for path in (STATIC / "js").rglob("*.js")}
    assert sorted([*defined, "main.js"]) == sorted(there - typed_only)
    known: set[str] = set()
    current = ""
    for line in (main + "\n" + later).splitlines():
        if found := re.match(r"modules\['([^']+)'\] = ", line):
            current = found[1]
            assert current not in known
        elif found := re.match(r"const .* = modules\['([^']+)'\];", line):
            assert found[1] in known, line
        elif line.endswith("})();"):
            known.add(current)
    # What is large and not needed for the first picture is not in the way of it.
    assert "codemirror" in later and "vendor/codemirror.js" not in main


def test_lines_stay_where_they_were_and_comments_go() -> None:
    files = {
        "js/main.js": "/** Starts. */\nimport {\n  a,\n  b as c,\n} from './x.js';\n// why\n"
        "const d = /** @type {any} */ (a);\nimport('./y.js');\nconst e = import('../vendor/big.js');\n",
        "js/x.js": "import * as all from './z.js';\n\nexport const a = all.one;\nexport function b() {}\nexport {all};\n",
        "js/z.js": "export const {one, two} = {one: 1, two: 2};\n",
        "js/y.js": "import {a} from './x.js';\nimport {lib} from '../vendor/lib.js';\nexport async function y() {}\n",
    }
    made = bundle_modules(reading(files))
    main, later = made[MAIN].decode(), made[LATER].decode()
    assert "const { a, b : c, } = modules['x.js'];" in re.sub(r"\s+", " ", main) and "Starts" not in main and "why" not in main
    assert "const d = (a);" in main and "\nlater('y.js');\nconst e = import('../vendor/big.js');" in main
    assert "return {a, b, all};" in main and "return {one, two};" in main
    assert (
        "import * as lib_lib from '../vendor/lib.js';" in later
        and "modules['y.js']" in later
        and "modules['x.js'] =" not in later
    )
    # The map leads each line to the same line of the file.
    lines = main.splitlines()
    for section in json.loads(made[f"{MAIN}.map"])["sections"]:
        [source] = section["map"]["sources"]
        begin, text = section["offset"]["line"], files[f"js/{source}"].splitlines()
        for number, word in (
            (number, word) for number, line in enumerate(text) for word in re.findall(r"'[^.']+'|one: 1|const d", line)
        ):
            assert word in lines[begin + number]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import a from './x.js';\n", r"js/main.js, line 1: .* of no form"),
        ("const a = 1;\nexport default a;\n", r"js/main.js, line 2: 'export default a;' is of no form"),
        ("function later() {\n  import('./x.js');\n}\n", r"js/main.js, line 1: .* nothing called 'later' itself"),
        ("import {x} from './x.js';\n", r"js/x.js imports js/y.js imports js/x.js"),
    ],
)
def test_what_cannot_be_bundled_is_named(text: str, reason: str) -> None:
    files = {"js/main.js": text, "js/x.js": "import {y} from './y.js';\n", "js/y.js": "import {x} from './x.js';\n"}
    with pytest.raises(CannotBundle, match=reason):
        bundle_modules(reading(files))


async def test_files_come_compressed_to_whom_reads_gzip(start_server: StartServer) -> None:
    server = await start_server({"default": call("openai", "demo")})
    async with httpx.AsyncClient(base_url=server.origin) as client:
        for path in (
            f"/ui/{MAIN}",
            f"/ui/{LATER}",
            f"/ui/{SHEET}",
            "/ui/locales/ru.json",
            "/ui/vendor/ui.js",
            "/ui/js/core/doc.js",
        ):
            plain = await client.get(path, headers={"accept-encoding": "identity"})
            packed = await client.get(path, headers={"accept-encoding": "br, gzip;q=0.9"})
            assert "content-encoding" not in plain.headers and packed.headers["content-encoding"] == "gzip"
            assert plain.content == packed.content and int(packed.headers["content-length"]) < len(plain.content) / 2
            assert plain.headers["vary"] == packed.headers["vary"] == "accept-encoding"
            assert plain.headers["etag"] != packed.headers["etag"]
            again = await client.get(path, headers={"accept-encoding": "gzip", "if-none-match": packed.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            refused = await client.get(path, headers={"accept-encoding": "gzip;q=0"})
            assert "content-encoding" not in refused.headers
        assert "content-encoding" not in (await client.get("/ui/icon.svg")).headers


async def test_after_an_upgrade_the_bundles_are_new_at_once(
    start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    static = tmp_path / "static"
    shutil.copytree(STATIC, static)
    monkeypatch.setattr("agentui.http.pages.STATIC", static)
    server = await start_server({"default": call("openai", "demo")})
    async with httpx.AsyncClient(base_url=server.origin) as client:

        async def main() -> tuple[str, httpx.Response]:
            [path] = re.findall(r'src="([^"]+main\.js)"', (await client.get("/")).text)
            return path, await client.get(path)

        path, first = await main()
        assert "immutable" in first.headers["cache-control"]
        # The change brings a module.
        (static / "js" / "upgraded.js").write_text("export const upgraded = 1;\n", "utf-8")
        for name, text in (
            ("js/h.js", "\nimport {upgraded} from './upgraded.js';\nexport {upgraded};\n"),
            ("css/app.css", "\n.upgraded { top: 0 }\n"),
        ):
            (static / name).write_text((static / name).read_text("utf-8") + text, "utf-8")
        # A page of before the change that is still loading gets what belongs to it.
        assert (await client.get(path)).content == first.content
        other, second = await main()
        assert other != path and "upgraded" in second.text and "immutable" in second.headers["cache-control"]
        assert "upgraded" in (await client.get(other.replace(MAIN, SHEET))).text
        # Later it gets what there is now, and keeps nothing of it under the old address.
        old = await client.get(path)
        assert "upgraded" in old.text and "immutable" not in old.headers["cache-control"]
