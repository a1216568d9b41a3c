"""Does the suite notice? ``python -m tests.campaigns.mutations [PART ...]`` breaks the code in one place at a time.

Each mutation is a small mistake that somebody could make, and the tests that have to see it. It is made in a copy of the
checkout, those tests run there, and the report says of each whether it was caught or slipped. A part of a mutation's file name
chooses among them. Exit code 1 when one slipped, or when its old text does not stand exactly once in its file any more.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 600
"""After so long a mutation counts as caught: the tests hang, which a run of the suite would tell."""
FAILED, TIMED_OUT = 1, -1
"""What pytest exits with when a test failed, and what stands for one that did not end."""


@dataclass(frozen=True)
class Mutation:
    """One mistake: ``new`` in the place of ``old``, what it ``breaks``, and the ``tests`` (paths between blanks)."""

    file: str
    old: str
    new: str
    breaks: str
    tests: str


EXECUTOR = "tests/unit/pipeline/test_executor.py"
HISTORY = "tests/unit/pipeline/test_history.py"
SSE = "tests/unit/vendors/test_sse.py"
OPENAI = (
    "tests/unit/vendors/test_openai_stream.py tests/unit/vendors/test_openai_request.py tests/unit/vendors/test_openai_reply.py"
)
CLAUDE = (
    "tests/unit/vendors/test_claude_stream.py tests/unit/vendors/test_claude_render.py "
    "tests/unit/vendors/test_claude_request.py tests/unit/vendors/test_claude_reply.py "
    "tests/unit/vendors/test_claude_errors.py"
)
GEMINI = (
    "tests/unit/vendors/test_gemini_stream.py tests/unit/vendors/test_gemini_request.py "
    "tests/unit/vendors/test_gemini_translate.py tests/unit/vendors/test_gemini_errors.py"
)
RESPONSES = "tests/unit/vendors/test_responses_stream.py tests/unit/vendors/test_responses_request.py"
TEMPLATES = "tests/unit/templating"
UPSTREAM = "tests/unit/upstream"
MADE_KEYS = "tests/faults/test_made_keys.py"
RECORDED_KEYS = "tests/faults/test_recorded_keys.py"
STORE = "tests/store/test_conformance.py tests/store/test_sqlite.py"
TURNS = (
    "tests/chats tests/turns/test_turns.py tests/turns/test_failures.py tests/turns/test_repeats.py tests/turns/test_races.py"
)
VARIABLES = "tests/variables tests/turns/test_tiers.py"
DOCUMENTS = "tests/unit/pipeline/test_library.py tests/api/test_editor_documents.py"
SECRETS = "tests/unit/secrets tests/faults/test_secrets.py"
LIMITS = "tests/api/test_limits.py tests/faults/test_doors.py tests/faults/test_threats_routes.py"
PAGE = (
    "tests/browser/test_core_commands.py tests/browser/test_core_graph.py tests/browser/test_core_editing.py "
    "tests/browser/test_core_exchange.py tests/browser/test_core_runlog.py tests/browser/test_run_core.py"
)

MUTATIONS = [
    # The engine
    Mutation(
        "agentui/pipeline/walk/executor.py",
        "self.waits[following] -= 1",
        "self.waits[following] -= 2",
        "a node waits for one of two",
        EXECUTOR,
    ),
    Mutation(
        "agentui/pipeline/walk/executor.py",
        "if self.waits[following] == 0:",
        "if self.waits[following] <= 1:",
        "a node runs before all that it waits for",
        EXECUTOR,
    ),
    Mutation(
        "agentui/pipeline/walk/executor.py",
        "        if not node.enabled:",
        "        if node.enabled is None:",
        "a disabled node runs",
        EXECUTOR,
    ),
    Mutation(
        "agentui/pipeline/walk/executor.py",
        "(not node.may_fail or answers):",
        "(not node.may_fail):",
        "an answering node may fail",
        EXECUTOR,
    ),
    Mutation("agentui/pipeline/walk/executor.py", "(not node.may_fail or answers):", "answers:", "a failure goes by", EXECUTOR),
    Mutation(
        "agentui/pipeline/walk/frame.py",
        "self.run_vars = {**self.run_vars, **variables}",
        "self.run_vars = {**variables, **self.run_vars}",
        "the first SetVars wins",
        EXECUTOR,
    ),
    Mutation(
        "agentui/pipeline/walk/said.py",
        "last = list(variables.values())[-1]",
        "last = list(variables.values())[0]",
        "the first variable is the answer",
        EXECUTOR,
    ),
    Mutation(
        "agentui/pipeline/walk/pins.py",
        "len(node.ports) > 1 or node.stores or",
        "len(node.ports) > 1 or",
        "a pinned run stores nothing",
        f"{EXECUTOR} tests/api/test_editor_try.py",
    ),
    Mutation(
        "agentui/pipeline/walk/executor.py",
        "elif not self.is_chat and position not in self.frame.plan.answers and node.node.calls_upstream:",
        "elif False and node.node.calls_upstream:",
        "counting tokens costs money",
        f"{EXECUTOR} tests/api/test_proxy_basics.py",
    ),
    Mutation(
        "agentui/pipeline/history.py",
        "while self._ended and (len(self._ended) > self._max_runs or self._bytes > self._max_bytes):",
        "while self._ended and len(self._ended) > self._max_runs:",
        "the history is bounded by no size",
        HISTORY,
    ),
    Mutation(
        "agentui/pipeline/events.py",
        "if whole or size <= INLINE_LIMIT:",
        "if whole or size >= INLINE_LIMIT:",
        "large payloads are inlined",
        "tests/unit/pipeline/test_events.py",
    ),
    # The vendors
    Mutation("agentui/vendors/sse.py", 'b"\\n".join(lines)', 'b"".join(lines)', "lines of an event run together", SSE),
    Mutation(
        "agentui/vendors/sse.py",
        "return not self._begun and not self._lines and not self._event",
        "return True",
        "a cut event counts as an end",
        SSE,
    ),
    Mutation(
        "agentui/vendors/claude/stream.py",
        "if isinstance(signature, str) and signature:",
        "if isinstance(signature, bytes) and signature:",
        "signatures are lost",
        CLAUDE,
    ),
    Mutation(
        "agentui/vendors/claude/stream.py",
        'if self._done or getattr(delta, "choice", 0) != 0:',
        "if self._done:",
        "a second choice is mixed in",
        CLAUDE,
    ),
    Mutation(
        "agentui/vendors/claude/stream.py",
        "if delta.arguments and not block.is_closed:",
        "if delta.arguments and block.is_closed:",
        "arguments of calls are lost",
        CLAUDE,
    ),
    Mutation(
        "agentui/vendors/claude/content.py",
        'return _FOREIGN.sub("_", id) or "call"',
        "return id",
        "an id that Anthropic refuses",
        CLAUDE,
    ),
    Mutation(
        "agentui/vendors/claude/content.py",
        "if media_type not in _IMAGE_TYPES:",
        "if media_type in _IMAGE_TYPES:",
        "pictures are refused",
        f"{CLAUDE} tests/matrix/test_media.py",
    ),
    Mutation(
        "agentui/vendors/claude/render.py",
        "if params.temperature > 1:",
        "if params.temperature > 2:",
        "a temperature that Anthropic refuses",
        CLAUDE,
    ),
    Mutation(
        "agentui/vendors/claude/render.py",
        "if params.n is not None and params.n > 1:",
        "if params.n is not None and params.n > 9:",
        "a dropped n is not named",
        CLAUDE,
    ),
    Mutation(
        "agentui/vendors/claude/errors.py",
        "if math.isfinite(seconds) and seconds >= 0:",
        "if True:",
        "an endless wait is believed",
        CLAUDE,
    ),
    Mutation(
        "agentui/vendors/claude/turns.py",
        'part.signed_by == "claude" and (part.signature or part.redacted)',
        "(part.signature or part.redacted)",
        "a foreign signature reaches Anthropic",
        f"{CLAUDE} tests/matrix/test_thinking.py",
    ),
    Mutation(
        "agentui/vendors/gemini/contents.py",
        "if conversation.contents or conversation.system is None:",
        "if True:",
        "a system text alone has no contents",
        GEMINI,
    ),
    Mutation(
        "agentui/vendors/gemini/stream.py",
        'if body.get("error") is not None:',
        "if False:",
        "an error within a stream is no error",
        GEMINI,
    ),
    Mutation(
        "agentui/vendors/gemini/metadata.py",
        'if refused and reason in (None, "stop", "stop_sequence"):',
        "if False:",
        "a blocked prompt ends well",
        GEMINI,
    ),
    Mutation(
        "agentui/vendors/gemini/errors.py",
        "if status == 400 and any(",
        "if status == 499 and any(",
        "a bad key is a bad request",
        GEMINI,
    ),
    Mutation(
        "agentui/vendors/openai/read_choice.py",
        "if call is None or begins_another:",
        "if call is None:",
        "two calls of one index become one",
        OPENAI,
    ),
    Mutation(
        "agentui/vendors/openai/read_choice.py",
        "if refusal and isinstance(refusal, str):",
        "if False:",
        "a refusal is silent",
        OPENAI,
    ),
    Mutation(
        "agentui/vendors/openai_responses/stream.py",
        'if status == "incomplete":',
        'if status == "nothing":',
        "a cut answer looks whole",
        RESPONSES,
    ),
    Mutation(
        "agentui/vendors/openai_responses/stream.py",
        "if not isinstance(text, str) or not text:",
        "if not isinstance(text, str) or text:",
        "texts are lost",
        RESPONSES,
    ),
    # Templates
    Mutation(
        "agentui/templating/core/problems.py",
        "if len(text) > MAX_SOURCE:",
        "if len(text) < 0:",
        "sources have no limit",
        TEMPLATES,
    ),
    Mutation(
        "agentui/templating/hadtavern/curly.py",
        "return otherwise(frame) if value is MISSING or value is None else value",
        "return otherwise(frame) if value is MISSING else value",
        "default does not stand in for null",
        TEMPLATES,
    ),
    Mutation(
        "agentui/templating/hadtavern/curly.py",
        "if len(self._filters_at) > MAX_FILTERS:",
        "if False:",
        "filters have no limit",
        TEMPLATES,
    ),
    Mutation(
        "agentui/templating/hadtavern/formulas/values.py",
        "if isinstance(value, float) and not math.isfinite(value):",
        "if False:",
        "a formula gives infinity",
        TEMPLATES,
    ),
    Mutation(
        "agentui/templating/hadtavern/formulas/tree.py",
        "if not (is_number(left) and is_number(right)):",
        "if not (is_number(left) or is_number(right)):",
        "a text is added to a number",
        TEMPLATES,
    ),
    Mutation(
        "agentui/templating/hadtavern/filters.py",
        "if not (is_in_range(first) and is_in_range(second) and is_in_range(total := first + second)):",
        "total = first + second\n    if False:",
        "a sum gives infinity",
        f"{TEMPLATES} tests/unit/pipeline/test_set_vars.py",
    ),
    Mutation(
        "agentui/templating/hadtavern/filters.py",
        "if type(size) is not int or size < 0:",
        "if type(size) is not int:",
        "a negative length is taken",
        TEMPLATES,
    ),
    Mutation(
        "agentui/templating/hadtavern/macros.py", "if len(steps) > MAX_STEPS:", "if False:", "paths have no limit", TEMPLATES
    ),
    Mutation(
        "agentui/templating/hadtavern/json_body.py",
        'if mark not in (",", closing):',
        "if False:",
        "broken JSON is compiled",
        TEMPLATES,
    ),
    Mutation(
        "agentui/templating/core/values.py",
        "if isinstance(found, str) and found:",
        "if isinstance(found, str):",
        "an empty text is the best text",
        TEMPLATES,
    ),
    # The memory: the store, turns, chats, variables
    Mutation(
        "agentui/store/sqlite_file.py",
        '"synchronous=FULL"',
        '"synchronous=OFF"',
        "a commit is not synced",
        f"{STORE} tests/store/test_kill.py tests/campaigns/test_power.py",
    ),
    Mutation(
        "agentui/store/group_commit.py",
        "if begun and not self._run_together(begun, self._run_in_savepoint):",
        "if begun and not self._run_together(begun, self._run_in_savepoint) and False:",
        "a neighbour's failure takes a transaction along",
        STORE,
    ),
    Mutation(
        "agentui/store/threads.py",
        "if len(batch) == self._most:",
        "if len(batch) == 0:",
        "a batch has no bound",
        "tests/store/test_threads.py",
    ),
    Mutation(
        "agentui/store/sqlite.py",
        "if self._is_full and any(pending.error is None for pending in batch):",
        "if False:",
        "a full disk is full for ever",
        STORE,
    ),
    Mutation(
        "agentui/variables/committing.py",
        "if base.is_current and write.expected not in (NOT_READ, _seen(variable, base)):",
        "if False:",
        "an update is lost",
        VARIABLES,
    ),
    Mutation(
        "agentui/variables/paths.py", "if len(steps) > MAX_STEPS:", "if False:", "paths of variables have no limit", VARIABLES
    ),
    Mutation(
        "agentui/variables/scopes.py",
        'return GLOBAL if scope == "global" else Target(scope, scope_id)',
        "return Target(scope, scope_id)",
        "global has many hosts",
        "tests/api/chats/test_variables.py tests/api/chats/test_variables_seed_000.py",
    ),
    Mutation(
        "agentui/variables/records.py",
        "if variable is None or not has_host(db, account, variable.target):",
        "if variable is None:",
        "a variable outlives its host",
        VARIABLES,
    ),
    Mutation(
        "agentui/chats/branches/writing.py",
        "if expected is not None and (head is None or head.id != expected):",
        "if False:",
        "a fork from a stale head",
        f"{TURNS} tests/api/chats",
    ),
    Mutation(
        "agentui/chats/floors.py",
        "if parent.floor_no >= floor_no:",
        "if False:",
        "a floor stands before its parent",
        f"{TURNS} tests/api/chats",
    ),
    Mutation(
        "agentui/chats/pages.py",
        "if page.is_active and other.is_active:",
        "if False:",
        "a floor has two active pages",
        f"{TURNS} tests/api/chats",
    ),
    Mutation(
        "agentui/turns/repeats.py",
        "if row is None or row.status is None:",
        "if row is None:",
        "an unanswered repeat is answered with nothing",
        TURNS,
    ),
    Mutation(
        "agentui/turns/repeats.py",
        "return claims.c.account_id == account, claims.c.key == claim.key",
        "return claims.c.account_id == account, claims.c.key != claim.key",
        "another's answer is given",
        TURNS,
    ),
    Mutation(
        "agentui/turns/proxied.py",
        'if session is not None and operation == "chat":',
        "if session is not None:",
        "a token count opens a floor",
        f"{TURNS} tests/turns",
    ),
    # The world outside
    Mutation(
        "agentui/upstream/retry.py",
        "return pause if asked is None else max(pause, asked)",
        "return pause",
        "retry-after is not minded",
        UPSTREAM,
    ),
    Mutation(
        "agentui/upstream/retry.py",
        "if retries + 1 > requests * SHARE + EXTRA:",
        "if False:",
        "retries have no budget",
        UPSTREAM,
    ),
    Mutation(
        "agentui/upstream/policy.py", "if ip.teredo is not None:", "if False:", "a tunnel reaches a private address", UPSTREAM
    ),
    Mutation(
        "agentui/upstream/origins.py",
        "elif len(state.queue) < self._max_queued:",
        "elif True:",
        "the queue of an origin has no end",
        f"{UPSTREAM} tests/faults/test_crowd.py",
    ),
    Mutation(
        "agentui/redaction.py",
        "if not SHORTEST <= len(value) <= LONGEST or value in self._values:",
        "if not SHORTEST <= len(value) < SHORTEST or value in self._values:",
        "no key is taken out",
        SECRETS,
    ),
    Mutation("agentui/redaction.py", 'if name.lower() == "cookie":', "if False:", "cookies are shown", SECRETS),
    Mutation(
        "agentui/redaction.py",
        "found = self._found_in(given)",
        "found = list[str]()",
        "what a filter makes of a key is shown",
        MADE_KEYS,
    ),
    Mutation(
        "agentui/pipeline/incoming.py",
        "for name, value in self.headers.items() if not is_key_header(name)}",
        "for name, value in self.headers.items()}",
        "a recorded request is sent with its caller's key",
        RECORDED_KEYS,
    ),
    Mutation(
        "agentui/pipeline/incoming.py",
        "changed.body = _masked(self.body, self.json, redactor)",
        "changed.body = self.body",
        "a recorded body is sent with the keys in it",
        RECORDED_KEYS,
    ),
    Mutation(
        "agentui/pipeline/caches/thought_cache.py",
        "return fingerprint(incoming.api_key, *named, first, *provider_keys(headers))",
        "return fingerprint(*named, first)",
        "thoughts are told to another caller",
        "tests/unit/pipeline/test_thought_cache.py",
    ),
    Mutation(
        "agentui/vendors/openai_responses/cache.py",
        'self._kept.get((caller, item["id"]))',
        'next((kept for (_, id), kept in self._kept.items() if id == item["id"]), None)',
        "items are given to another caller",
        "tests/unit/vendors/test_responses_cache.py",
    ),
    Mutation(
        "agentui/api/proxy/repeats.py",
        "*names, incoming.api_key, *provider_keys(headers))",
        "*names)",
        "an answer is given again to another caller",
        "tests/turns/test_repeats.py",
    ),
    Mutation(
        "agentui/documents/folder.py",
        'if entry.etag not in [tag.strip().removeprefix("W/") for tag in if_match.split(",")]:',
        "if False:",
        "a save overwrites another's",
        DOCUMENTS,
    ),
    Mutation("agentui/http/limits.py", "if len(full_at) > self._most:", "if False:", "the limit's memory has no end", LIMITS),
    Mutation(
        "agentui/http/guard.py",
        'if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and not _opens_the_page(request):',
        "if False:",
        "a foreign page calls the API",
        LIMITS,
    ),
    Mutation(
        "agentui/http/reading.py",
        "if declared is not None and declared > limit:",
        "if False:",
        "a body's declared size is not minded",
        "tests/faults/test_bad_requests.py tests/faults/test_bombs.py tests/api",
    ),
    # The page
    Mutation(
        "static/js/core/graph.js",
        "if (edge.from === edge.to) return [edge.from, edge.to];",
        "",
        "a wire to oneself is no cycle",
        PAGE,
    ),
    Mutation(
        "static/js/core/commands.js",
        "|| wouldCycle(document, edge)) return document;",
        ") return document;",
        "a cycle is drawn",
        PAGE,
    ),
    Mutation(
        "static/js/core/commands.js",
        "!gone.has(edge.from) && !gone.has(edge.to));",
        "!gone.has(edge.from));",
        "a wire leads nowhere",
        PAGE,
    ),
    Mutation(
        "static/js/core/commands.js",
        "...(document.answer === id ? {answer: newId} : {})",
        "",
        "a renamed node answers no more",
        PAGE,
    ),
    Mutation(
        "static/js/core/history.js",
        "if (document === history.present) return history;",
        "",
        "what changes nothing is a step",
        PAGE,
    ),
    Mutation(
        "static/js/core/compare.js",
        "if (own.has(key) || before.has(key) || !isPossible(edge)) continue;",
        "if (own.has(key) || !isPossible(edge)) continue;",
        "a deleted wire comes back",
        PAGE,
    ),
    Mutation(
        "static/js/core/doc.js",
        "return keys.length === Object.keys(b).length && keys",
        "return keys",
        "a missing field is no difference",
        PAGE,
    ),
    Mutation("static/js/core/redact.js", "if (key.length < TELLING) return '***';", "", "a short key is half shown", PAGE),
    Mutation(
        "static/js/core/clipboard.js",
        "const isFragment = value.agentui === 'fragment';",
        "const isFragment = true;",
        "any JSON is pasted",
        PAGE,
    ),
    Mutation(
        "static/js/core/runlog.js",
        "if (node.state === 'running') setOwn(run.nodes, id, {...node, state: 'stopped', ended: at_ms});",
        "",
        "a stopped run goes on in the drawing",
        PAGE,
    ),
]


def misplaced(root: Path, mutations: Iterable[Mutation]) -> list[str]:
    """What cannot be made: the mutations whose old text does not stand exactly once in their file."""
    return [
        f"{each.file}: {each.old!r} stands there {count} times"
        for each in mutations
        if (count := (root / each.file).read_text(encoding="utf-8").count(each.old) if (root / each.file).exists() else 0) != 1
    ]


def copy(root: Path, folder: Path) -> None:
    """Copy what git knows of a checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)


def run_tests(folder: Path, tests: str) -> int:
    """Run tests in a folder, but for those on PostgreSQL; gives pytest's exit code, or TIMED_OUT."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-k",
        "not postgresql",
        *tests.split(),
    ]
    try:
        # A mistake of the same length, made within the same second, would be hidden by the bytecode from before.
        around = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=folder, env=around, capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    return done.returncode


def try_out(folder: Path, mutation: Mutation, known: dict[str, int]) -> str:
    """Make a mutation in a copy, run its tests, and take it back: ``caught``, ``slipped``, or why it could not be told.

    ``known`` holds what tests exit with where nothing is wrong; what fails then can catch nothing.
    """
    if mutation.tests not in known:
        known[mutation.tests] = run_tests(folder, mutation.tests)
    if known[mutation.tests]:
        return "not told: its tests fail without it"
    path = folder / mutation.file
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        code = run_tests(folder, mutation.tests)
    finally:
        path.write_text(right, encoding="utf-8")
    return {FAILED: "caught", TIMED_OUT: "caught", 0: "slipped"}.get(code, f"not told: pytest exited with {code}")


def main() -> int:
    """Try the mutations of the files that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.mutations", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="a part of a file's name; none means all")
    asked = parser.parse_args().parts
    chosen = [each for each in MUTATIONS if not asked or any(part in each.file for part in asked)]
    wrong = misplaced(ROOT, chosen)
    for line in wrong:
        print(line, flush=True)
    counts: Counter[str] = Counter()
    known: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="agentui-mutations-") as name:
        folder = Path(name)
        copy(ROOT, folder)
        for mutation in chosen:
            if misplaced(ROOT, [mutation]):
                continue
            started = time.monotonic()
            result = try_out(folder, mutation, known)
            counts[result] += 1
            print(f"{result}: {mutation.file}: {mutation.breaks} ({time.monotonic() - started:.0f} s)", flush=True)
    print(", ".join(f"{count} {result}" for result, count in counts.items()), flush=True)
    return 1 if wrong or set(counts) - {"caught"} else 0


if __name__ == "__main__":
    sys.exit(main())
