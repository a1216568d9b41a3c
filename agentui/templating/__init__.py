"""Template languages: a source is compiled once, by ``Language.compile``, and rendered many times.

    core/       what every language shares: positions and problems, paths, values, the protocols
    hadtavern/  ``[[...]]`` and ``{{ path|filter }}`` in texts and JSON bodies; formulas. Jinja2 is imported here only
    sillytavern/  ``{{user}}``, ``{{setvar::name::value}}``, ``{{if}}`` in texts

A text passes through one language once; what a macro inserts is never scanned.
"""
