"""What goes wrong with working variables, with the codes and statuses of the memory's API.

No message holds a variable's value, nor a name that its caller did not write.
"""

from agentui.variables.errors import InvalidWrite, ValueTooLarge, VariableError, VariableNotFound


class InvalidVariable(InvalidWrite):
    """A name, a value, a description or a tag is not of the right form."""


class VariableTooLarge(ValueTooLarge):
    """A value is longer than one may be, or what is kept for ever leaves no room for it."""


class NoSuchVariable(VariableNotFound):
    """No working variable has this name."""


class RuleIsFixed(VariableError):
    """A skill rule is neither written nor removed as a variable."""

    status = 409
    code = "skill_rule_locked"


class BadReference(VariableError):
    """A ``$VAR_REF`` in the arguments of a call cannot be resolved; the call is not made."""

    status = 422
    code = "variable_reference_failed"
