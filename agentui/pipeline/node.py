"""What a node is, and the catalog of node types.

A node type is a class with a pydantic model of its configuration (``Params``: the inspector's form) and a docstring (its
help text). An instance belongs to one compiled plan: it compiles its templates once and keeps no state between runs.

    @node("Upper")
    class Upper(Node[UpperParams]):
        '''Puts a text into capitals.'''

        def prepare(self, build: Build) -> None:
            self.text = build.text("text", self.params.text)

        async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
            return {"text": ctx.render(self.text).upper()}

Third parties register theirs through the entry point group ``agentui.nodes``: each entry names such a class.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from agentui.documents.document import problems_of
from agentui.errors import NO_FACTS, AgentUIError, Problem
from agentui.jsonio import Json, dumps
from agentui.pipeline.node_context import NodeContext, TemplateField
from agentui.templating.core.language import Language, Macro, Reads
from agentui.templating.core.problems import TemplateSyntaxError
from agentui.templating.hadtavern.conditions import ConditionLanguage, ValueLanguage
from agentui.templating.hadtavern.expressions import Expression, compile_expression
from agentui.templating.hadtavern.formulas.tokens import ExpressionError
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.template import HadTavernTemplate, TextLanguage
from agentui.templating.hadtavern.url import Beginning, UrlLanguage
from agentui.templating.sillytavern.template import MacroLanguage, MacroTemplate
from agentui.tools.plugins import entry_points
from agentui.upstream.http.request import is_token
from agentui.upstream.proxies import DIRECT, check_setting
from agentui.variables.paths import parse_path

TextLanguageName = Literal["hadtavern", "sillytavern"]
"""What a text is written in."""

LANGUAGE: Any = Field(
    "hadtavern",
    description="What the text is written in: hadtavern ([[...]] and {{ path }}) or sillytavern ({{user}}, {{setvar::..}}).",
    json_schema_extra={"enumDescriptions": ["Templates", "SillyTavern macros"]},
)
"""The field of a configuration that says so."""

_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")

P = TypeVar("P", bound=BaseModel)
N = TypeVar("N", bound="type[Node[Any]]")
V = TypeVar("V")
_MEMBER = re.compile(r"(?P<name>[\w$@-]+)(?:\.(?P<member>[\w$@-]+))?")


def root_and_member(path: str) -> tuple[str, str]:
    """The first name of a path in a condition, and the member of it that is read; '' where there is none, or an index."""
    found = _MEMBER.match(path)
    return ("", "") if found is None else (found["name"], found["member"] or "")


@dataclass
class Build:
    """Compiles one node's fields and collects what is wrong with them and what they read."""

    node: str
    problems: list[Problem] = field(default_factory=list)
    reads: Reads = field(default_factory=Reads)
    sets: set[str] = field(default_factory=set)
    """Run variables that the node sets."""
    paths: list[tuple[str, Macro]] = field(default_factory=list)
    """The paths that conditions and formulas read, with the fields that they stand in; not those that the node itself gives."""
    stores: bool = False
    """Whether the node writes stored variables."""
    stored: set[str] = field(default_factory=set)
    """Their names; empty in a node that stores and knows only when it runs what."""
    assembles: bool = False
    """Whether the node wants the prompt that a session makes."""
    calls: set[str] = field(default_factory=set)
    """Ids of the pipelines that the node calls."""
    body: Collection[str] = ()
    """The ids of the nodes that stand in this one, in their order."""
    has_secret: Callable[[str], bool] | None = None
    """Whether there is a secret of a name; None where nobody is to be warned of one that is not there."""

    def text(
        self,
        name: str,
        source: str,
        *,
        secrets: bool = False,
        prompt: bool = False,
        language: TextLanguageName = "hadtavern",
        own: frozenset[str] = frozenset(),
    ) -> TemplateField[str]:
        """Compile a text template; a broken one is a problem of this node and renders as nothing. ``own`` are names that the
        node itself gives to it."""
        if language == "sillytavern":
            return self._macros(name, source)
        return self._compile(TextLanguage(secrets, prompt), name, source, instead="", own=own)

    def _macros(self, name: str, source: str) -> TemplateField[str]:
        """Compile a text with SillyTavern's macros, which write any variable."""
        field = self._compile(MacroLanguage(), name, source, instead="")
        self.stores = self.stores or (isinstance(field.template, MacroTemplate) and field.template.writes)
        return field

    def url(self, name: str, source: str, beginning: Beginning, *, secrets: bool = False) -> TemplateField[str]:
        """Compile an address, or the path of one; a broken one is a problem of this node and renders as nothing."""
        scheme = _SCHEME.match(source)
        if beginning == "address" and scheme is not None and scheme[1].lower() not in ("http", "https"):
            text = f"An address begins with http:// or https://, not {scheme[0].strip()}"
            self.problem("url.scheme", text, name, facts={"scheme": scheme[0].strip()})
        return self._compile(UrlLanguage(beginning, secrets), name, source, instead="")

    def proxy(self, name: str, source: str) -> TemplateField[str]:
        """Compile a proxy's address; one that is none is a problem of this node."""
        field = self.text(name, source, secrets=True)
        if not field.template.macros:
            try:
                check_setting(source)
            except ValueError as error:
                self.problem("proxy.address", f"This is no address of a proxy: {error}, or is {DIRECT}", name)
        return field

    def headers(self, name: str, sources: Mapping[str, str]) -> dict[str, TemplateField[str]]:
        """Compile the values of headers, by their names; a name that no header can have is a problem of this node."""
        for header in sources:
            if not is_token(header):
                text = f"{header!r:.80} cannot be a header's name: use letters, digits and '-'."
                self.problem("header.name", text, f"{name}.{header}", facts={"header": header[:80]})
        return {header: self.text(f"{name}.{header}", source, secrets=True) for header, source in sources.items()}

    def object(self, name: str, source: str, *, secrets: bool = False) -> TemplateField[Json]:
        """Compile a JSON body that must be an object, and may be a macro that gives one."""
        field = self.json(name, source, secrets=secrets)
        start = len(source) - len(source.lstrip(" \t\r\n\ufeff"))
        begins_with_macro = bool(field.template.macros) and field.template.macros[0].start == start
        if not source.startswith("{", start) and not begins_with_macro and field.template.source == source:
            self.problem("template.no_object", "A JSON object must stand here: { ... }.", name)
        return field

    def json(self, name: str, source: str, *, secrets: bool = False) -> TemplateField[Json]:
        """Compile a JSON body template; a broken one is a problem of this node and renders as an empty object."""
        return self._compile(JsonLanguage(secrets), name, source, instead="{}")

    def expression(self, name: str, source: str, subject: str = "") -> Expression | None:
        """Compile an expression of the closed language; None (and a problem, which begins with its ``subject``) when it is
        broken."""
        try:
            return compile_expression(source)
        except ExpressionError as error:
            message = f"{subject}: {error.message}" if subject else error.message
            self.problem("expression.syntax", message, name, error.line, error.column)
            return None

    def condition(self, name: str, source: str, *, own: frozenset[str] = frozenset()) -> TemplateField[bool]:
        """Compile a condition; a broken one is a problem of this node and holds never. ``own`` is as for ``text``."""
        return self._reading(self._compile(ConditionLanguage(), name, source, instead="false", own=own), own)

    def value(self, name: str, source: str, *, own: frozenset[str] = frozenset()) -> TemplateField[Json]:
        """Compile a formula that reads names, as conditions do, for its value; a broken one is a problem of this node. ``own``
        are names that the node itself gives to it."""
        return self._reading(self._compile(ValueLanguage(), name, source, instead="null", own=own), own)

    def _reading(self, field: TemplateField[V], own: frozenset[str]) -> TemplateField[V]:
        """Note what a condition or a formula reads."""
        self.paths += [(field.name, macro) for macro in field.template.macros if root_and_member(macro.text)[0] not in own]
        return field

    def store(self, path: str) -> None:
        """Note that the node writes the stored variable of this name, or into one by this path."""
        self.stores = True
        # The whole text may be a variable's name, or its first step is (see ``root_of``).
        self.stored |= {path, parse_path(path)[0].key}

    def problem(
        self,
        code: str,
        message: str,
        field: str | None = None,
        line: int | None = None,
        column: int | None = None,
        facts: Mapping[str, Json] = NO_FACTS,
    ) -> None:
        """Report something wrong with the configuration. ``facts`` are what the message names, by what each is."""
        self.problems.append(Problem(code, message, node=self.node, field=field, line=line, column=column, facts=facts))

    def warning(self, code: str, message: str, field: str | None = None, *, facts: Mapping[str, Json] = NO_FACTS) -> None:
        """Report something doubtful that does not stop the pipeline."""
        self.problems.append(Problem(code, message, "warning", node=self.node, field=field, facts=facts))

    def _compile(
        self, language: Language[Scope, V], name: str, source: str, *, instead: str, own: frozenset[str] = frozenset()
    ) -> TemplateField[V]:
        """Compile a field, and ``instead`` of it what stands for a broken one."""
        problems: tuple[Problem, ...] = ()
        try:
            template = language.compile(source)
        except TemplateSyntaxError as error:
            problems = error.problems
            template = language.compile(instead)
        for problem in (*problems, *template.warnings):
            self.problems.append(replace(problem, node=self.node, field=name))
        reads = template.reads
        self.reads.add(replace(reads, names=reads.names - own, bare=reads.bare - own) if own else reads)
        self._check_secrets(name, template.macros)
        constant = None
        if isinstance(template, HadTavernTemplate) and template.is_text and template.is_constant:
            constant = template.render(Scope())
        return TemplateField(name, template, constant)

    def _check_secrets(self, field: str, macros: Sequence[Macro]) -> None:
        """Warn of secrets that are not there. They may come later, from the environment too, so the pipeline may be saved."""
        for macro in macros if self.has_secret is not None else ():
            name = macro.text.strip("[] \t").partition(":")[2].strip()
            if macro.kind == "secret" and self.has_secret is not None and not self.has_secret(name):
                text = f"There is no secret {name!r}: add it under Keys, or correct the name."
                self.problems.append(
                    Problem("secret.unknown", text, "warning", self.node, field, macro.line, macro.column, {"name": name})
                )


class NodeParams(BaseModel):
    """The base of configurations: unknown fields are kept and warned about, because files outlive versions."""

    model_config = ConfigDict(extra="allow", strict=True)


class Node(Generic[P]):
    """A node type. Subclass it with ``Node[YourParams]``, set ``Params`` and decorate it with ``@node(name)``."""

    Params: type[P]
    type_name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    category: ClassVar[str] = "other"
    icon: ClassVar[str] = "box"
    ports: tuple[str, ...] = ("done",)
    """What a node leaves by, ``done`` unless it calls ``ctx.leave_by``; where it chooses none, ``done``, else the last. A node
    whose ports follow its configuration gives itself others in ``prepare``, and the class names those that are always there."""
    ports_from: ClassVar[str] = ""
    """The path in the configuration of the names of the ports that come first, e.g. ``cases.*.name``; "" where none do."""
    idle_ports: frozenset[str] = frozenset()
    """Those of its ports that a node never leaves by as it is configured, unless it fails and the run goes on."""
    error_port: ClassVar[bool] = True
    """Whether an edge may lead on from a failure: false in nodes that cannot fail."""
    starts_on_first: bool = False
    """True in a node that runs as soon as one edge to it is taken, and does not wait for the others."""
    passes_answer: ClassVar[bool] = False
    """True in a node that only passes on what came from the nodes before it: where these exclude each other, they answer."""
    ends_run: ClassVar[bool] = False
    """True in a node that may answer wherever it stands; once it has, all that still runs is cancelled."""
    holds_body: ClassVar[bool] = False
    """True in a node whose ``parent`` others may name: they run in its walks (``NodeContext.body``)."""
    ends_iteration: ClassVar[bool] = False
    """True in a node that ends the iteration of the loop in which it stands (``NodeContext.leave_loop``)."""
    summary: ClassVar[str] = ""
    """A template over the configuration that the canvas shows on the node, e.g. ``{provider} · {model}``."""
    calls_upstream: ClassVar[bool] = False
    """True when a run of this node may cost money; such nodes are left out where only the answer is needed."""
    says_text: ClassVar[bool] = False
    """True where a node that calls an upstream answers with its ``text`` all the same, as those do that call none."""
    address_field: ClassVar[str] = "base_url"
    """The field that says where a node that calls an upstream sends its keys."""

    def __init__(self, params: P, build: Build) -> None:
        self.params = params
        self.prepare(build)

    def prepare(self, build: Build) -> None:
        """Compile what the configuration says. Reports through ``build``, never raises for bad configuration."""

    def hands_on(self, before: Sequence[str]) -> Collection[str]:
        """The ids of the nodes whose answer this one may give as its own, with the tools that a model wants to call; ``before``
        are those whose edges lead to it."""
        return ()

    async def run(self, ctx: NodeContext) -> Mapping[str, Json]:
        """Do the work and return this node's OUT, a JSON object. Raises AgentUIError."""
        raise NotImplementedError

    async def rehearse(self, ctx: NodeContext) -> Mapping[str, Json]:
        """The OUT of a node that calls no model, for the preview of one after it: what ``run`` gives, but for a node that takes
        time or tells somebody."""
        return await self.run(ctx)

    async def first_iteration(self, ctx: NodeContext) -> Mapping[str, Json]:
        """What ``{{ loop.item }}`` and its like are when the nodes in this one run first; of a type that ``holds_body``."""
        raise NotImplementedError

    async def preview(self, ctx: NodeContext) -> Json:
        """What this node would send or set, rendered and with nothing sent: a JSON object for the editor."""
        return None


class Catalog:
    """The node types by name."""

    def __init__(self, types: Mapping[str, type[Node[Any]]]) -> None:
        self._types = dict(types)

    def __getitem__(self, name: str) -> type[Node[Any]]:
        return self._types[name]

    def __contains__(self, name: object) -> bool:
        return name in self._types

    def names(self) -> list[str]:
        """All type names, sorted."""
        return sorted(self._types)

    def describe(self) -> list[dict[str, Json]]:
        """Every type for the editor: ports, form (JSON Schema), defaults and help."""
        return [describe(self._types[name]) for name in self.names()]


class FormSchema(GenerateJsonSchema):
    """JSON Schema whose titles are labels: ``base_url`` is "Base URL", ``timeout_s`` "Timeout (seconds)"."""

    def get_title_from_name(self, name: str) -> str:
        """A field's label, where its author gave none."""
        words = [_ACRONYMS.get(word.lower(), word) for word in name.split("_") if word]
        label = " ".join([*words[:-1], "(seconds)"] if words[1:] and words[-1] == "s" else words)
        return label[:1].upper() + label[1:]


_ACRONYMS: Mapping[str, str] = {word.lower(): word for word in ("API", "HTTP", "ID", "JSON", "LLM", "SSE", "URL")}


def describe(kind: type[Node[Any]]) -> dict[str, Json]:
    """One node type as the editor's inspector reads it: all that a form needs, so that no type brings JavaScript.

    ``defaults`` are those of the fields that have one.
    """
    schema = kind.Params.model_json_schema(schema_generator=FormSchema)
    required = {name for name, info in kind.Params.model_fields.items() if info.is_required()}
    return {
        "type": kind.type_name,
        "title": kind.title or kind.type_name,
        "category": kind.category,
        "icon": kind.icon,
        "help": (kind.__doc__ or "").strip(),
        "ports": list(kind.ports),
        "ports_from": kind.ports_from or None,
        "error_port": kind.error_port,
        "ends_run": kind.ends_run,
        "holds_body": kind.holds_body,
        "calls_upstream": kind.calls_upstream,
        "summary": kind.summary,
        "schema": schema,
        "defaults": kind.Params.model_construct().model_dump(mode="json", exclude=required),
    }


def node(name: str) -> Callable[[N], N]:
    """Class decorator: give a node type its name."""

    def named(kind: N) -> N:
        kind.type_name = name
        return kind

    return named


def load_catalog(builtin: Mapping[str, type[Node[Any]]]) -> tuple[Catalog, list[str]]:
    """The built-in types and those of installed packages (entry point group ``agentui.nodes``).

    Returns the catalog and one sentence for each entry that was left out: a name that is taken, something that is no
    node type, or a package that fails to import. A broken plug-in never stops the server.
    """
    types: dict[str, type[Node[Any]]] = dict(builtin)
    complaints: list[str] = []
    for entry in entry_points(group="agentui.nodes"):
        try:
            kind = entry.load()
        except Exception as error:  # noqa: BLE001 - a stranger's import may raise anything
            complaints.append(f"The node plug-in {entry.name!r} does not import: {type(error).__name__}: {error}")
            continue
        if not (isinstance(kind, type) and issubclass(kind, Node) and kind.type_name):
            complaints.append(f"The entry point {entry.name!r} is not a node type: decorate a Node subclass with @node.")
        elif kind.type_name in types:
            complaints.append(f"The node type {kind.type_name!r} of {entry.value!r} exists already and is left out.")
        elif (fault := _fault_of(kind)) is not None:
            complaints.append(f"The node type {kind.type_name!r} of {entry.value!r} has no form and is left out: {fault}")
        else:
            types[kind.type_name] = kind
    return Catalog(types), complaints


def _fault_of(kind: type[Node[Any]]) -> str | None:
    """Why a node type cannot be described to the editor; None where it can."""
    try:
        dumps(describe(kind))
    except Exception as error:  # noqa: BLE001 - a stranger's parameters may raise anything
        first_line = str(error).partition("\n")[0]
        return f"{type(error).__name__}: {first_line}"
    return None


def make_node(kind: type[Node[Any]], config: Mapping[str, Json], build: Build) -> Node[Any] | None:
    """Check a configuration and make the node; None (and problems in ``build``) when it does not fit."""
    try:
        params = kind.Params.model_validate(config)
    except ValidationError as error:
        build.problems.extend(problems_of(error, node=build.node))
        return None
    for name in params.model_extra or {}:
        text = f"{kind.type_name} has no field {name!r}; it is kept, and ignored."
        build.warning("config.unknown_field", text, name, facts={"type": kind.type_name, "name": name})
    try:
        return kind(params, build)
    except AgentUIError as error:
        build.problem("node.config", error.message, facts={"type": kind.type_name})
        return None
    except Exception as error:  # noqa: BLE001 - a plug-in's code may raise anything, and must not stop the server
        text = f"{kind.type_name} does not accept this configuration: {type(error).__name__}: {error}"
        build.problem("node.config", text, facts={"type": kind.type_name})
        return None
