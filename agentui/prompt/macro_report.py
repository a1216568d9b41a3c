"""What macros did, as the API tells it (``runtime_trace.macro``)."""

from agentui.jsonio import Json
from agentui.templating.core.paths import MISSING
from agentui.templating.sillytavern.run import MacroReport
from agentui.templating.sillytavern.scope import MacroTrace, MacroWarning
from agentui.templating.sillytavern.variables import Mutation, shown


def macro_report(report: MacroReport, *, is_kept: bool, most: int | None = None, longest: int | None = None) -> dict[str, Json]:
    """A report as JSON, of each of its lists the first ``most`` items, of a value that was written the
    first ``longest`` characters. ``is_kept`` says that what was written will be stored,
    as in a turn and unlike in a preview."""
    mutations = report.mutations[:most]
    return {
        "warnings": [_warning(warning) for warning in report.warnings[:most]],
        "used_names": list(report.used)[:most],
        "mutation_preview": [_mutation(mutation, longest) for mutation in mutations],
        "staged_mutations": [
            {**_mutation(mutation, longest), "source_macro": mutation.macro} for mutation in mutations if is_kept
        ],
        "traces": [macro_trace(trace) for trace in report.traces[:most]],
    }


def macro_trace(trace: MacroTrace) -> dict[str, Json]:
    """What became of one macro."""
    told: dict[str, Json] = {
        "macro_name": trace.macro,
        "raw_text": trace.raw,
        "resolved_text": trace.resolved,
        "phase": trace.phase,
        "source_kind": trace.source,
    }
    return told if trace.branch is None else {**told, "selected_branch": trace.branch}


def _warning(warning: MacroWarning) -> dict[str, Json]:
    told: dict[str, Json] = {"code": warning.code, "message": warning.message}
    if warning.macro is not None:
        told["macro_name"] = warning.macro
    return told if warning.raw is None else {**told, "raw_text": warning.raw}


def _mutation(mutation: Mutation, longest: int | None) -> dict[str, Json]:
    """A write; values are texts, objects and lists their JSON."""
    told: dict[str, Json] = {"kind": mutation.kind, "scope": mutation.scope, "key": mutation.key}
    return told if mutation.value is MISSING else {**told, "value": shown(mutation.value)[:longest]}
