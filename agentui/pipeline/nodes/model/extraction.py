"""What a node takes out of a model's answer, beside its text."""

from collections.abc import Mapping
from typing import Literal

from agentui.chat.request import VendorName
from agentui.errors import AgentUIError, NodeFailed
from agentui.jsonio import Json
from agentui.pipeline.node import Build
from agentui.pipeline.node_context import NodeContext
from agentui.pipeline.nodes.data.queries import Query, QueryError, compile_query
from agentui.regexes.cursor import RegexError
from agentui.regexes.javascript import JsPattern, compile_js
from agentui.templating.core.paths import MISSING
from agentui.templating.core.values import text_of
from agentui.threads import in_search_thread
from agentui.vendors.base import Vendors

Way = Literal["auto", VendorName, "jsonpath", "regex"]


class Extraction:
    """Takes a value out of an answer's JSON as a dialect reads it or by a path, or out of its text by a regular expression."""

    def __init__(self, build: Build, way: Way, expression: str) -> None:
        """``expression`` is the path or the pattern; one that is none is a problem of the node."""
        self._vendor: VendorName | None = None if way == "auto" or way == "jsonpath" or way == "regex" else way
        self._query: Query | None = None
        self._pattern: JsPattern | None = None
        try:
            if way == "regex":
                if not expression:
                    raise RegexError("there is no pattern", 0)
                self._pattern = compile_js(expression)
            elif way == "jsonpath":
                self._query = compile_query("jsonpath", expression)
        except RegexError as error:
            build.problem("regex.syntax", f"The regular expression cannot be used, {error}.", "extract_expression")
        except QueryError as error:
            build.problem(
                "query.syntax", f"This is no jsonpath: {error}.", "extract_expression", facts={"language": "jsonpath"}
            )

    async def applied(self, ctx: NodeContext, out: Mapping[str, Json]) -> Mapping[str, Json]:
        """OUT with ``extracted``, whose text is ``response_text`` too, unless that has been told to a caller.

        Raises NodeFailed where the expression cannot be applied to this answer.
        """
        if self._vendor is None and self._query is None and self._pattern is None:
            return out
        try:
            value = await in_search_thread(lambda: self._value(ctx.services.vendors, out))
        except (QueryError, RegexError) as error:
            raise NodeFailed(f"Nothing can be taken out of the answer: {error}.", field="extract_expression") from error
        except TimeoutError:
            raise NodeFailed("The expression takes too long on this answer.", field="extract_expression") from None
        return {**out, "extracted": value, **({} if ctx.sink is not None else {"response_text": text_of(value)})}

    def _value(self, vendors: Vendors, out: Mapping[str, Json]) -> Json:
        if self._vendor is not None:
            try:
                return vendors[self._vendor].parse_reply(out["result"]).text
            except AgentUIError:  # it is in another dialect
                return None
        if self._query is not None:
            found = self._query.find(out["result"])
            if found is MISSING:
                return None
            is_text = isinstance(found, list) and all(isinstance(piece, str) for piece in found)
            return "".join(found) if is_text else found
        assert self._pattern is not None
        match = self._pattern.search(out["response_text"])
        if match is None:
            return None
        return match.group(1 if self._pattern.translated.groups else 0)
