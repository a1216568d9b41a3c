"""SillyTavern's macros: ``{{user}}``, ``{{setvar::gold::3}}``, ``{{if ...}}..{{/if}}``.

parse_macros(source)                  a text becomes pieces: text, macros, blocks
MacroRun(scope).expand(source)      the text with its macros replaced; warnings, traces and writes gather in the run

They have no errors: what cannot be replaced stays as it was written, with a warning. What a macro inserts is never scanned.
Sources: seeds 000 and 002; where they are silent, what SillyTavern does.
"""
