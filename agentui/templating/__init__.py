"""HadTavern templates: texts, JSON bodies and the small formulas of SetVars.

    compile_text(source).render(scope)          a text with macros
    compile_json(source).render(scope)          a JSON body with macros, by position
    compile_value(value).render(scope)          a JSON value whose strings are texts with macros
    compile_expression(source).evaluate(random) a formula without macros

The only package that knows Jinja2. A text passes through one language once; what a macro inserts is never scanned.
"""

from agentui.templating.best_text import best_text
from agentui.templating.expressions import Expression, ExpressionError, compile_expression
from agentui.templating.json_body import JsonTemplate, compile_json, compile_value
from agentui.templating.macros import Macro, Segment
from agentui.templating.problems import TemplateRenderError, TemplateSyntaxError
from agentui.templating.scope import Scope
from agentui.templating.text import Template, TextTemplate, compile_text

__all__ = [
    "Expression",
    "ExpressionError",
    "JsonTemplate",
    "Macro",
    "Scope",
    "Segment",
    "Template",
    "TemplateRenderError",
    "TemplateSyntaxError",
    "TextTemplate",
    "best_text",
    "compile_expression",
    "compile_json",
    "compile_text",
    "compile_value",
]
