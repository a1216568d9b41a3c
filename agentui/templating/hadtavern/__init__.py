"""HadTavern's templates.

TextLanguage().compile(source).render(scope)   a text with macros
UrlLanguage(..).compile(source).render(scope)  an address with macros, by position
JsonLanguage().compile(source).render(scope)   a JSON body with macros, by position
compile_expression(source).evaluate(random)    a formula of SetVars, which has no macros and reads nothing
"""
