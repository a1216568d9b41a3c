// The macros of a template's text: where each begins and ends, what it is and what it reads.
//
//     [[VAR:path]]  var      [[OUT1]]         short-out   [[NAME]]            name
//     [[OUT:path]]  out      [[SECRET:name]]  secret      {{ path|filter }}   curly
//     [[PROMPT]]    prompt
//
// The language is that of the server (docs/templates.md). Only the server understands and renders it; here macros are found, to
// colour them, to complete them and to rename the nodes in them. tests/fixtures/macros holds what both must find in a text.

/** @typedef {import('./doc.js').Token} Token */
/** @typedef {import('./doc.js').MacroPath} MacroPath */
/** @typedef {import('./doc.js').NodeReference} NodeReference */
/** @typedef {import('./texts.js').Language} Language */

/** The words that are values, and so no names. */
const CONSTANTS = new Set(['true', 'True', 'false', 'False', 'null', 'none', 'None']);

/** How far the end of a `{{` is looked for. */
const LONGEST = 64 * 1024;
const OPENER = /\{\{|\[\[|\{%|\{#/g;
const SQUARE = /\[\[[ \t]*(?:(?<form>VAR|OUT|SECRET)[ \t]*:[ \t]*|(?<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*\]\])/y;
const END = /[ \t]*\]\]/y;
const SECRET_NAME = /[A-Za-z0-9_.-]+/y;
const SHORT = /^OUT([0-9]{1,9})$/;
const FIRST_KEY = /[^.[\]|"'\n\r]+/y;
const NEXT_KEY = /\.(?<key>[^.[\]|"'\n\r]+)|\[ *(?:(?<index>-?[0-9]{1,9})|"(?<double>[^"\n\r]*)"|'(?<single>[^'\n\r]*)') *\]/y;
/** White space as the server strips it. */
const AROUND = /^(?:(?!\ufeff)\s|[\x1c-\x1f\x85])+|(?:(?!\ufeff)\s|[\x1c-\x1f\x85])+$/g;

// \w of the server: letters and numbers of every script, and _. White space as there too.
const WORD = String.raw`[\p{L}\p{N}_]`;
const LEXEME = new RegExp(
  String.raw`(?<space>(?:(?!\ufeff)\s|[\x1c-\x1f\x85])+)` +
    String.raw`|(?<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")` +
    String.raw`|(?<escaped>\\"[^"\\\n]*\\")` +
    String.raw`|(?<key>\.[\p{L}\p{N}_$@]+(?:-+[\p{L}\p{N}_$@]+)*)` +
    String.raw`|(?<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?(?!${WORD}|\.))` +
    String.raw`|(?<name>[\p{L}\p{Nl}\p{No}_]${WORD}*(?:-+${WORD}+)*)` +
    String.raw`|(?<mark>[|()\[\]\{\},:])`,
  'yus',
);
const OPENING = '([{';
const CLOSING = ')]}';

/**
 * A word of what stands between `{{` and `}}`.
 * @typedef {{kind: 'space' | 'string' | 'escaped' | 'key' | 'number' | 'name' | 'mark', text: string, from: number, to: number}} Lexeme
 */

/**
 * The text cut into macros and the plain text between them; the tokens follow each other without gaps. A macro without an end,
 * or with characters that no macro has, is one token of kind `error`; whether the others make sense is for the server to say.
 * @param {string} text
 * @param {Language} [language]
 * @returns {Token[]}
 */
export function tokenise(text, language = 'any') {
  if (language === 'formula' || language === 'node') return text === '' ? [] : [{kind: 'text', from: 0, to: text.length}];
  if (language === 'condition') return withText(text, pathsOf(text));
  return withText(text, macrosIn(text));
}

/**
 * The tokens with the plain text between them.
 * @param {string} text
 * @param {Iterable<Token>} found
 * @returns {Token[]}
 */
function withText(text, found) {
  /** @type {Token[]} */
  const tokens = [];
  let taken = 0;
  for (const macro of found) {
    if (macro.from > taken) tokens.push({kind: 'text', from: taken, to: macro.from});
    tokens.push(macro);
    taken = macro.to;
  }
  if (taken < text.length) tokens.push({kind: 'text', from: taken, to: text.length});
  return tokens;
}

/** A string, or a path with its steps; a name before `(` is a function. */
const CONDITION = new RegExp(
  String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<![\p{L}\p{N}_.$@])(?<name>[\p{L}\p{Nl}_]${WORD}*)(?<steps>(?:\.[\p{L}\p{N}_$@]+(?:-+[\p{L}_][\p{L}\p{N}_$@]*)*` +
    String.raw`|\[[ \t]*(?:-?[0-9]{1,9}|"[^"\n]*"|'[^'\n]*')[ \t]*\])*)(?![\p{L}\p{N}_]*[ \t]*\()`,
  'gu',
);
const STEP = /\.(?<key>[^.[\]\s]+)|\[[ \t]*(?:(?<index>-?[0-9]+)|(?<quote>["'])(?<text>.*?)\k<quote>)[ \t]*\]/gu;
/** The words of conditions that are no names. */
export const CONDITION_WORDS = Object.freeze(['and', 'or', 'not', 'in', 'contains', 'starts with', 'ends with', 'matches', 'is empty', 'is not empty', 'is missing', 'is not missing']);
/** The functions of conditions. */
export const CONDITION_CALLS = Object.freeze(['lower', 'upper', 'len', 'number']);
const NO_NAMES = new Set([...CONDITION_WORDS.flatMap((words) => words.split(' ')), ...CONSTANTS]);

/**
 * The paths of a condition, where they stand alone.
 * @param {string} text
 * @returns {Generator<Token>}
 */
function* pathsOf(text) {
  for (const match of text.matchAll(CONDITION)) {
    const {name, steps = ''} = match.groups ?? {};
    if (name === undefined || NO_NAMES.has(name)) continue;
    const from = match.index;
    const to = from + name.length + steps.length;
    const path = [name];
    /** @type {NodeReference | undefined} */
    let reference;
    for (const step of steps.matchAll(STEP)) {
      const {key, index, text: quoted} = /** @type {Record<string, string | undefined>} */ (step.groups ?? {});
      path.push(key ?? quoted ?? index ?? '');
      if (name !== 'OUT' || path.length !== 2) continue;
      const at = from + name.length + step.index;
      const inside = at + step[0].indexOf(quoted ?? index ?? '');
      if (key !== undefined) reference = {node: key, from: at, to: at + step[0].length, style: 'bare'};
      else if (quoted) reference = {node: quoted, from: inside, to: inside + quoted.length, style: 'quoted'};
      else if (index) reference = {node: index, from: inside, to: inside + index.length, style: 'number'};
    }
    yield {
      kind: 'curly',
      from,
      to,
      path,
      ...(reference ? {node: reference.node} : {}),
      paths: [{name, path, from, to: from + name.length, ...(reference ? {reference} : {})}],
    };
  }
}

/**
 * @param {string} text
 * @returns {Generator<Token>}
 */
function* macrosIn(text) {
  // Asking often in a text that has none must cost one search.
  const lastOf = {'%}': text.lastIndexOf('%}'), '#}': text.lastIndexOf('#}')};
  OPENER.lastIndex = 0;
  for (let opener = OPENER.exec(text); opener; opener = OPENER.exec(text)) {
    const start = opener.index;
    const token = opener[0] === '{{' ? curly(text, start) : opener[0] === '[[' ? square(text, start) : statement(text, start, lastOf);
    if (token) yield token;
    // The next macro may begin one character further: [[[NAME]]
    OPENER.lastIndex = token ? token.to : start + 1;
  }
}

/**
 * The ids of the nodes whose OUT the text reads, in a document that has the nodes `ids`: `OUT1` means node `1` where there is no
 * `n1`.
 * @param {string} text
 * @param {Language} language
 * @param {Set<string>} ids
 * @returns {Set<string>}
 */
export function referencesIn(text, language, ids) {
  /** @type {Set<string>} */
  const found = new Set();
  if (language === 'formula' || language === 'node' || !text.includes('OUT')) return found;
  for (const token of withBarePaths(text, language)) {
    for (const {reference} of token.paths ?? []) if (reference) found.add(meantNode(reference, ids));
  }
  return found;
}

/**
 * The macros of a text. A string of which nobody knows what it means may be a condition too: paths of OUT count where they stand
 * alone.
 * @param {string} text
 * @param {Language} language
 * @returns {Token[]}
 */
function withBarePaths(text, language) {
  const tokens = tokenise(text, language);
  if (language !== 'any') return tokens;
  let at = 0;
  const bare = [...pathsOf(text)].filter(({path, from}) => {
    while (at < tokens.length && tokens[at].to <= from) at += 1;
    return path?.[0] === 'OUT' && tokens[at]?.kind === 'text';
  });
  return [...tokens, ...bare].sort((a, b) => a.from - b.from);
}

/**
 * The node that a reference means among those that there are.
 * @param {NodeReference} reference
 * @param {Set<string>} ids
 * @returns {string}
 */
function meantNode({node, style}, ids) {
  const number = node.slice(1);
  return style === 'short' && !ids.has(node) && ids.has(number) ? number : node;
}

/**
 * The text with references renamed, all at once; macros that cannot be read stay as they are.
 *
 * `[[OUT1]]` can only name nodes called n1, n2 ... Where the new id is another, it becomes `[[OUT:id.response_text]]`, which is
 * the same text for a node that calls a model.
 * @param {string} text
 * @param {Map<string, string>} renamed new ids by old ones
 * @param {Set<string>} ids the nodes that were there before, to know what `OUT1` means
 * @param {Set<string>} [later] those that are there afterwards; without: `ids` renamed
 * @param {Language} [language]
 * @returns {string}
 */
export function rewriteReferences(text, renamed, ids, later = new Set([...ids].map((id) => renamed.get(id) ?? id)), language = 'text') {
  if (!text.includes('OUT')) return text;
  let result = '';
  let taken = 0;
  for (const token of withBarePaths(text, language)) {
    for (const {reference} of token.paths ?? []) {
      if (!reference) continue;
      const old = meantNode(reference, ids);
      const written = writeReference(reference, renamed.get(old) ?? old, token, later);
      if (written === null) continue;
      result += text.slice(taken, reference.from) + written;
      taken = reference.to;
    }
  }
  return result + text.slice(taken);
}

/**
 * How a reference is written that means the node `id`; null where it does already.
 * @param {NodeReference} reference
 * @param {string} id
 * @param {Token} token the macro that it stands in
 * @param {Set<string>} later
 * @returns {string | null}
 */
function writeReference(reference, id, token, later) {
  if (reference.style === 'short') {
    if (meantNode(reference, later) === id) return null;
    // n5 is OUT5; 5 is OUT5 too where there is no n5.
    const number = /^n?([0-9]{1,9})$/.exec(id)?.[1];
    if (number !== undefined && meantNode({...reference, node: `n${number}`}, later) === id) return `OUT${number}`;
    if (token.kind === 'short-out') return `OUT:${id}.response_text`;
    return `OUT${token.kind === 'var' ? `.${id}` : curlyKey(id)}.response_text`;
  }
  if (reference.node === id) return null;
  if (reference.style === 'key') return curlyKey(id);
  // Where a path stands alone, a number behind a hyphen would be taken away from it.
  if (reference.style === 'bare') return /^\w+(?:-+[A-Za-z_]\w*)*$/.test(id) ? `.${id}` : `["${id}"]`;
  // A number in brackets; in quotes it would be another kind of step only if it were a list.
  return reference.style === 'number' ? `'${id}'` : id;
}

/**
 * An id as the step of a path in `{{ }}`. Single quotes can stand in a JSON string as they are.
 * @param {string} id
 * @returns {string}
 */
function curlyKey(id) {
  return /^\w+(?:-+\w+)*$/.test(id) ? `.${id}` : `['${id}']`;
}

/**
 * @typedef {object} CompletionContext
 * @property {'square' | 'curly' | 'var' | 'out' | 'secret' | 'filter'} kind what may be completed: `square` any square form,
 *   `curly` a name, `var` and `out` a path behind `[[VAR:` and `[[OUT:`, `filter` a filter's name
 * @property {number} from where the word begins that is being written
 * @property {number} to where the cursor is
 * @property {string} word what has been written of it
 * @property {string[]} path the keys before it; of `out` and of `{{ OUT.n1.` without `OUT`
 * @property {boolean} closed whether the macro has its closing brackets behind the cursor on this line
 */

/**
 * What may be completed at an offset; null outside macros and inside literals.
 * @param {string} text
 * @param {number} offset
 * @returns {CompletionContext | null}
 */
export function contextAt(text, offset) {
  const start = openMacro(text, offset);
  if (start < 0) return null;
  const isCurly = text[start] === '{';
  const lineEnd = text.indexOf('\n', offset);
  const behind = text.slice(offset, lineEnd < 0 ? text.length : lineEnd);
  const rest = /^[^[\]{}]*/.exec(behind)?.[0].length ?? 0;
  const closed = behind.startsWith(isCurly ? '}}' : ']]', rest);
  const inside = text.slice(start + 2, offset);
  const found = isCurly ? curlyContext(inside) : squareContext(inside);
  return found && {...found, from: offset - found.word.length, to: offset, closed};
}

/**
 * Where the macro begins that is open at `offset`, or -1. A macro with an end before the offset is not open.
 * @param {string} text
 * @param {number} offset
 * @returns {number}
 */
function openMacro(text, offset) {
  const before = text.slice(Math.max(0, offset - 4096), offset);
  const start = Math.max(before.lastIndexOf('[['), before.lastIndexOf('{{'));
  if (start < 0) return -1;
  const inside = before.slice(start + 2);
  if (before[start] === '[') return /\]\]|\n/.test(inside) ? -1 : offset - before.length + start;
  return withoutLiterals(inside).includes('}}') ? -1 : offset - before.length + start;
}

/**
 * The text with its quoted literals blanked, an open one to the end.
 * @param {string} text
 * @returns {string}
 */
function withoutLiterals(text) {
  return text.replace(/'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)/gs, (literal) => '"'.padEnd(literal.length, '"'));
}

/**
 * @param {string} inside
 * @returns {Pick<CompletionContext, 'kind' | 'word' | 'path'> | null}
 */
function squareContext(inside) {
  const prefixed = /^[ \t]*(VAR|OUT|SECRET)[ \t]*:[ \t]*(.*)$/s.exec(inside);
  if (!prefixed)
    return /^[ \t]*[A-Za-z_]?[A-Za-z0-9_]*$/.test(inside) ? {kind: 'square', word: inside.trimStart(), path: []} : null;
  const [, form, written] = prefixed;
  if (form === 'SECRET') return /^[A-Za-z0-9_.-]*$/.test(written) ? {kind: 'secret', word: written, path: []} : null;
  const kind = form === 'OUT' ? 'out' : 'var';
  const word = /[^.[\]|"']*$/.exec(written)?.[0] ?? '';
  const before = written.slice(0, written.length - word.length);
  if (before === '') return {kind, word, path: []};
  const {keys, end} = readPath(before, 0);
  return keys.length > 0 && before.slice(end) === '.' ? {kind, word, path: keys.map((key) => key.text)} : null;
}

/**
 * @param {string} inside
 * @returns {Pick<CompletionContext, 'kind' | 'word' | 'path'> | null}
 */
function curlyContext(inside) {
  const plain = withoutLiterals(inside);
  if (/["']$/.test(plain)) return null;
  const filter = /\|\s*([\p{L}_][\p{L}\p{N}_]*)?$/u.exec(plain);
  if (filter) return {kind: 'filter', word: filter[1] ?? '', path: []};
  const path = /(?:^|[\s(,[{:])([\p{L}_$@][\p{L}\p{N}_$@.\-[\]"]*)?$/u.exec(plain);
  if (!path) return null;
  const written = inside.slice(inside.length - (path[1] ?? '').length);
  const word = /[^.[\]"']*$/.exec(written)?.[0] ?? '';
  const before = written.slice(0, written.length - word.length);
  if (before === '') return {kind: 'curly', word, path: []};
  const {keys, end} = readPath(before, 0);
  if (keys.length === 0 || before.slice(end) !== '.') return null;
  const path_ = keys.map((key) => key.text);
  return path_[0] === 'OUT' ? {kind: 'out', word, path: path_.slice(1)} : {kind: 'curly', word, path: path_};
}

/**
 * A key of a path and its place; of one in brackets what stands within brackets and quotes.
 * @typedef {{text: string, from: number, to: number, style: 'square' | 'key' | 'quoted' | 'number'}} Key
 */

/**
 * A path as the square forms write it: its keys with their places, and where it ends.
 * @param {string} text
 * @param {number} start
 * @returns {{keys: Key[], end: number}}
 */
function readPath(text, start) {
  const first = match(FIRST_KEY, text, start);
  if (!first) return {keys: [], end: start};
  const keys = [stripped(first[0], start)];
  let end = start + first[0].length;
  for (let next = match(NEXT_KEY, text, end); next; next = match(NEXT_KEY, text, end)) {
    const groups = /** @type {{[name: string]: string | undefined}} */ (next.groups);
    keys.push(groups.key === undefined ? bracketed(next[0], groups, end) : stripped(groups.key, end + 1));
    end += next[0].length;
  }
  return {keys, end};
}

/**
 * A key that stands in brackets: a number, or a text in quotes.
 * @param {string} written
 * @param {{index?: string, double?: string, single?: string}} groups
 * @param {number} from
 * @returns {Key}
 */
function bracketed(written, {index, double, single}, from) {
  const text = index ?? double ?? single ?? '';
  const begin = from + (index === undefined ? written.search(/["']/) + 1 : written.indexOf(index));
  return {text, from: begin, to: begin + text.length, style: index === undefined ? 'quoted' : 'number'};
}

/**
 * A key without the space around it.
 * @param {string} text
 * @param {number} from
 * @returns {Key}
 */
function stripped(text, from) {
  const key = text.replace(AROUND, '');
  const begin = from + text.indexOf(key);
  return {text: key, from: begin, to: begin + key.length, style: 'square'};
}

/**
 * @param {RegExp} sticky
 * @param {string} text
 * @param {number} at
 * @returns {RegExpExecArray | null}
 */
function match(sticky, text, at) {
  sticky.lastIndex = at;
  return sticky.exec(text);
}

/**
 * The offset behind what a pattern finds at `at`; null where it finds nothing.
 * @param {RegExp} sticky
 * @param {string} text
 * @param {number} at
 * @returns {number | null}
 */
function behind(sticky, text, at) {
  const found = match(sticky, text, at);
  return found && at + found[0].length;
}

/**
 * `{% .. %}` and `{# .. #}` are no part of the language; without an end they are text.
 * @param {string} text
 * @param {number} start
 * @param {{'%}': number, '#}': number}} lastOf where the last one ends
 * @returns {Token | null}
 */
function statement(text, start, lastOf) {
  const closing = text[start + 1] === '%' ? '%}' : '#}';
  const end = start + 2 <= lastOf[closing] ? text.indexOf(closing, start + 2) : -1;
  return end < 0 ? null : {kind: 'error', from: start, to: end + 2};
}

/**
 * The square macro that begins at `start`; null where plain text stands there.
 * @param {string} text
 * @param {number} start
 * @returns {Token | null}
 */
function square(text, start) {
  const found = match(SQUARE, text, start);
  const {form, name} = /** @type {{form?: string, name?: string}} */ (found?.groups ?? {});
  if (!found || (name !== undefined && CONSTANTS.has(name))) return null;
  const inside = start + found[0].length;
  if (form === 'SECRET') {
    const secret = match(SECRET_NAME, text, inside)?.[0] ?? '';
    const to = behind(END, text, inside + secret.length);
    return secret === '' || to === null
      ? {kind: 'error', from: start, to: inside + secret.length}
      : {kind: 'secret', from: start, to, name: secret};
  }
  if (name === undefined) return prefixed(form === 'OUT' ? 'out' : 'var', text, start, inside);
  if (name === 'PROMPT') return {kind: 'prompt', from: start, to: inside};
  const from = start + found[0].indexOf(name);
  const path = pathOf(name, [], from);
  if (name === 'OUT') return {kind: 'out', from: start, to: inside, name, path: [], paths: [path]};
  if (path.reference) return {kind: 'short-out', from: start, to: inside, name, node: path.reference.node, paths: [path]};
  return {kind: 'name', from: start, to: inside, name, path: [name], paths: [path]};
}

/**
 * `[[VAR:..]]` or `[[OUT:..]]`; the path begins at `inside`.
 * @param {'var' | 'out'} kind
 * @param {string} text
 * @param {number} start
 * @param {number} inside
 * @returns {Token}
 */
function prefixed(kind, text, start, inside) {
  const {keys, end} = readPath(text, inside);
  const to = behind(END, text, end);
  if (keys.length === 0 || keys[0].text === '' || to === null) {
    const lineEnd = text.indexOf('\n', end);
    const found = text.slice(end, lineEnd < 0 ? undefined : lineEnd).indexOf(']]');
    return {kind: 'error', from: start, to: found < 0 ? end : end + found + 2};
  }
  const steps = kind === 'out' ? keys : keys.slice(1);
  const path = kind === 'out' ? pathOf('OUT', steps, keys[0].from, keys[0].to) : pathOf(keys[0].text, steps, keys[0].from, keys[0].to);
  return {
    kind,
    from: start,
    to,
    name: path.name,
    path: keys.map((key) => key.text),
    paths: [path],
    ...(path.reference && {node: path.reference.node}),
  };
}

/**
 * A path from its first name and its further keys; where it reads a node, it says so.
 * @param {string} name
 * @param {Key[]} steps
 * @param {number} from of the first name
 * @param {number} [to]
 * @returns {MacroPath}
 */
function pathOf(name, steps, from, to = from + name.length) {
  /** @type {MacroPath} */
  const path = {name, path: [name, ...steps.map((step) => step.text)], from, to};
  const short = SHORT.exec(name);
  if (short) path.reference = {node: `n${short[1]}`, from, to, style: 'short'};
  else if (name === 'OUT' && steps.length > 0) {
    const {text: node, ...where} = steps[0];
    path.reference = {node, ...where};
  }
  return path;
}

/**
 * `{{ .. }}`: its paths are the names in it that are no filters, with the keys behind them.
 * @param {string} text
 * @param {number} start
 * @returns {Token}
 */
function curly(text, start) {
  /** @type {Lexeme[]} */
  const lexemes = [];
  const brackets = [];
  let offset = start + 2;
  while (brackets.length > 0 || !text.startsWith('}}', offset)) {
    const lexeme = lexemeAt(text, offset);
    if (!lexeme || offset - start > LONGEST) return brokenCurly(text, start, offset);
    if (lexeme.kind === 'mark' && OPENING.includes(lexeme.text)) brackets.push(lexeme.text);
    if (lexeme.kind === 'mark' && CLOSING.includes(lexeme.text)) {
      const opened = brackets.pop();
      if (opened === undefined || OPENING.indexOf(opened) !== CLOSING.indexOf(lexeme.text)) return brokenCurly(text, start, offset);
    }
    if (lexeme.kind !== 'space') lexemes.push(lexeme);
    offset = lexeme.to;
  }
  if (lexemes.length === 0) return {kind: 'error', from: start, to: offset + 2};
  const paths = lexemes.flatMap((lexeme, at) => {
    const isName = lexeme.kind === 'name' && !CONSTANTS.has(lexeme.text) && lexemes[at - 1]?.text !== '|';
    return isName ? pathOf(lexeme.text, stepsBehind(lexemes, at), lexeme.from, lexeme.to) : [];
  });
  const [first] = paths;
  return {
    kind: 'curly',
    from: start,
    to: offset + 2,
    paths,
    ...(first && {path: first.path, name: first.name}),
    ...(first?.reference && {node: first.reference.node}),
  };
}

/**
 * A broken macro ends behind its closing braces, or at least behind its beginning.
 * @param {string} text
 * @param {number} start
 * @param {number} offset where it broke
 * @returns {Token}
 */
function brokenCurly(text, start, offset) {
  const found = text.slice(offset, offset + LONGEST).indexOf('}}');
  return {kind: 'error', from: start, to: found >= 0 ? offset + found + 2 : offset};
}

/**
 * @param {string} text
 * @param {number} offset
 * @returns {Lexeme | null}
 */
function lexemeAt(text, offset) {
  const found = match(LEXEME, text, offset);
  if (!found) return null;
  const [kind] = Object.entries(found.groups ?? {}).find(([, written]) => written !== undefined) ?? ['mark'];
  return {kind: /** @type {Lexeme['kind']} */ (kind), text: found[0], from: offset, to: offset + found[0].length};
}

/**
 * The keys behind a name: `.key`, `["key"]` and `[0]`. Brackets around the path so far do not end it: `(OUT).n1`.
 * @param {Lexeme[]} lexemes
 * @param {number} at of the name
 * @returns {Key[]}
 */
function stepsBehind(lexemes, at) {
  /** @type {Key[]} */
  const steps = [];
  let around = at;
  for (let next = at + 1; next < lexemes.length; next += 1) {
    const {kind, text, from, to} = lexemes[next];
    if (kind === 'key') steps.push({text: text.slice(1), from, to, style: 'key'});
    else if (kind === 'mark' && text === ')' && lexemes[around - 1]?.text === '(') around -= 1;
    else if (kind === 'mark' && text === '[' && lexemes[next + 2]?.text === ']') {
      const key = keyIn(lexemes[next + 1]);
      if (key === null) break;
      steps.push(key);
      next += 2;
    } else break;
  }
  return steps;
}

/**
 * A key in brackets: a whole number, or what stands between quotes; null for anything else.
 * @param {Lexeme} lexeme
 * @returns {Key | null}
 */
function keyIn({kind, text, from, to}) {
  if (kind === 'number' && /^-?[0-9]+$/.test(text)) return {text: String(BigInt(text)), from, to, style: 'number'};
  const quotes = kind === 'string' ? 1 : kind === 'escaped' ? 2 : 0;
  return quotes === 0 ? null : {text: text.slice(quotes, -quotes), from: from + quotes, to: to - quotes, style: 'quoted'};
}
