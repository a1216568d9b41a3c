"""The documentation is true: it names everything there is, its links lead somewhere, and its examples do what they say."""

import ast
import asyncio
import json
import random
import re
import runpy
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from aiohttp import ClientSession
from pydantic import BaseModel

from agentui import __version__
from agentui.api.accounts import ROUTES as ACCOUNT_ROUTES
from agentui.api.chats import ROUTES as CHAT_ROUTES
from agentui.api.library import ROUTES as LIBRARY_ROUTES
from agentui.api.memories import ROUTES as MEMORIES_ROUTES
from agentui.api.operations.logs import ROUTES as OPERATION_ROUTES
from agentui.api.profiles import ROUTES as PROFILE_ROUTES
from agentui.api.tools import ROUTES as TOOL_ROUTES
from agentui.api.usage import ROUTES as USAGE_ROUTES
from agentui.assets.bundle import PromptAssets
from agentui.assets.character import Character
from agentui.assets.preset import PromptPreset
from agentui.chat.messages import text_message
from agentui.chats.codes import CODES
from agentui.cli import _parser
from agentui.demo import DemoSettings, start_demo
from agentui.errors import AgentUIError, ApiError
from agentui.jsonio import Json
from agentui.pipeline.context import CONTEXT_NAMES, context_paths
from agentui.pipeline.memory import Tier
from agentui.pipeline.node import Catalog, describe
from agentui.pipeline.nodes import BUILTIN
from agentui.pipeline.nodes.data.json_query import Output
from agentui.pipeline.nodes.data.memory import MemoryRow
from agentui.pipeline.nodes.data.random_choice import Choice
from agentui.pipeline.nodes.data.set_vars import RESERVED, Row
from agentui.pipeline.nodes.flow.switch import Case
from agentui.pipeline.nodes.model.blocks import Block
from agentui.pipeline.nodes.model.cached_call import UNREAD
from agentui.pipeline.nodes.model.failures import USUAL, FailureKind
from agentui.pipeline.nodes.model.guard_rules import GuardRule
from agentui.pipeline.nodes.model.targets import Sticky, Strategy, TargetRow
from agentui.pipeline.nodes.text.operations import Operation
from agentui.pipeline.plans.compile import compile_plan
from agentui.pipeline.plans.spec import EdgeSpec, NodeSpec, PipelineSpec
from agentui.prompt.capabilities import EXCLUSION_REASONS, TRIM_REASONS
from agentui.prompt.policy import policy_of
from agentui.regexes.replacing import compile_find, replace_js
from agentui.regexes.scripts import Skip
from agentui.schemas.forms import Data
from agentui.serving.application import create_app
from agentui.serving.listener import Listener
from agentui.settings import Settings
from agentui.templating.hadtavern.conditions import ConditionLanguage
from agentui.templating.hadtavern.expressions import compile_expression
from agentui.templating.hadtavern.filters import FILTERS
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.scope import TIERS, Scope
from agentui.templating.hadtavern.template import TextLanguage
from agentui.templating.sillytavern.macros import BUILTINS, VALUES
from agentui.templating.sillytavern.run import MacroRun
from agentui.templating.sillytavern.scope import MacroScope
from agentui.tools.errors import ToolError
from agentui.variables.errors import VariableError
from agentui.variables.scopes import SCOPES
from agentui.vendors.registry import VENDOR_TITLES, make_vendors
from tests.api.chats.forms import DOCUMENT
from tests.browser.screenshots import SHOTS
from tests.campaigns.every import every_campaign
from tests.conftest import ROOT, skip
from tests.unit.prompt.parts import Facts, entry, prepared

DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(ROOT).as_posix(): path for path in [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
}
WRITTEN_FOR = "http://127.0.0.1:7860"

CODE_CALLS = frozenset({"Problem", "problem", "_problem", "warning", "add", "_refuse"})
CODE = re.compile(r"[a-z]+\.[a-z_]+")


def page(name: str) -> str:
    return PAGES[name].read_text(encoding="utf-8")


def missing(names: Iterator[str] | list[str], text: str) -> list[str]:
    """The names that do not stand in the text as code: between backticks, alone or as a word within."""
    spans = re.findall(r"`([^`\n]+)`", text)
    spans += [line for block in re.findall(r"^```.*?^```", text, re.DOTALL | re.MULTILINE) for line in block.splitlines()]
    return [name for name in names if not any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", span) for span in spans)]


# What there is has its place.


def test_every_node_type_stands_with_its_fields_and_their_defaults() -> None:
    text = page("docs/nodes.md")
    inner: dict[str, type[BaseModel]] = {
        "SetVars": Row,
        "Memory": MemoryRow,
        "Guard": GuardRule,
        "ProviderCall": Block,
        "Json": Output,
        "RandomChoice": Choice,
        "Switch": Case,
        "Text": Operation,
    }
    for name, kind in BUILTIN.items():
        rows = fields_told(text.split(f"\n## {name}\n")[1].split("\n## ")[0])
        assert rows == {**defaults_of(kind.Params), **(defaults_of(inner[name]) if name in inner else {})}, name
        assert missing(list(kind.ports), text) == [], name
    assert missing(list(RESERVED), text) == []


def test_every_field_of_a_target_and_every_failure_is_in_routing() -> None:
    text = page("docs/routing.md")
    assert fields_told(text) == defaults_of(TargetRow)
    chosen = {
        code_of(row["`on_errors`"]): row["chosen unless you say otherwise"] for row in table_rows(text) if "`on_errors`" in row
    }
    assert list(chosen) == list(get_args(FailureKind))
    assert [kind for kind, told in chosen.items() if told == "yes"] == list(USUAL)
    assert missing([*get_args(Strategy), *(set(get_args(Sticky)) - {"none"}), *UNREAD], text) == []


def test_every_mode_and_every_tier_of_a_row_is_in_nodes_and_in_the_memory() -> None:
    modes = get_args(Row.model_fields["mode"].annotation)
    own = page("docs/nodes.md").split("\n## SetVars\n")[1].split("\n## ")[0]
    rows = {row["field"]: row["what it holds"] for row in table_rows(own) if "field" in row}
    assert missing(list(modes), rows["`mode`"]) == []
    assert missing(list(get_args(Tier)), rows["`tier`"]) == []
    assert missing([*modes, *get_args(Tier)], page("docs/memory.md")) == []
    assert missing([f"vars.{tier}" for tier in TIERS - {"run"}], page("docs/templates.md")) == []


def test_the_tiers_stand_in_their_order_of_precedence() -> None:
    told = [(row["precedence"], code_of(row["tier"])) for row in table_rows(page("docs/memory.md")) if "precedence" in row]
    assert told == [(str(number), tier) for number, tier in enumerate(reversed(SCOPES), 1)]


def test_every_field_of_a_pipeline_file_stands_with_its_default() -> None:
    text = page("docs/pipelines.md").split("\n## The file\n")[1].split("\n## ")[0]
    told = fields_told(text) | {"answer": "null"}
    assert told == {**defaults_of(PipelineSpec), **defaults_of(NodeSpec)}
    assert set(EdgeSpec.model_fields) == {"source", "target", "from_port"}
    assert missing(["from", "to", "from_port"], text) == []


def fields_told(text: str) -> dict[str, str]:
    """The fields of a page's tables with their defaults."""
    return {code_of(row["field"]): row["default"].strip("`") for row in table_rows(text) if {"field", "default"} <= row.keys()}


def defaults_of(model: type[BaseModel]) -> dict[str, str]:
    """The fields of a model with their defaults as JSON; "required" where there is none."""
    return {
        name: "required" if info.is_required() else json.dumps(info.get_default(call_default_factory=True))
        for name, info in model.model_fields.items()
    }


def test_every_filter_and_every_form_of_macro_is_in_templates() -> None:
    text = page("docs/templates.md")
    rows = [row["filter"].strip("`").partition("(")[0] for row in table_rows(text) if "filter" in row]
    assert sorted(rows) == sorted([*FILTERS, "default"])
    source = "[[VAR:a]] [[OUT:n1]] [[OUT1]] [[NAME]] [[PROMPT]] [[SECRET:name]] {{ path }}"
    kinds = {macro.kind for macro in TextLanguage(secrets=True, prompt=True).compile(source).macros}
    assert kinds == {row["kind"] for row in table_rows(text) if "form" in row}


def test_every_name_of_the_context_is_in_templates() -> None:
    text = page("docs/templates.md")
    inner = [path for path in context_paths() if not any(other.startswith(f"{path}.") for other in context_paths())]
    told = [code_of(row["name"]) for row in table_rows(text) if {"name", "what it is"} == row.keys()]
    assert sorted(told) == sorted(inner)
    assert {path.partition(".")[0] for path in inner} == set(CONTEXT_NAMES)


def test_every_setting_stands_with_its_variable_and_its_default() -> None:
    rows = {
        row["variable"].strip("`"): row["default"].strip("`")
        for row in table_rows(page("docs/configuration.md"))
        if "variable" in row
    }
    names = {f"AGENTUI_{name.upper()}": field for name, field in Settings.model_fields.items()}
    assert rows.keys() == names.keys()
    for variable, field in names.items():
        if variable != "AGENTUI_DATA":
            assert rows[variable] == shown(field.default), variable


def shown(default: object) -> str:
    """A default as the table shows it."""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, float):
        return f"{default:g}"
    return "unset" if default in (None, ()) else str(default)


def test_every_command_and_option_is_in_configuration() -> None:
    text = page("docs/configuration.md")
    commands, options = set(), set()
    waiting = [("agentui", _parser())]
    while waiting:
        name, parser = waiting.pop()
        for action in parser._actions:
            options.update(option for option in action.option_strings if option.startswith("--"))
            if isinstance(action.choices, dict):
                waiting += [(f"{name} {word}", inner) for word, inner in action.choices.items()]
                commands.update(f"{name} {word}" for word in action.choices)
    assert {"agentui serve", "agentui secret set"} <= commands
    assert missing([*commands, *options], text) == []


def test_every_route_is_in_the_docs() -> None:
    paths = DOCUMENT["paths"]
    editor = [path for path in paths if path.startswith("/api/")]
    memory = {route.path for route in MEMORY_ROUTES}
    proxied = [path for path in paths if not path.startswith(("/api/", "/p/")) and path not in memory]
    assert missing(editor, page("docs/api.md")) == []
    assert (
        missing(
            [path.replace("{version}", "v1beta").replace("{call}", "{model}:generateContent") for path in proxied],
            page("docs/dialects.md") + page("docs/api.md"),
        )
        == []
    )
    assert all(path.removeprefix("/p/{pipeline}") in paths for path in paths if path.startswith("/p/"))


MEMORY_ROUTES = (
    *CHAT_ROUTES,
    *LIBRARY_ROUTES,
    *TOOL_ROUTES,
    *PROFILE_ROUTES,
    *MEMORIES_ROUTES,
    *ACCOUNT_ROUTES,
    *USAGE_ROUTES,
    *OPERATION_ROUTES,
)
MEMORY_PAGES = (
    "docs/accounts.md",
    "docs/operation-log.md",
    "docs/mcp.md",
    "docs/budgets.md",
    "docs/models.md",
    "docs/memories.md",
    "docs/assets.md",
    "docs/library-api.md",
    "docs/sessions-api.md",
    "docs/variables-api.md",
    "docs/session-state.md",
    "docs/prompt-runtime.md",
    "docs/chats.md",
    "docs/regex.md",
    "docs/tools-api.md",
    "docs/lorebooks.md",
    "docs/working-variables.md",
)


def test_every_route_of_the_memory_stands_on_one_of_its_pages() -> None:
    told = [code_of(row["route"]) for name in MEMORY_PAGES for row in table_rows(page(name)) if "route" in row]
    assert sorted(told) == sorted(f"{route.method} {route.path}" for route in MEMORY_ROUTES)


@pytest.mark.parametrize("route", MEMORY_ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_field_that_goes_into_or_out_of_the_memory_is_told(route: Any) -> None:
    """On the page where the route stands: fields of the body, of the query and of the answer."""
    [text] = [page(name) for name in MEMORY_PAGES if f"`{route.method} {route.path}`" in page(name)]
    body = list(route.body.model_fields) if route.body is not None else []
    assert missing([*body, *route.query, *sorted(members_of(route.answer))], text) == []


def members_of(kind: Any) -> set[str]:
    """The names of all members of a type of answers, however deep."""
    found: set[str] = set()
    waiting, seen = [kind], []
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.append(each)
        plain = get_origin(each) or each
        waiting += get_args(each)
        if is_dataclass(plain) or is_typeddict(plain):
            hints = get_type_hints(plain)
            found.update(hints)
            waiting += hints.values()
    return found - {field.name for field in fields(Data)}


def test_every_error_code_is_in_errors_with_its_status() -> None:
    rows = {
        row["code"].strip("`"): row["status"] for row in table_rows(page("docs/errors.md")) if "status" in row and "code" in row
    }
    known: dict[str, set[str]] = {}
    for kind in errors_below(AgentUIError):
        if kind not in (ApiError, ToolError, VariableError):  # their codes are those of CODES and of the classes below
            known.setdefault(kind.code, set()).add(str(kind.status))
    for name, code in CODES.items():
        known.setdefault(name, set()).add(str(code.status))
    assert known.keys() - rows.keys() == set()
    assert rows.keys() - known.keys() == {"malformed_http"}
    for code, statuses in known.items():
        if code != "upstream_refused":
            assert {rows[code]} == statuses, code


def test_every_failure_of_the_memory_has_a_code_that_is_known() -> None:
    raised = {
        next(texts(node), "")
        for folder in (
            "agentui/accounts",
            "agentui/api",
            "agentui/http",
            "agentui/chats",
            "agentui/library",
            "agentui/memories",
            "agentui/profiles",
            "agentui/schemas",
            "agentui/turns",
            "agentui/variables",
        )
        for tree in sources(folder)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node) == "failure" and isinstance(node.args[0], ast.Constant)
    }
    assert {"generation_conflict", "branch_merge_conflict"} <= raised
    assert raised - CODES.keys() == set()


MENDED_ELSEWHERE = {
    *("model_discovery_invalid_response", "model_test_invalid_response"),  # the dialog itself says them
    *("profile_conflict", "profile_in_use"),  # a name, or a binding: the model is there
    *("upstream_proxy_failed", "upstream_invalid", "upstream_truncated", "upstream_timeout"),
}
"""Codes with the name of a model or an upstream in them which connecting another model does not mend."""


def test_every_code_of_a_key_or_a_model_that_is_missing_opens_the_dialog_that_connects_one() -> None:
    listed = script("state/connecting").split("new Set(")[1:]
    lacking, in_calls = (set(re.findall("'([a-z_]+)'", part.split(")")[0])) for part in listed)
    known = CODES.keys() | {kind.code for kind in errors_below(AgentUIError) if isinstance(getattr(kind, "code", None), str)}
    assert lacking | in_calls <= known
    of_models = re.compile(r"(^|_)(?:(?<!regex_)profile|model|secret|upstream|targets)_")
    asked = {code for code in known if of_models.search(code)}
    assert asked - lacking == MENDED_ELSEWHERE
    for view in ("chat/TalkView", "chat/FloorView", "run/Chat", "run/NodeIO", "run/RunPanel"):
        assert "h(ErrorButton, " in script(view), view
    assert "lacksModel(code)" in script("state/notices")


def script(name: str) -> str:
    return (ROOT / "static" / "js" / f"{name}.js").read_text(encoding="utf-8")


def errors_below(kind: type[AgentUIError]) -> Iterator[type[AgentUIError]]:
    yield kind
    for below in kind.__subclasses__():
        if below.__module__.startswith("agentui."):
            yield from errors_below(below)


def test_every_problem_code_is_in_pipelines() -> None:
    found = set(problem_codes())
    assert {"graph.cycle", "template.unknown_filter", "json.syntax", "expression.syntax", "template.render"} <= found
    assert {code_of(row["code"]) for row in table_rows(page("docs/pipelines.md")) if "code" in row} == found


def problem_codes() -> Iterator[str]:
    """The codes that the sources hand to a Problem or to what makes one."""
    for tree in sources("agentui"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) in CODE_CALLS:
                yield from (text for text in texts(node) if CODE.fullmatch(text))
            elif isinstance(node, ast.FunctionDef):
                defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]
                values = [each.value for each in defaults if isinstance(each, ast.Constant)]
                yield from (text for text in values if isinstance(text, str) and CODE.fullmatch(text))


def test_every_name_of_what_is_dropped_is_in_dialects() -> None:
    text = page("docs/dialects.md")
    found = set(dropped_names())
    assert {"messages.system_position", "is_error", "temperature>1", "tools."} <= found
    spans = " ".join(re.findall(r"`([^`\n]+)`", text))
    assert [name for name in sorted(found) if not re.search(rf"(?<![\w.]){re.escape(name)}", spans)] == []


def dropped_names() -> Iterator[str]:
    """The names that the dialects give to what they leave out; of a name that is put together, its beginning."""
    for tree in sources("agentui/vendors"):
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("append", "extend", "drop")
            ):
                owner = node.func.value
                name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
                if name in ("dropped", "lost", "losses"):
                    yield from texts(node)


def sources(folder: str) -> Iterator[ast.Module]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield ast.parse(path.read_text(encoding="utf-8"))


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""


def texts(node: ast.Call) -> Iterator[str]:
    """The texts among a call's arguments; of an f-string its beginning."""
    for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
        each = argument.elt if isinstance(argument, ast.GeneratorExp) else argument
        if isinstance(each, ast.JoinedStr):
            each = each.values[0]
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def test_every_pipeline_and_preset_of_the_gallery_is_in_the_docs() -> None:
    assert missing([path.stem for path in (ROOT / "pipelines").glob("*.json")], page("README.md")) == []
    assert missing([path.stem for path in (ROOT / "presets").glob("*.json")], page("docs/pipelines.md")) == []


def test_every_package_has_its_layer_on_the_page_of_the_architecture() -> None:
    page = (DOCS / "architecture.md").read_text()
    packages = [path.parent.name for path in sorted((ROOT / "agentui").glob("*/__init__.py"))]
    assert [name for name in packages if f"`agentui/{name}/`" not in page] == []


def test_every_page_is_reached_from_the_readme() -> None:
    linked = set(re.findall(r"\]\((docs/[\w-]+\.md)", page("README.md")))
    assert {path.relative_to(ROOT).as_posix() for path in DOCS.glob("*.md")} == linked


# The editor: its page names everything that there is.

STATIC = ROOT / "static"
ACTION = re.compile(r"\bid: (['`])([a-z]+\.[^'`]+)\1,\s*title: (['`])([^'`]+)\3")
"""An action in the sources: its id and the key of its title, either of which may be put together (``canvas.move${name}``)."""


def words(locale: str) -> dict[str, str]:
    """The words of a language, of all areas."""
    found: dict[str, str] = {}
    for path in sorted((STATIC / "locales" / locale).glob("*.json")):
        found |= json.loads(path.read_text(encoding="utf-8"))
    return found


def actions_told() -> dict[str, str]:
    """The actions of the page's table with what they do."""
    return {code_of(row["action"]): row["what it does"] for row in table_rows(page("docs/editor.md")) if "action" in row}


def test_every_action_of_the_editor_stands_on_its_page_as_it_is_called() -> None:
    """Keys are compared in a real browser by ``tests/browser/test_documented.py``."""
    told, spoken = actions_told(), words("en")
    files = [STATIC / "js" / "app-actions.js", *sorted((STATIC / "js").glob("*/actions.js"))]
    found = {match[2]: match[4] for path in files for match in ACTION.finditer(path.read_text(encoding="utf-8"))}
    assert {"app.save", "canvas.delete", "canvas.move${name}Far", "run.open", "variables.open"} <= found.keys()
    expected = {}
    for id, title in found.items():
        pattern = re.sub(r"\\\$\\{\w+\\}", r"([\\w-]+)", re.escape(id))
        meant = {one: match for one in told if (match := re.fullmatch(pattern, one))}
        assert meant, f"{id} is not on the page."
        for one, match in meant.items():
            expected[one] = spoken[re.sub(r"\$\{\w+\}", match[1], title) if match.groups() else title]
    assert told == {id: title.replace("…", "").strip() for id, title in expected.items()}
    # Of the ids that are put together, the words tell how many there are.
    keys = [key for key in spoken if re.fullmatch(r"[a-z]+\.action\.[\w-]+", key)]
    assert [key for key in keys if key.replace(".action.", ".") not in told] == []


def test_whatever_the_server_says_has_words_in_every_language() -> None:
    """Every code of an error; the page adds ``offline`` and ``bad_answer``. For problems see ``test_problem_words.py``."""
    rows = [row["code"].strip("`") for row in table_rows(page("docs/errors.md")) if "code" in row]
    codes = {f"server.error.{code}" for code in [*rows, "offline", "bad_answer"]}
    assert {"server.error.conflict", "server.error.branch_exists"} <= codes
    for locale in ("ru", "zh"):
        assert {key for key in words(locale) if key.startswith("server.error.")} == codes, locale


DRAWN_BY_HAND: Mapping[str, set[str]] = {
    "SetVars": set(BUILTIN["SetVars"].Params.model_fields),
    "RawForward": set(BUILTIN["RawForward"].Params.model_fields),
    "ProviderCall": {"provider", "base_url", "endpoint", "headers", "proxy", "model", "blocks", "tools", "template"},
}
"""The fields that the page has words of its own for."""
NAMES = {*VENDOR_TITLES, *get_args(BUILTIN["HttpRequest"].Params.model_fields["method"].annotation)}
"""Values that are called alike in every language."""


def form_words(schema: dict[str, Any], root: dict[str, Any], place: str, without: Iterable[str] = ()) -> Iterator[str]:
    """The keys of the words for the fields of a schema: of each its label and its help, of lists also what a row is called, of
    choices what each is called."""
    for name, written in resolved_schema(schema, root).get("properties", {}).items():
        if name in without:
            continue
        field, where = resolved_schema(written, root), f"{place}.{name}"
        yield from (f"server.form.{where}", f"server.formHelp.{where}")
        if field.get("type") == "array":
            yield f"server.formRow.{where}"
            field = resolved_schema(field["items"], root)
        yield from (f"server.formChoice.{where}.{value}" for value in field.get("enum", []) if value not in NAMES)
        yield from form_words(field, root, where)


def resolved_schema(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """A schema without its reference, and without the null that it may be."""
    for each in schema.get("anyOf", []):
        if each.get("type") != "null":
            return resolved_schema(each, root)
    return resolved_schema(root["$defs"][schema["$ref"].rpartition("/")[2]], root) if "$ref" in schema else schema


def test_every_form_has_words_in_every_language() -> None:
    """The help of each node type, and what the page draws from its schema."""
    expected = set()
    for name, kind in BUILTIN.items():
        schema: Any = describe(kind)["schema"]
        expected |= {f"server.help.{name}", *form_words(schema, schema, name, DRAWN_BY_HAND.get(name, ()))}
    assert {"server.form.ProviderCall.targets.weight", "server.formChoice.Loop.mode.each"} <= expected
    for locale in ("ru", "zh"):
        told = json.loads((STATIC / "locales" / locale / "forms.json").read_text(encoding="utf-8"))
        assert told.keys() == expected, locale
        assert [key for key, text in told.items() if not text.strip()] == []


def test_every_language_of_the_editor_is_named() -> None:
    folders = sorted(path.name for path in (STATIC / "locales").iterdir() if path.is_dir())
    [line] = re.findall(r"LOCALES = Object\.freeze\(\{(.*)\}\)", (STATIC / "js" / "words.js").read_text(encoding="utf-8"))
    assert sorted(re.findall(r"(\w+):", line)) == folders
    assert missing(folders, page("docs/editor.md").split("\n## Languages and looks\n")[1].split("\n## ")[0]) == []


def test_every_panel_is_on_the_page_by_its_name() -> None:
    titles = re.findall(r"title: '([\w.]+)'", (STATIC / "js" / "panels.js").read_text(encoding="utf-8"))
    told = {row["part"].strip("*") for row in table_rows(page("docs/editor.md")) if "part" in row}
    assert len(titles) > 5
    assert [words("en")[title] for title in titles if words("en")[title] not in told] == []


def test_every_place_where_the_browser_keeps_something_is_told() -> None:
    text = page("docs/editor.md").split("\n## What is kept where\n")[1].split("\n## ")[0]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in sorted((STATIC / "js").rglob("*.js")))
    names = set(re.findall(r"""['"](agentui\.[a-z]+)['"]""", sources))
    assert {"agentui.view", "agentui.token"} <= names
    assert missing(sorted(names), text) == []


EVERYWHERE = {"h.js", "words.js", "vendor"}
"""What every module of the page may use: the door to React, the words; the doors themselves use the bundles."""


def test_the_pages_modules_import_what_the_table_lets_them() -> None:
    """The folders of ``static/js`` are those of the table, and none imports what its row does not name."""
    root = STATIC / "js"
    rows = [(row["folder"], row["may import"]) for row in table_rows(page("docs/editor.md")) if "may import" in row]
    allowed = {
        folder: None if cell == "anything" else set(re.findall(r"`([^`]+)`", cell))
        for folders, cell in rows
        for folder in re.findall(r"`static/js/(\w+)/`", folders)
    }
    assert allowed.keys() == {path.name for path in root.iterdir() if path.is_dir()}
    wrong = []
    for folder, targets in allowed.items():
        for path in sorted((root / folder).rglob("*.js")) if targets is not None else []:
            for target in imports_of(path):
                inside = target.relative_to(root) if target.is_relative_to(root) else Path("vendor")
                names = {inside.parts[0], inside.as_posix()}
                if folder not in names and not names & (EVERYWHERE | (targets or set())):
                    wrong.append(f"{path.relative_to(root)} imports {inside}")
    assert wrong == []


def imports_of(path: Path) -> set[Path]:
    """The files that a module imports; types in comments are no imports."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {(path.parent / name).resolve() for name in re.findall(r"""(?:from|import)\s*\(?['"](\.[^'"]+)['"]""", text)}


def test_the_pictures_are_those_that_the_program_takes_and_each_is_shown() -> None:
    pictures = {path.name: path for path in (DOCS / "images").iterdir()}
    assert pictures.keys() == {f"{name}.png" for name in SHOTS}
    everything = "\n".join(page(name) for name in PAGES)
    for name, path in pictures.items():
        assert f"images/{name}" in everything
        content = path.read_bytes()
        width, height = int.from_bytes(content[16:20]), int.from_bytes(content[20:24])
        shot = SHOTS[path.stem]
        scale = shot.context.get("device_scale_factor", 1)
        assert content.startswith(b"\x89PNG") and (width, height) == (shot.width * scale, shot.height * scale)


def test_every_picture_of_a_page_exists() -> None:
    """Pictures in HTML too, which the test of links does not see."""
    for name, path in PAGES.items():
        for source in re.findall(r'<img src="([^"]+)"', page(name)):
            assert (path.parent / source).is_file(), f"{name}: {source}"


# What is said leads somewhere.


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page(name))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (PAGES[name].parent / path).resolve() if path else PAGES[name]
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("name", PAGES)
def test_every_test_that_a_page_names_exists(name: str) -> None:
    for file, test in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page(name)):
        assert (ROOT / file).is_file(), file
        assert not test or re.search(rf"def {test}\b", (ROOT / file).read_text(encoding="utf-8")), f"{file}::{test}"


@pytest.mark.parametrize("name", PAGES)
def test_every_file_that_a_page_names_exists(name: str) -> None:
    for file in re.findall(r"`((?:agentui|static|pipelines|presets)/[\w./-]+)`", page(name)):
        assert (ROOT / file).exists(), file


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# What is shown works.


@dataclass(frozen=True)
class CodeBlock:
    """A fenced block: its language, what stands behind that, and its text."""

    page: str
    line: int
    language: str
    info: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*pages: str, language: str, info: str | None = None) -> list[CodeBlock]:
    found = []
    for name in pages or PAGES:
        text = page(name)
        for match in re.finditer(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            block = CodeBlock(name, text[: match.start()].count("\n") + 1, match[1], match[2], match[3])
            if block.language == language and (info is None or block.info.startswith(info)):
                found.append(block)
    return found


def table_rows(text: str) -> Iterator[dict[str, str]]:
    """The rows of all tables of a page, cells by the names of their columns."""
    header: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            header = []
            continue
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if not header:
            header = cells
        elif not set("".join(cells)) <= set("-: "):
            yield dict(zip(header, cells, strict=True))


def code_of(cell: str) -> str:
    """What stands between the backticks of a cell."""
    assert cell.startswith("`") and cell.endswith("`"), cell
    return cell[1:-1]


def scope_of(values: str) -> Scope:
    told = json.loads(values)
    run_vars, out, tiers = told.pop("SetVars", {}), told.pop("OUT", {}), told.pop("tiers", {})
    merged = {key: value for tier in SCOPES for key, value in tiers.get(tier, {}).items()}
    return Scope(run_vars=run_vars, variables=merged, tiers=tiers, out=out, context=told)


ROWS = list(table_rows(page("docs/templates.md"))) if "docs/templates.md" in PAGES else []


@pytest.mark.parametrize("row", [row for row in ROWS if {"template", "values"} <= row.keys()], ids=lambda row: row["template"])
def test_a_template_renders_to_what_the_page_says(row: Mapping[str, str]) -> None:
    assert TextLanguage().compile(code_of(row["template"])).render(scope_of(code_of(row["values"]))) == code_of(row["result"])


@pytest.mark.parametrize("row", [row for row in ROWS if "body" in row], ids=lambda row: row["body"])
def test_a_body_renders_to_what_the_page_says(row: Mapping[str, str]) -> None:
    assert JsonLanguage().compile(code_of(row["body"])).render(scope_of(code_of(row["values"]))) == json.loads(
        code_of(row["result"])
    )


@pytest.mark.parametrize("row", [row for row in ROWS if "formula" in row], ids=lambda row: row["formula"])
def test_a_formula_gives_what_the_page_says(row: Mapping[str, str]) -> None:
    assert compile_expression(code_of(row["formula"])).evaluate(random.Random(1)) == json.loads(code_of(row["result"]))


@pytest.mark.parametrize("row", [row for row in ROWS if "condition" in row], ids=lambda row: row["condition"])
def test_a_condition_gives_what_the_page_says(row: Mapping[str, str]) -> None:
    condition = ConditionLanguage().compile(code_of(row["condition"]))
    assert condition.render(scope_of(code_of(row["values"]))) is json.loads(code_of(row["result"]))


MACROS = list(table_rows(page("docs/macros.md"))) if "docs/macros.md" in PAGES else []


@pytest.mark.parametrize("row", [row for row in MACROS if "variables" in row], ids=lambda row: row["macros"])
def test_a_text_with_macros_becomes_what_the_page_says(row: Mapping[str, str]) -> None:
    values = {"user": "User", "char": "Assistant"}
    scope = MacroScope("assemble", datetime.now(UTC), values=values, local=json.loads(code_of(row["variables"])))
    assert MacroRun(scope).expand(code_of(row["macros"])) == code_of(row["result"])


def test_every_macro_of_sillytavern_is_on_its_page_with_its_other_names() -> None:
    rows = {code_of(row["macro"]): row.get("also called", "") for row in MACROS if "macro" in row}
    builtins = {builtin.name: builtin.aliases for builtin in BUILTINS.values()}
    assert rows.keys() == {*builtins, *VALUES, "trim", "noop"}
    assert [name for name, others in {**builtins, **VALUES}.items() if missing(list(others), rows[name])] == []


def test_every_warning_of_macros_is_on_their_page() -> None:
    told = {code_of(row["code"]) for row in MACROS if "code" in row}
    sources = (ROOT / "agentui/templating/sillytavern").glob("*.py")
    assert told == set(re.findall(r'"(macro_[a-z_]+)"', "".join(path.read_text() for path in sources)))


SCRIPTS = list(table_rows(page("docs/regex.md"))) if "docs/regex.md" in PAGES else []


@pytest.mark.parametrize("row", [row for row in SCRIPTS if "find" in row], ids=lambda row: row["find"])
def test_a_script_makes_what_the_page_says(row: Mapping[str, str]) -> None:
    pattern = compile_find(code_of(row["find"]))
    assert replace_js(code_of(row["text"]), pattern, code_of(row["replace"]))[0] == code_of(row["becomes"])


def test_every_reason_to_skip_a_script_is_told() -> None:
    assert {code_of(row["skipped"]) for row in SCRIPTS if "skipped" in row} == {*get_args(Skip), "null"}


PROMPTS = [row for row in table_rows(page("docs/prompt.md")) if "given" in row] if "docs/prompt.md" in PAGES else []


@pytest.mark.parametrize("row", PROMPTS, ids=lambda row: row["given"])
def test_a_prompt_is_what_the_page_says(row: Mapping[str, str]) -> None:
    given = json.loads(code_of(row["given"]))
    talk = [
        ("assistant", "Welcome, {{user}}!", 0), ("user", "Hi.", 1), ("assistant", "Hello.", 1), ("narrator", "Night falls.", 2),
    ]  # fmt: skip
    prompt = prepared(
        given.get("message", "Where are we?"),
        *(entry(role, text, floor, source=None if floor else "greeting") for role, text, floor in talk),
        facts=Facts({"name": "Mira"}, {"name": "Ann"}, given.get("metadata", {})),
        intent=given.get("intent", "normal"),
        words=given.get("words", ""),
        policy=policy_of(given.get("policy", {})),
        assets=PromptAssets(
            Character.of({"name": "Mira", **given["character"]}) if "character" in given else None,
            None,
            PromptPreset.of(given["preset"]) if "preset" in given else None,
        ),
    )
    said = " / ".join(f"{message.role}: {message.text}" for message in prompt.messages).replace("\n", "\\n")
    expected = code_of(row["messages"])
    assert said.endswith(expected.removeprefix("…")) if expected.startswith("…") else said == expected


def test_every_reason_to_leave_something_out_of_a_prompt_is_told() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "agentui/prompt").rglob("*.py"))
    notes = re.findall(r'Note\(\s*"(\w+)"', sources)
    assert "prompt_over_budget" in notes
    assert missing([*notes, *EXCLUSION_REASONS, *TRIM_REASONS], page("docs/prompt.md")) == []


@pytest.mark.parametrize("block", blocks(language="json", info="prompt"), ids=str)
def test_prompt_blocks_become_what_the_page_says(block: CodeBlock) -> None:
    vendor = make_vendors()[block.info.removeprefix("prompt ")]  # type: ignore[index]  # the page names a known dialect
    made = vendor.render_prompt([text_message("system", "Be brief."), text_message("user", "Hello!")])
    assert made.members == json.loads(block.text)


def test_prompt_blocks_are_shown_for_every_dialect() -> None:
    assert {block.info for block in blocks(language="json", info="prompt")} == {f"prompt {name}" for name in make_vendors()}


@pytest.mark.parametrize("block", blocks(language="template"), ids=str)
async def test_a_whole_body_is_taken_by_its_provider(block: CodeBlock, start_server, demo) -> None:  # type: ignore[no-untyped-def]  # fixtures
    """Each template of the page, in a ProviderCall of its dialect, against the demo."""
    config = {"provider": block.info, "base_url": "demo", "template": block.text}
    server = await start_server({"default": one_node("ProviderCall", config)}, named_origins={"demo": demo.origin})
    question = {"model": "demo-small", "messages": [{"role": "user", "content": "Hello!"}], "temperature": 0.5}
    async with ClientSession() as session, session.post(f"{server.origin}/v1/chat/completions", json=question) as reply:
        said = await reply.json()
    assert reply.status == 200, said
    assert "You said: Hello!" in said["choices"][0]["message"]["content"]


def one_node(kind: str, config: Json) -> Json:
    return {"format": 1, "name": "of the page", "nodes": [{"id": "n1", "type": kind, "config": config}]}


@pytest.mark.parametrize("block", [block for block in blocks(language="json") if block.info == "pipeline"], ids=str)
def test_a_pipeline_of_the_docs_compiles(block: CodeBlock) -> None:
    assert compile_plan("docs", json.loads(block.text), Catalog(BUILTIN)).warnings == ()


@pytest.mark.parametrize("block", blocks(language="json"), ids=str)
def test_json_of_the_docs_is_json(block: CodeBlock) -> None:
    json.loads(block.text)


def test_the_node_of_the_docs_works() -> None:
    """The page's own node type is defined, compiled into a plan, and its help is its docstring."""
    [block] = [block for block in blocks("docs/nodes.md", language="python") if "class " in block.text]
    space: dict[str, Json] = {"__name__": "docs_example"}
    exec(compile(block.text, str(block), "exec"), space)  # noqa: S102 - the page's own code is what is tested
    kind = next(value for name, value in space.items() if isinstance(value, type) and getattr(value, "type_name", "") == name)
    [example] = blocks("docs/nodes.md", language="json", info="pipeline-with-shout")
    document = json.loads(example.text)
    plan = compile_plan("docs", document, Catalog({**BUILTIN, kind.type_name: kind}))
    assert plan.warnings == ()


# What is to be pasted answers.


@asynccontextmanager
async def running_demo(folder: Path) -> AsyncIterator[str]:
    """The demo as ``agentui demo`` starts it, over a copy of the gallery."""
    for name in ("pipelines", "presets"):
        shutil.copytree(ROOT / name, folder / name)
    upstream = await start_demo(settings=DemoSettings(delay=0))
    folders = {name: folder / name for name in ("pipelines", "presets", "data")}
    settings = Settings(port=0, chat_preset="demo", **folders)
    app = create_app(settings, named_origins={"demo": upstream.origin}, default_active="demo")
    listener = Listener(app)
    port = await listener.start("127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await listener.stop()
        await upstream.close()


async def run(*command: str, cwd: Path) -> str:
    """Run a program to its good end; what it said."""
    process = await asyncio.create_subprocess_exec(*command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = await process.communicate()
    assert process.returncode == 0, f"{command[-1]}\n{out.decode()}\n{err.decode()}"
    return out.decode()


@pytest.mark.parametrize("block", blocks("README.md", language="sh"), ids=str)
async def test_what_the_readme_gives_to_a_shell_works(block: CodeBlock, tmp_path: Path) -> None:
    if shutil.which("curl") is None or shutil.which("sh") is None:
        skip("There is no curl or no sh.")
    async with running_demo(tmp_path) as origin:
        text = block.text.replace(WRITTEN_FOR, origin).replace("curl ", "curl --fail-with-body --silent --show-error ")
        assert "curl" in text
        said = await run("sh", "-ec", text, cwd=tmp_path)
    assert said.strip()


@pytest.mark.parametrize("block", blocks("README.md", language="powershell"), ids=str)
async def test_what_the_readme_gives_to_powershell_is_a_good_request(block: CodeBlock, tmp_path: Path) -> None:
    """The request is read out of the block and sent; where there is a PowerShell, that runs the block too."""
    url = re.search(rf"{WRITTEN_FOR}(\S+)", block.text)
    body = re.search(r"\$body = '(.*)'", block.text)
    headers = dict(re.findall(r'"([\w-]+)" = "([^"]*)"', block.text))
    assert url is not None and body is not None and "-Body $body" in block.text and "-Method Post" in block.text
    shell = shutil.which("pwsh") or shutil.which("powershell")
    async with running_demo(tmp_path) as origin:
        async with (
            ClientSession() as session,
            session.post(origin + url[1], json=json.loads(body[1]), headers=headers) as reply,
        ):
            assert reply.status == 200
        if shell is not None:
            assert "demo model" in await run(
                shell, "-NoProfile", "-Command", block.text.replace(WRITTEN_FOR, origin), cwd=tmp_path
            )


@pytest.mark.sdk
@pytest.mark.parametrize("block", blocks("README.md", "docs/memory.md", language="python"), ids=str)
async def test_what_is_given_to_python_works(block: CodeBlock, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Run as a program, in this interpreter: another one would load the vendors' packages anew, which takes seconds."""
    program = tmp_path / "program.py"
    async with running_demo(tmp_path) as origin:
        program.write_text(block.text.replace(WRITTEN_FOR, origin), encoding="utf-8")
        await asyncio.to_thread(runpy.run_path, str(program), run_name="__main__")
    assert "demo model" in capfd.readouterr().out


@dataclass(frozen=True)
class Example:
    """A command of the page and, where it shows one, the answer."""

    command: CodeBlock
    answer: CodeBlock | None


def examples(name: str) -> list[Example]:
    """The commands of a page in order, each with the answer that follows it before the next one."""
    commands, answers = blocks(name, language="sh"), blocks(name, language="json", info="answer")
    found = []
    for number, command in enumerate(commands):
        end = commands[number + 1].line if number + 1 < len(commands) else 10**9
        found.append(Example(command, next((each for each in answers if command.line < each.line < end), None)))
    return found


@pytest.mark.parametrize("name", ["docs/api.md", "docs/memory.md", *MEMORY_PAGES])
async def test_the_examples_of_the_page_were_really_run(name: str, tmp_path: Path) -> None:
    """In the order of the page, against one server, each answer with the members that the page shows."""
    if shutil.which("curl") is None or shutil.which("sh") is None:
        skip("There is no curl or no sh.")
    async with running_demo(tmp_path) as origin:
        for example in examples(name):
            text = example.command.text.replace(WRITTEN_FOR, origin).replace(
                "curl ", "curl --silent --show-error --max-time 20 "
            )
            said = await run("sh", "-ec", text, cwd=tmp_path)
            if example.answer is not None:
                assert differences(json.loads(example.answer.text), json.loads(said)) == [], f"{example.answer}\n{said}"


LONG_AGO = 10**12
"""Numbers from here on are times in milliseconds, which differ with every run."""


def differences(told: Json, real: Json, where: str = "") -> list[str]:
    """Where the real answer lacks what the page tells: members, items, values. More than is told may be there."""
    if isinstance(told, dict) and isinstance(real, dict):
        lacking = [f"{where}/{key} is not there" for key in told.keys() - real.keys()]
        return lacking + [
            line for key in told.keys() & real.keys() for line in differences(told[key], real[key], f"{where}/{key}")
        ]
    if isinstance(told, list) and isinstance(real, list):
        return [f"{where}: no item is like {item}" for item in told if all(differences(item, other, where) for other in real)]
    if isinstance(told, (str, bool)) or told is None:
        is_volatile = isinstance(told, str) and ("…" in told or '"' in told)
        return [] if told == real or (is_volatile and isinstance(real, str)) else [f"{where}: {real!r} is not {told!r}"]
    if isinstance(real, bool) or not isinstance(real, int | float):
        return [f"{where}: {real!r} is no number"]
    return [] if told == real or told >= LONG_AGO or where.endswith("/size") else [f"{where}: {real!r} is not {told!r}"]


# What is promised is proved.

PROMISES = ("SECURITY.md", "docs/security.md", "docs/reliability.md")
KNOWN_FAULTS = {"T": 30, "U": 20, "C": 9, "S": 15}
"""How many threats, faults of upstreams, faults of callers and faults of the machine are numbered."""


@pytest.mark.parametrize("name", PROMISES)
def test_every_test_that_a_promise_names_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    told = set(re.findall(r"tests/[\w/]+\.py(?:::\w+)?", text))
    assert told or name == "SECURITY.md"
    functions: dict[str, str] = {}
    for test in sorted(told):
        file, _, function = test.partition("::")
        code = functions.setdefault(file, (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).is_file() else "")
        assert code, f"{name} names {file}, which is not there"
        assert not function or re.search(rf"^(?:async )?def {function}\(", code, re.MULTILINE), f"{name} names {test}"


def test_every_promise_names_its_proof() -> None:
    for name in ("docs/security.md", "docs/reliability.md"):
        rows = [row for row in table_rows(page(name)) if "proved by" in row]
        assert rows, name
        assert [row for row in rows if "tests/" not in row["proved by"]] == [], name


def test_every_numbered_fault_has_its_row() -> None:
    rows = [row["id"] for row in table_rows(page("docs/reliability.md")) if "id" in row]
    assert rows == [f"{letter}{number}" for letter, last in KNOWN_FAULTS.items() for number in range(1, last + 1)]


def test_every_campaign_has_its_row_and_every_row_its_campaign() -> None:
    text = page("docs/reliability.md")
    known = {campaign.name for campaign in every_campaign()}
    rows = [row for row in table_rows(text) if "campaign" in row]
    assert {code_of(row["campaign"]) for row in rows} == known
    assert all(row.keys() == {"campaign", "tried", "found", "seed", "figures"} for row in rows)
    proofs = " ".join(row["proved by"] for row in table_rows(text) if "proved by" in row)
    assert set(re.findall(r"`([a-z]+\.[a-z]+)`", proofs)) <= known


def test_the_changelog_begins_with_the_version() -> None:
    assert re.search(rf"^## \[{re.escape(__version__)}\]", page("CHANGELOG.md"), re.MULTILINE)
