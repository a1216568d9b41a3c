"""Templates made from their own grammar, each with the exact result that it must have; and the same after accidents.

What a broken template does cannot be told beforehand, but this can: it does the same whatever the values say. So each one is
rendered twice, once with values that are macros, once with the same values written in letters that no language uses, and the
second result, written back, must be the first one.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

from agentui.jsonio import Json
from agentui.templating.core.problems import TemplateRenderError, TemplateSyntaxError
from agentui.templating.hadtavern.json_body import JsonLanguage
from agentui.templating.hadtavern.scope import Scope
from agentui.templating.hadtavern.template import TextLanguage
from tests.campaigns.campaign import Campaign, Trial
from tests.campaigns.fuzz import Fuzz, same_json
from tests.campaigns.fuzz_words import CANARIES, HOSTILE_NAMES, HUGE_NUMBERS, ODD_TEXTS, SECRET, mutate_text

NOWHERE: Final = object()
"""What a path reaches that leads nowhere."""

DECLARED = (TemplateSyntaxError, TemplateRenderError)

_FIRST_STRANGER = 0xE000
_STRANGERS = 0x1800
_TO_STRANGE = {
    code: _FIRST_STRANGER + code
    for code in range(0x21, _STRANGERS)
    if not (chr(code).isdigit() or chr(code).isspace() or chr(code) in '"\\\x7f')
}
_FROM_STRANGE = {strange: code for code, strange in _TO_STRANGE.items()}
_CHANGES_LETTERS = ("upper", "lower", "replace", "int", "float", "add")
"""Filters whose result depends on which letters a text has."""


def strange(value: Json) -> Json:
    """The value with every letter of its texts replaced by one of the private use area: nothing in it is a macro. Keys stay,
    and so do quotes, digits and white space, so that JSON's escapes, numbers and ``trim`` find the same places."""
    if isinstance(value, str):
        return value.translate(_TO_STRANGE)
    if isinstance(value, Mapping):
        return {key: strange(item) for key, item in value.items()}
    return [strange(item) for item in value] if isinstance(value, list) else value


def familiar(text: str) -> str:
    """What ``strange`` replaced, put back."""
    return text.translate(_FROM_STRANGE)


@dataclass(frozen=True, slots=True)
class Address:
    """A place that a template can name, and what stands there. ``square`` is None where only ``{{ }}`` can write it."""

    curly: str
    square: str | None
    value: object


@dataclass(frozen=True, slots=True)
class World:
    """A scope, the same scope in strange letters, and the addresses in it."""

    scope: Scope
    strange: Scope
    prompt: dict[str, Json]
    addresses: tuple[Address, ...]


def make_world(random: Random) -> World:
    """A random scope full of canaries; every place in it becomes an address."""
    shared = ["own", "run_vars", "variables", "context"]
    layers: dict[str, dict[str, Json]] = {
        layer: {f"{layer}_a": _value(random, 2), f"{layer}_b": _value(random, 1)} for layer in shared
    }
    for layer in shared:
        if random.random() < 0.5:
            layers[layer]["shared"] = f"{random.choice(CANARIES)} of {layer}"
        layers[layer]["secret"] = SECRET
    for name in random.sample(HOSTILE_NAMES, 4):
        if name not in ("True", "none"):
            layers["run_vars"][name] = _value(random, 1)
    layers["variables"]["assets.gold"] = random.choice(CANARIES)
    tiers = {"chat": {"gold": _value(random, 1)}, "global": {"g-1": _value(random, 1)}}
    out: dict[str, Json] = {
        "n1": {"response_text": random.choice(CANARIES), "vars": {"secret": SECRET, "v": _value(random, 1)}}
    }
    out["n2"] = {"result": {"choices": [{"message": {"content": random.choice(CANARIES)}}]}, "list": [_value(random, 1)]}
    prompt: dict[str, Json] = {"messages": [{"role": "user", "content": random.choice(CANARIES)}], "p": _value(random, 1)}

    def scope(change: Callable[[Json], Json]) -> Scope:
        return Scope(
            run_vars=change(layers["run_vars"]),
            variables=change(layers["variables"]),
            tiers=change(tiers),
            context=change(layers["context"]),
            out=change(out),
            own=change(layers["own"]),
            prompt=change(prompt),
            secret=lambda name: str(change(f"{SECRET} {name}")),
        )

    return World(scope(lambda value: value), scope(strange), prompt, tuple(_addresses(random, layers, tiers, out)))


def _value(random: Random, depth: int) -> Json:
    """A JSON value whose texts are mostly canaries."""
    kind = random.randrange(12 if depth else 9)
    if kind < 5:
        return random.choice(CANARIES)
    match kind:
        case 5:
            return random.choice((None, True, False))
        case 6:
            return random.choice((0, -1, 7, 2**40, 2**63 - 1, 0.5, -2.25))
        case 7 | 8:
            return random.choice(ODD_TEXTS) + random.choice(("", "tail"))
        case 9:
            return [_value(random, depth - 1) for _ in range(random.randrange(3))]
        case _:
            keys = ("k", "a-b", "x y", "d.e", "[[VAR:secret]]", "{{ 1 }}", "0", *random.sample(HOSTILE_NAMES, 2))
            return {random.choice(keys): _value(random, depth - 1) for _ in range(random.randrange(1, 4))}


def _addresses(
    random: Random, layers: dict[str, dict[str, Json]], tiers: dict[str, Json], out: dict[str, Json]
) -> list[Address]:
    """Every place of the scope by all its spellings, and places that are not there."""
    nearest = {**layers["context"], **layers["variables"], **layers["run_vars"], **layers["own"]}
    context_first = {**nearest, **layers["context"]}
    found: list[Address] = []
    for name, value in nearest.items():
        if "." in name:
            found.append(Address(name, None, value))
        else:
            found += _below(random, name, f"[[{name}]]", None, value)
    for name, value in context_first.items():
        if "." not in name:
            found += _below(random, None, None, f"VAR:{name}", value)
    for node, value in out.items():
        found += _below(random, f"OUT.{node}", None, f"OUT:{node}", value)
    found += [
        Address("OUT1", "[[OUT1]]", out["n1"]["response_text"]),
        Address("OUT2", "[[OUT2]]", out["n2"]["result"]["choices"][0]["message"]["content"]),
        Address("OUT9", "[[OUT9]]", NOWHERE),
        Address("vars.chat.gold", "[[VAR:vars.chat.gold]]", NOWHERE),
        Address("vars.shared", None, layers["run_vars"].get("shared", NOWHERE)),
        Address("unknown", "[[unknown]]", NOWHERE),
        Address("unknown.x.y", "[[VAR:unknown.x.y]]", NOWHERE),
    ]
    # ``[[VAR:vars.chat.gold]]`` reads tiers as ``{{ vars.chat.gold }}`` does.
    tier = Address("vars.chat.gold", "[[VAR:vars.chat.gold]]", tiers["chat"]["gold"])
    return [tier if each.curly == tier.curly else each for each in found]


def _below(random: Random, curly: str | None, bare: str | None, square: str | None, value: object) -> list[Address]:
    """The place itself, and the places below it."""
    found: list[Address] = []
    if curly is not None:
        found.append(Address(curly, bare if bare is not None else f"[[{square}]]" if square else None, value))
    elif square is not None:
        found.append(Address("", f"[[{square}]]", value))
    children: list[tuple[str, object]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = [(str(index), item) for index, item in enumerate(value)] + [(str(-len(value) - 1), NOWHERE)]
    hostile = random.choice(HOSTILE_NAMES)
    if value is not NOWHERE and not (isinstance(value, dict) and hostile in value):
        children.append((hostile, NOWHERE))
    for key, child in children:
        found += _below(
            random,
            None if curly is None else curly + _curly_step(random, key),
            None,
            None if square is None else square + _square_step(random, key),
            child,
        )
    return found


def _curly_step(random: Random, key: str) -> str:
    """One step as ``{{ }}`` writes it."""
    is_word = all(part and all(each.isalnum() or each in "_$@" for each in part) for part in key.split("-")) and key.isascii()
    if is_word and random.random() < 0.7:
        return f".{key}"
    if key.removeprefix("-").isdigit() and random.random() < 0.5:
        return f"[{key}]"
    return f"['{key}']" if random.random() < 0.5 else f'["{key}"]'


def _square_step(random: Random, key: str) -> str:
    """One step as ``[[VAR:..]]`` writes it."""
    is_plain = bool(key) and key == key.strip() and not any(each in ".[]|\"'\n\r" for each in key)
    if is_plain and random.random() < 0.7:
        return f".{key}"
    return f"['{key}']" if random.random() < 0.5 else f'["{key}"]'


# What the language means, said once more in a few lines and by nobody's code but this page's.


def as_text(value: object) -> str:
    """A value as a text shows it."""
    if value is None or value is NOWHERE:
        return ""
    return value if isinstance(value, str) else compact(value)


def compact(value: object) -> str:
    """A value as compact JSON."""
    return json.dumps(None if value is NOWHERE else value, ensure_ascii=False, separators=(",", ":"))


def _joined(value: object, between: str) -> str:
    return between.join(as_text(item) for item in (value if isinstance(value, list) else [value]))


_PASSING: Final[tuple[tuple[str, Callable[[object], object]], ...]] = (
    ("upper", lambda value: as_text(value).upper()),
    ("lower", lambda value: as_text(value).lower()),
    ("trim", lambda value: as_text(value).strip()),
    ("first", lambda value: value[0] if isinstance(value, (str, list)) and value else NOWHERE),
    ("last", lambda value: value[-1] if isinstance(value, (str, list)) and value else NOWHERE),
    ("join(' {{ 1 }} ')", lambda value: _joined(value, " {{ 1 }} ")),
    ("join", lambda value: _joined(value, "")),
    ("truncate(5)", lambda value: as_text(value)[:5]),
    ("truncate(9, '..')", lambda value: text if len(text := as_text(value)) <= 9 else text[:7] + ".."),
    ("replace('e', '[[secret]]')", lambda value: as_text(value).replace("e", "[[secret]]")),
    ("replace('[[', '{{')", lambda value: as_text(value).replace("[[", "{{")),
)
"""Filters through which null and missing values pass untouched."""

_TAKING: Final[tuple[tuple[str, Callable[[object], object]], ...]] = (
    ("json", compact),
    ("string", as_text),
    ("length", lambda value: len(value) if isinstance(value, (dict, list)) else len(as_text(value))),
)

_LITERALS: Final[tuple[tuple[str, Json], ...]] = (
    ("1", 1),
    ("-2.5", -2.5),
    ("1e2", 100.0),
    ("true", True),
    ("none", None),
    ("'}}'", "}}"),
    ("'[[VAR:secret]]'", "[[VAR:secret]]"),
    ("'{{ secret }}'", "{{ secret }}"),
    (r"'\u005b\x5b'", "[["),
    ("'it\\'s'", "it's"),
    ("[]", []),
    ("{}", {}),
    ("[1, 'a', null]", [1, "a", None]),
    ("{'k': [true]}", {"k": [True]}),
)

_TEXTS: Final = (
    "plain ",
    "[[true]] ",
    "[[1,2]]",
    '[["a"]]',
    "[[ ]]",
    "[[",
    "]]",
    "}}",
    " }",
    "[",
    "[[not a name]]",
    "{ x }",
    "ü\u2028\U0001f600",
    "$VAR_REF{ x }",
    "%}",
    "\\",
    '"',
    "__class__ ",
)


class Grammar:
    """Writes templates over one world, each piece with what it must become."""

    def __init__(self, random: Random, world: World) -> None:
        self.random = random
        self.world = world

    def macro(self, depth: int = 2) -> tuple[str, object]:
        """One macro, and its value; the source's own text where a name is unknown."""
        address = self.random.choice(self.world.addresses)
        if address.square is not None and (not address.curly or self.random.random() < 0.4):
            if address.square == "[[unknown]]":
                return address.square, address.square
            return self._spaced(address.square), address.value
        source, value = self._expression(depth)
        space = self.random.choice((" ", "", "  ", " \t"))
        return f"{{{{{space}{source}{space or ' '}}}}}", value

    def _spaced(self, square: str) -> str:
        """A square macro, perhaps with the spaces that it may have."""
        if self.random.random() < 0.8:
            return square
        inside = square[2:-2]
        form, colon, path = inside.partition(":")
        return f"[[ {form} : {path} ]]" if colon else f"[[ {inside} ]]"

    def _expression(self, depth: int) -> tuple[str, object]:
        random = self.random
        if depth and random.random() < 0.15:
            return self._container(depth - 1)
        if random.random() < 0.15:
            source, value = random.choice(_LITERALS)
            result: object = value
        else:
            address = random.choice(self.world.addresses)
            if not address.curly:
                return self._expression(depth)
            source, result = address.curly, address.value
        while depth and random.random() < 0.4:
            source, result = self._filtered(source, result, depth - 1)
        return source, result

    def _container(self, depth: int) -> tuple[str, object]:
        items = [self._expression(depth) for _ in range(self.random.randrange(3))]
        values = [None if value is NOWHERE else value for _, value in items]
        if self.random.random() < 0.5:
            return "[" + ", ".join(source for source, _ in items) + "]", values
        members = {f"k{number} [[x]]": value for number, value in enumerate(values)}
        return "{ " + ", ".join(f"'{key}': {source}" for key, (source, _) in zip(members, items, strict=True)) + " }", members

    def _filtered(self, source: str, value: object, depth: int) -> tuple[str, object]:
        random = self.random
        chance = random.random()
        if chance < 0.4:
            other, otherwise = self._expression(depth)
            return f"{source}|default({other})", otherwise if value is None or value is NOWHERE else value
        if chance < 0.6:
            name, function = random.choice(_TAKING)
            return f"{source}|{name}", function(None if value is NOWHERE else value)
        name, function = random.choice(_PASSING)
        bar = random.choice(("|", " | "))
        return f"{source}{bar}{name}", value if value is None or value is NOWHERE else function(value)

    def text(self) -> tuple[str, str]:
        """A text template and what it renders to."""
        sources: list[str] = []
        results: list[str] = []
        for _ in range(self.random.randrange(1, 5)):
            if self.random.random() < 0.35:
                plain = self.random.choice(_TEXTS)
                sources.append(plain)
                results.append(plain)
            else:
                source, value = self.macro()
                # Two macros side by side must not make a third sign between them.
                sources.append(source)
                results.append(as_text(value))
        return "".join(sources), "".join(results)

    def body(self, depth: int = 3) -> tuple[str, Json]:
        """A JSON template, an object at its top, and the value that it renders to."""
        return self._object(depth)

    def _json(self, depth: int) -> tuple[str, Json]:
        random = self.random
        chance = random.random()
        if chance < 0.4:
            source, value = self.macro()
            return source, None if value is NOWHERE else value
        if chance < 0.65 or not depth:
            return self._string()
        if chance < 0.75:
            value = random.choice((0, 1, -7, 0.5, True, False, None, 12345678901234567890, "[[x"))
            return json.dumps(value), value
        return self._array(depth - 1) if chance < 0.85 else self._object(depth - 1)

    def _array(self, depth: int) -> tuple[str, Json]:
        items = [self._json(depth) for _ in range(self.random.randrange(4))]
        # A space: ``[[x]]`` would be a macro.
        return "[ " + " , ".join(source for source, _ in items) + " ]", [value for _, value in items]

    def _object(self, depth: int) -> tuple[str, Json]:
        random = self.random
        sources: list[str] = []
        made: dict[str, Json] = {}
        for number in range(random.randrange(4)):
            if random.random() < 0.15:
                sources.append("[[PROMPT]]")
                made.update(self.world.prompt)
                continue
            key, name = self._string(f"k{number}") if random.random() < 0.3 else (f'"k{number}"', f"k{number}")
            source, value = self._json(depth)
            colon = random.choice((":", " : "))
            sources.append(f"{key}{colon}{source}")
            made[name] = value
        return "{" + random.choice((", ", ",\n  ")).join(sources) + "}", made

    def _string(self, first: str = "") -> tuple[str, str]:
        """A JSON string with macros in it. What stands there as an escape is text and no macro."""
        sources, results = [first], [first]
        for _ in range(self.random.randrange(4)):
            if self.random.random() < 0.4:
                plain = self.random.choice((*_TEXTS, "[[VAR:secret]]", "{{ secret }}"))
                escaped = json.dumps(plain, ensure_ascii=self.random.random() < 0.5)[1:-1]
                sources.append(escaped.replace("[[", "\\u005b\\u005b").replace("{", "\\u007b"))
                results.append(plain)
            else:
                source, value = self.macro(1)
                sources.append(source)
                results.append(as_text(value))
        return '"' + "".join(sources) + '"', "".join(results)


WORDS: Final = (
    *("{{", "}}", "[[", "]]", "{%", "%}", "{#", "#}", "[[VAR:", "[[OUT:", "[[OUT1]]", "[[SECRET:key]]", "[[PROMPT]]"),
    *("|default(",),
    *("(", ")", "[", "]", "{", "}", "'", '"', '\\"', "\\", ".", "|", ",", ":", "-", "~", "+", "==", " if ", " else "),
    *(" and ", " not "),
    *("|upper", "|join", "|attr('x')", "|format", "|map", "|json", "|length", ".0", "[0]", "[-1]", "['a']", "[x]", "()", "(1)"),
    *("{{ x }}", "[[shared]]", "{{ shared }}", "{{ own_a }}", "\\u005b", "true", "null", "1", "\n", "loop.index", "''.format"),
    *CANARIES,
    *HOSTILE_NAMES,
    *HUGE_NUMBERS,
)

_LONG: Final = (
    *("{{", "[[", "[[[", "{{ x", "{{ '", "{{ x|default(", "[[VAR:a", "[[VAR:a]]", "{{ x }}", "{%", "{#", "[[SECRET:", "x."),
    *('{"a":', "[", '"', '{"a":"', '{"a":{{ x }},', "\\u005b", "{{ [", "{{ x[", "{{ 'a'|upper", " ", "]]", "}}"),
    *("{{ x|join|", "[["),
    *("9", "{{ 9", "a\n", "{{ x }}\n", '{"k":1,', "{{ (", "|", "[[OUT:n1.vars.v]]", "{{ x|replace('a','b') }}"),
)


def long_source(random: Random) -> str:
    """A few words very often: what a parser that looks back or ahead too far would choke on."""
    words = [random.choice(_LONG) for _ in range(random.randrange(1, 4))]
    source = "".join(words) * (random.choice((2_000, 20_000, 100_000)) // len("".join(words)))
    return random.choice(("", "{{ ", '{"a": "', "{{ x }}")) + source + random.choice(("", "}}", "]]", '"}', " }}"))


async def fuzz_templates(trial: Trial) -> None:
    """Text templates, JSON templates and values with templates in them."""
    fuzz = Fuzz(trial, "templates", DECLARED)
    worlds = [make_world(trial.random) for _ in range(64)]

    def one(random: Random) -> None:
        world = random.choice(worlds)
        grammar = Grammar(random, world)
        kind = random.randrange(100)
        if kind < 25:
            _whole_text(fuzz, world, grammar)
        elif kind < 50:
            _whole_body(fuzz, world, grammar)
        else:
            _broken(fuzz, world, grammar, kind)

    fuzz.warm_up(300, lambda: one(trial.random))
    with fuzz.watch:
        for number, random in enumerate(fuzz.inputs()):
            one(random)
            if number % 5000 == 0:
                await asyncio.sleep(0)
            if number % 2500 == 2499:
                worlds[random.randrange(len(worlds))] = make_world(random)
                _long(fuzz, random.choice(worlds), random)


def _whole_text(fuzz: Fuzz, world: World, grammar: Grammar) -> None:
    """A text of the language renders to exactly what it says."""
    source, expected = grammar.text()
    fuzz.trial.counts["exact results"] += 1
    text = fuzz.try_out(source, lambda: TextLanguage(prompt=True).compile(source).render(world.scope))
    if text.error is not None or text.value != expected:
        fuzz.fail("a text is wrong", source, text.value, text.error, expected)


def _whole_body(fuzz: Fuzz, world: World, grammar: Grammar) -> None:
    """A JSON template of the language renders to exactly the value that it says."""
    source, expected = grammar.body()
    fuzz.trial.counts["exact results"] += 1
    outcome = fuzz.try_out(source, lambda: JsonLanguage().compile(source).render(world.scope))
    if outcome.error is not None or not same_json(outcome.value, expected):
        fuzz.fail("a body is wrong", source, outcome.value, outcome.error, expected)


def _broken(fuzz: Fuzz, world: World, grammar: Grammar, kind: int) -> None:
    """After accidents a template still treats all values alike."""
    is_json = kind < 75
    source = mutate_text(grammar.random, (grammar.body() if is_json else grammar.text())[0], WORDS)
    render = _render_json if is_json else _render_text
    outcome = fuzz.try_out(source, partial(render, source, world.scope))
    fuzz.trial.counts["refused"] += outcome.error is not None
    if isinstance(outcome.error, TemplateSyntaxError):
        return
    if any(word in source for word in _CHANGES_LETTERS):
        return
    fuzz.trial.counts["compared results"] += 1
    again = fuzz.try_out(source, partial(render, source, world.strange))
    said = None if again.value is None else familiar(again.value)
    if type(again.error) is not type(outcome.error) or said != outcome.value:
        fuzz.fail("what a value says changes what the template does", source, outcome, again)


def _render_text(source: str, scope: Scope) -> str:
    return TextLanguage(secrets=True, prompt=True).compile(source).render(scope)


def _render_json(source: str, scope: Scope) -> str:
    return json.dumps(JsonLanguage(secrets=True).compile(source).render(scope), ensure_ascii=False, allow_nan=False)


def _long(fuzz: Fuzz, world: World, random: Random) -> None:
    """A very long source costs time in proportion."""
    source = long_source(random)
    fuzz.trial.counts["long inputs"] += 1
    shown = f"{source[:80]}... ({len(source)} characters)"
    fuzz.try_out(shown, lambda: TextLanguage(prompt=True).compile(source).render(world.scope), size=len(source))
    fuzz.try_out(shown, lambda: JsonLanguage().compile(source).render(world.scope), size=len(source))


CAMPAIGNS = [
    Campaign("fuzz.templates", fuzz_templates, counted="templates", short=6_000, long=1_000_000, short_seconds=40.0, least=0.05)
]
