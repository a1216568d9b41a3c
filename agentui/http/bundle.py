"""
What the editor's page starts with, put together from the files it is written in.

A browser that followed the imports of two hundred modules one by one would need forty round trips. So ``js/main.js`` is sent
with all modules that it imports, ``js/later.js`` holds those that are loaded when somebody needs them (``import('./x.js')``)
and what only they import, ``css/page.css`` is sent with the sheets that it imports, and the words of a language as one file.

Every module keeps a scope of its own, as a function whose result holds its exports:

    modules['state/view.js'] = (() => { const {store} = modules['state/store.js']; ... return {setView}; })();

A module stands behind those that it imports; circles are refused. Bundles of libraries (``vendor/``) stay files of their own,
which a module may import later, too.
Comments are left out, lines stay lines, and a source map leads debuggers to the files.
"""

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Read = Callable[[str], str]
"""Gives the text of a file by its path below ``static/``."""

MAIN = "js/main.js"
LATER = "js/later.js"
SHEET = "css/page.css"
WORDS_LATER = frozenset({"accounts.json", "memories.json", "usage.json"})
"""Files of words that the page asks for one by one: where nobody signs in, counts or remembers, nobody reads them."""

_INNER = r"[^*]*(?:\*(?!/)[^*]*)*\*/"
_COMMENT = re.compile(rf"^[ \t]*/\*{_INNER}[ \t]*$|^[ \t]*//[^\n]*$|/\*\* @{_INNER} ?", re.MULTILINE)
_IMPORT = re.compile(r"^import\s+(?:(?P<what>\{[^}]*\}|\*\s+as\s+\w+)\s+from\s+)?'(?P<path>\.[^']+)';", re.MULTILINE)
_LATER = re.compile(r"\bimport\('(\.[^']+)'\)")
_OWN_LATER = re.compile(r"\b(?:function|const|let|class)\s+later\b")
"""What would hide the function by which a bundle imports them."""
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*? |class |const )(?P<names>\w+|\{[^}]*\}))", re.MULTILINE)
_EXPORTS = re.compile(r"^export (\{[^}]*\});", re.MULTILINE)
_UNKNOWN = re.compile(r"^(?:import|export)\b[^\n]*", re.MULTILINE)
_SHEET_IMPORT = re.compile(r"^@import '([^']+)';$", re.MULTILINE)


class CannotBundle(ValueError):
    """A module is written in a way that is not understood here; the message names the file and the line."""


@dataclass(frozen=True)
class _Module:
    """A module: what it imports in its order, what it imports later, and its text as a part of a bundle."""

    imports: tuple[str, ...]
    later: tuple[str, ...]
    text: str
    exports: str
    waits: bool


def bundle_sheets(read: Read) -> bytes:
    """``css/page.css`` with the sheets that it imports in their places."""
    return _SHEET_IMPORT.sub(lambda one: read(_beside(SHEET, one[1])), read(SHEET)).encode()


def bundle_words(read: Read, files: Iterable[str]) -> bytes:
    """The words of one language: the areas' files as one object, but for those that are loaded when somebody needs them."""
    words: dict[str, str] = {}
    for name in files:
        if posixpath.basename(name) in WORDS_LATER:
            continue
        words |= json.loads(read(name))
    return json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode()


def bundle_modules(read: Read) -> dict[str, bytes]:
    """``js/main.js`` and ``js/later.js``, each with its source map under ``<name>.map``.

    Raises CannotBundle for an import or export of another form, and for modules that import each other.
    """
    modules: dict[str, _Module] = {}
    first = _ordered([MAIN], read, modules)
    targets = sorted({path for name in first for path in modules[name].later})
    rest = [name for name in _ordered(targets, read, modules) if name not in first]
    head = (
        "const modules = {};",
        "export {modules};",
        "export const later = (name) => import('./later.js').then(({complete}) => complete(modules)[name]);",
    )
    # The last one starts the page and waits for the words, which no function at its side could.
    body = [_wrapped(name, modules[name]) for name in first[:-1]] + [modules[MAIN].text]
    made = _linked(MAIN, head, first, body, (), modules)
    head = ("let isComplete = false;", "export function complete(modules) {", "if (isComplete) return modules;")
    tail = ("isComplete = true;", "return modules;", "}")
    return made | _linked(LATER, head, rest, [_wrapped(name, modules[name]) for name in rest], tail, modules)


def _ordered(names: Sequence[str], read: Read, modules: dict[str, _Module]) -> list[str]:
    """These modules and all that they import, each behind what it imports; ``modules`` gets those that are new to it."""
    ordered: dict[str, None] = {}
    path: list[str] = []

    def visit(name: str) -> None:
        if name in ordered or _is_library(name):
            return
        if name in path:
            raise CannotBundle(f"{' imports '.join([*path[path.index(name) :], name])}.")
        if name not in modules:
            modules[name] = _parse(name, read(name))
        path.append(name)
        for imported in modules[name].imports:
            visit(imported)
        path.pop()
        ordered[name] = None

    for name in names:
        visit(name)
    return list(ordered)


def _parse(name: str, text: str) -> _Module:
    """Take a module apart; its lines stay where they are."""
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    imports: list[str] = []
    later: list[str] = []
    exports: list[str] = []

    def imported(found: re.Match[str]) -> str:
        path = _beside(name, found["path"])
        imports.append(path)
        what = re.sub(r"\bas\b", ":", found["what"] or "").lstrip("* :")
        return (f"const {what} = {_place(path)};" if what else "") + "\n" * (found[0].count("\n") - what.count("\n"))

    def imported_later(found: re.Match[str]) -> str:
        path = _beside(name, found[1])
        if _is_library(path):
            return f"import('{posixpath.relpath(path, posixpath.dirname(MAIN))}')"
        later.append(path)
        return f"later('{later[-1].removeprefix('js/')}')"

    def exported(found: re.Match[str]) -> str:
        exports.append(found["names"].strip("{}"))
        return ""

    def listed(found: re.Match[str]) -> str:
        exports.append(found[1].strip("{}"))
        return "\n" * found[0].count("\n")

    if _LATER.search(text) and (own := _OWN_LATER.search(text)):
        line = text.count("\n", 0, own.start()) + 1
        raise CannotBundle(f"{name}, line {line}: a module that imports others later has nothing called 'later' itself.")
    text = _EXPORTS.sub(listed, _EXPORT.sub(exported, _LATER.sub(imported_later, _IMPORT.sub(imported, text))))
    if unknown := _UNKNOWN.search(text):
        line = text.count("\n", 0, unknown.start()) + 1
        raise CannotBundle(f"{name}, line {line}: {unknown[0]!r} is of no form that is bundled.")
    names = re.sub(r"\s+", " ", ", ".join(part.strip(" ,\n") for part in exports if part.strip()))
    return _Module(tuple(imports), tuple(later), text, names, re.search(r"^await\b", text, re.MULTILINE) is not None)


def _wrapped(name: str, module: _Module) -> str:
    """A module as a function that has been called, from its own first line on."""
    if module.waits:
        raise CannotBundle(f"{name} waits at its top level, which only {MAIN} may.")
    return f"{_place(name)} = (() => {{ {module.text.rstrip()}\nreturn {{{module.exports}}}; }})();"


def _linked(
    name: str,
    head: Sequence[str],
    names: Sequence[str],
    bodies: Sequence[str],
    tail: Sequence[str],
    modules: dict[str, _Module],
) -> dict[str, bytes]:
    """A bundle of these modules, and its source map."""
    libraries = sorted({one for each in names for one in modules[each].imports if _is_library(one)})
    lines = [f"import * as {_library(one)} from '{posixpath.relpath(one, posixpath.dirname(name))}';" for one in libraries]
    lines += head
    sections = []
    for each, body in zip(names, bodies, strict=True):
        count = body.count("\n") + 1
        source = posixpath.relpath(each, posixpath.dirname(name))
        # Line for line: the first letters of each say "the next line of the source".
        mapped = {"version": 3, "sources": [source], "names": [], "mappings": ";".join(["AAAA", *["AACA"] * (count - 1)])}
        sections.append({"offset": {"line": sum(line.count("\n") + 1 for line in lines), "column": 0}, "map": mapped})
        lines.append(body)
    lines += [*tail, f"//# sourceMappingURL={posixpath.basename(name)}.map", ""]
    return {name: "\n".join(lines).encode(), f"{name}.map": json.dumps({"version": 3, "sections": sections}).encode()}


def _place(path: str) -> str:
    """Where a module's exports are within a bundle."""
    return _library(path) if _is_library(path) else f"modules['{path.removeprefix('js/')}']"


def _library(path: str) -> str:
    return "lib_" + re.sub(r"\W", "_", posixpath.basename(path).removesuffix(".js"))


def _is_library(path: str) -> bool:
    return path.startswith("vendor/")


def _beside(name: str, path: str) -> str:
    """The path that a file of this name means by a relative one."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
