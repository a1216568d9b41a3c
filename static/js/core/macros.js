// The macros of a template's text: where each begins and ends, what it is and what it reads.
//
//     [[VAR:path]]  var      [[OUT1]]         short-out   [[NAME]]            name
//     [[OUT:path]]  out      [[SECRET:name]]  secret      {{ path|filter }}   curly
//     [[PROMPT]]    prompt
//
// The language is that of the server (docs/templates.md); tests/fixtures/macros holds what both must say about the same texts.
// Nothing is rendered here: only the server does that.

import {CONSTANTS, readCurly} from './curly.js';

/** @typedef {import('./doc.js').Token} Token */
/** @typedef {import('./doc.js').MacroPath} MacroPath */
/** @typedef {import('./doc.js').MacroProblem} MacroProblem */
/** @typedef {import('./doc.js').NodeReference} NodeReference */
/** @typedef {import('./texts.js').Language} Language */

/**
 * `language`: `json` where the text is a body template; in its strings quotes may be written `\"`. In `any` they may
 * everywhere. `secrets` and `prompt` say whether those macros may stand here.
 * @typedef {{language?: Language, secrets?: boolean, prompt?: boolean}} Options
 */

/** How many macros one template may have. */
export const MAX_MACROS = 10_000;
const MAX_STEPS = 100;

/** What stands for a form that has no meaning without more. */
const SQUARE_ONLY = new Map([
  ['PROMPT', '[[PROMPT]]'],
  ['SECRET', '[[SECRET:name]]'],
  ['VAR', '[[VAR:incoming.path]]'],
]);

const OPENER = /\{\{|\[\[|\{%|\{#/g;
const SQUARE = /\[\[[ \t]*(?:(?<form>VAR|OUT|SECRET)[ \t]*:[ \t]*|(?<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*\]\])/y;
const END = /[ \t]*\]\]/y;
const SECRET_NAME = /[A-Za-z0-9_.-]+/y;
const SHORT = /^OUT([0-9]{1,9})$/;
const FIRST_KEY = /[^.\[\]|"'\n\r]+/y;
const NEXT_KEY = /\.(?<key>[^.\[\]|"'\n\r]+)|\[ *(?:(?<index>-?[0-9]{1,9})|"(?<double>[^"\n\r]*)"|'(?<single>[^'\n\r]*)') *\]/y;
/** White space as the server strips it. */
const AROUND = /^(?:(?!\ufeff)\s|[\x1c-\x1f\x85])+|(?:(?!\ufeff)\s|[\x1c-\x1f\x85])+$/g;

/**
 * The text cut into macros and the plain text between them; the tokens follow each other without gaps. A macro that is
 * broken is one token of kind `error` with its problems.
 * @param {string} text
 * @param {Options} [options] without: a text in which every macro may stand
 * @returns {Token[]}
 */
export function tokenise(text, options = {}) {
  if (options.language === 'formula') return text === '' ? [] : [{kind: 'text', from: 0, to: text.length}];
  const scanner = new Scanner(text, options);
  /** @type {Token[]} */
  const tokens = [];
  let taken = 0;
  for (const macro of scanner.macros()) {
    if (macro.from > taken) tokens.push({kind: 'text', from: taken, to: macro.from});
    tokens.push(macro);
    taken = macro.to;
  }
  if (taken < text.length) tokens.push({kind: 'text', from: taken, to: text.length});
  return tokens;
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
  if (language === 'formula' || !text.includes('OUT')) return found;
  for (const token of tokenise(text, {language})) {
    for (const {reference} of token.paths ?? []) if (reference) found.add(meantNode(reference, ids));
  }
  return found;
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
 * The text with all references to the node `from` made references to the node `to`.
 *
 * `[[OUT1]]` can only name nodes called n1, n2 ... Where the new id is another, it becomes `[[OUT:id.response_text]]`, which is
 * the same text for a node that calls a model.
 * @param {string} text
 * @param {string} from
 * @param {string} to
 * @returns {string}
 */
export function renameReferences(text, from, to) {
  return rewriteReferences(text, new Map([[from, to]]), new Set([from]));
}

/**
 * The text with references renamed, all at once; macros that cannot be read stay as they are.
 * @param {string} text
 * @param {Map<string, string>} renamed new ids by old ones
 * @param {Set<string>} ids the nodes that were there before, to know what `OUT1` means
 * @param {Set<string>} [later] those that are there afterwards; without: `ids` renamed
 * @returns {string}
 */
export function rewriteReferences(text, renamed, ids, later = new Set([...ids].map((id) => renamed.get(id) ?? id))) {
  if (!text.includes('OUT')) return text;
  let result = '';
  let taken = 0;
  for (const token of tokenise(text, {language: 'any'})) {
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
  const rest = /^[^\[\]{}]*/.exec(behind)?.[0].length ?? 0;
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
  const word = /[^.\[\]|"']*$/.exec(written)?.[0] ?? '';
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
  const path = /(?:^|[\s(,\[{:])([\p{L}_$@][\p{L}\p{N}_$@.\-\[\]"]*)?$/u.exec(plain);
  if (!path) return null;
  const written = inside.slice(inside.length - (path[1] ?? '').length);
  const word = /[^.\[\]"']*$/.exec(written)?.[0] ?? '';
  const before = written.slice(0, written.length - word.length);
  if (before === '') return {kind: 'curly', word, path: []};
  const {keys, end} = readPath(before, 0);
  if (keys.length === 0 || before.slice(end) !== '.') return null;
  const path_ = keys.map((key) => key.text);
  return path_[0] === 'OUT' ? {kind: 'out', word, path: path_.slice(1)} : {kind: 'curly', word, path: path_};
}

/**
 * A key of a path and its place; of one in brackets what stands within brackets and quotes.
 * @typedef {{text: string, from: number, to: number, style: 'square' | 'quoted' | 'number'}} Key
 */

/**
 * @param {Key} key the step behind OUT
 * @returns {NodeReference}
 */
function referenceTo({text, from, to, style}) {
  return {node: text, from, to, style};
}

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

/** Reads the macros of one text from its beginning to its end. */
class Scanner {
  /**
   * @param {string} text
   * @param {Options} options
   */
  constructor(text, options) {
    this.text = text;
    this.options = options;
    this.count = 0;
    /** Whether `at` stands inside a JSON string, which only a body template has. */
    this.string = new JsonStrings(text);
    /** Where the last `%}` and `#}` are: asking often in a text that has none must cost one search. */
    this.lastOf = {'%}': text.lastIndexOf('%}'), '#}': text.lastIndexOf('#}')};
  }

  /** @returns {Generator<Token>} */
  *macros() {
    for (let offset = 0; this.count <= MAX_MACROS;) {
      OPENER.lastIndex = offset;
      const opener = OPENER.exec(this.text);
      if (!opener) return;
      const token = this.read(opener.index);
      // The next macro may begin one character further: [[[NAME]]
      offset = token ? token.to : opener.index + 1;
      if (!token) continue;
      this.count += 1;
      if (this.count > MAX_MACROS) {
        token.kind = 'error';
        token.problems = [
          {code: 'template.too_many_macros', message: `There are more than ${MAX_MACROS} macros. Use fewer.`, at: token.from},
        ];
      }
      if (this.options.language === 'json') this.string.skip(token);
      yield token;
    }
  }

  /**
   * The macro that begins at `start`; null where plain text stands there.
   * @param {number} start
   * @returns {Token | null}
   */
  read(start) {
    if (this.text.startsWith('{{', start)) return this.curly(start);
    if (this.text[start] === '{') return this.statement(start);
    const found = match(SQUARE, this.text, start);
    const groups = /** @type {{form?: string, name?: string}} */ (found?.groups ?? {});
    if (!found || (groups.name !== undefined && CONSTANTS.has(groups.name))) return null;
    const end = start + found[0].length;
    if (groups.name !== undefined) return this.named(groups.name, start, end);
    return groups.form === 'SECRET'
      ? this.secret(start, end)
      : this.prefixed(groups.form === 'OUT' ? 'out' : 'var', start, end);
  }

  /**
   * @param {number} start
   * @returns {Token}
   */
  curly(start) {
    const {language = 'text'} = this.options;
    const allowsEscapes = language === 'any' || (language === 'json' && this.string.holds(start));
    const found = readCurly(this.text, start, allowsEscapes);
    const problems = [...found.problems];
    for (const path of found.paths) this.checkPath(path, problems);
    const [first] = found.paths;
    return made(
      {
        kind: 'curly',
        from: start,
        to: found.end,
        filters: found.filters,
        paths: found.paths,
        ...(first && {path: first.path, name: first.name}),
        ...(first?.reference && {node: first.reference.node}),
      },
      problems,
    );
  }

  /**
   * What a first name may mean in `{{ }}` and `[[NAME]]`; where it reads a node, note that.
   * @param {MacroPath} path
   * @param {MacroProblem[]} problems
   */
  checkPath(path, problems) {
    const short = SHORT.exec(path.name);
    if (short) {
      path.reference = {node: `n${short[1]}`, from: path.from, to: path.to, style: 'short'};
      if (path.path.length > 1)
        problems.push(problem(path.from, `${path.name} is a text. Write OUT.n${short[1]}. for the whole result.`));
    }
    const square = SQUARE_ONLY.get(path.name);
    if (square !== undefined) problems.push(problem(path.from, `${path.name} works in square brackets only: ${square}.`));
  }

  /**
   * `{% .. %}` and `{# .. #}` are refused; without an end they are text.
   * @param {number} start
   * @returns {Token | null}
   */
  statement(start) {
    const opening = this.text.slice(start, start + 2);
    const closing = opening === '{%' ? '%}' : '#}';
    const end = start + 2 <= this.lastOf[closing] ? this.text.indexOf(closing, start + 2) : -1;
    if (end < 0) return null;
    const message =
      `${opening} is not part of this language: there are no statements and no comments. Decide in a node, use ` +
      `|default(..) in a macro, or write {{ '${opening}' }} for the characters themselves.`;
    return made({kind: 'curly', from: start, to: end + 2}, [problem(start, message)]);
  }

  /**
   * A macro that is one word.
   * @param {string} name
   * @param {number} start
   * @param {number} end
   * @returns {Token}
   */
  named(name, start, end) {
    const from = start + this.text.slice(start, end).indexOf(name);
    const path = {name, path: [name], from, to: from + name.length};
    if (name === 'PROMPT') {
      const refused = this.options.prompt === false;
      const message = '[[PROMPT]] cannot stand here. It may stand in the body template of a ProviderCall and in SetVars.';
      return made(
        {kind: 'prompt', from: start, to: end},
        refused ? [problem(start, message, 'template.prompt_not_allowed')] : [],
      );
    }
    if (name === 'VAR' || name === 'SECRET') {
      return made({kind: 'name', from: start, to: end}, [
        problem(start, `[[${name}]] needs to say which one: ${SQUARE_ONLY.get(name)}.`),
      ]);
    }
    if (name === 'OUT') return made({kind: 'out', from: start, to: end, name, path: [], paths: [path]}, []);
    const short = SHORT.exec(name);
    if (!short) return made({kind: 'name', from: start, to: end, name, path: [name], paths: [path]}, []);
    this.checkPath(path, []);
    return made({kind: 'short-out', from: start, to: end, name, node: `n${short[1]}`, paths: [path]}, []);
  }

  /**
   * `[[VAR:..]]` or `[[OUT:..]]`; the path begins at `inside`.
   * @param {'var' | 'out'} kind
   * @param {number} start
   * @param {number} inside
   * @returns {Token}
   */
  prefixed(kind, start, inside) {
    const {keys, end} = readPath(this.text, inside);
    const closing = match(END, this.text, end);
    if (keys.length === 0 || keys[0].text === '' || !closing) return this.brokenPath(kind, start, end);
    const problems = keys.length > MAX_STEPS ? [problem(start, `The path has more than ${MAX_STEPS} steps. Shorten it.`)] : [];
    const [first] = keys;
    const path = keys.map((key) => key.text);
    const to = end + closing[0].length;
    if (kind === 'out') {
      const reference = referenceTo(first);
      const paths = [{name: 'OUT', path: ['OUT', ...path], from: first.from, to: first.to, reference}];
      return made({kind, from: start, to, name: 'OUT', node: first.text, path, paths}, problems);
    }
    /** @type {MacroPath} */
    const whole = {name: first.text, path, from: first.from, to: first.to};
    if (first.text === 'OUT' && keys.length > 1) whole.reference = referenceTo(keys[1]);
    if (SHORT.test(first.text)) this.checkPath(whole, problems);
    for (const each of problems) each.at = start;
    return made(
      {kind, from: start, to, name: first.text, path, paths: [whole], ...(whole.reference && {node: whole.reference.node})},
      problems,
    );
  }

  /**
   * @param {'var' | 'out'} kind
   * @param {number} start
   * @param {number} behind where the path stopped
   * @returns {Token}
   */
  brokenPath(kind, start, behind) {
    const lineEnd = this.text.indexOf('\n', behind);
    const found = this.text.slice(behind, lineEnd < 0 ? undefined : lineEnd).indexOf(']]');
    let message = 'This is no path. Write keys with dots between them; ["a.b"] for a key that holds dots or brackets.';
    if (this.text.startsWith('|', behind)) message = 'Filters work in {{ .. }} only: write {{ path|default(1) }}.';
    else if (found < 0) message = `[[${kind.toUpperCase()}: is not closed. Write ]] behind the path.`;
    return made({kind, from: start, to: found < 0 ? behind : behind + found + 2}, [problem(start, message)]);
  }

  /**
   * `[[SECRET:name]]`.
   * @param {number} start
   * @param {number} inside
   * @returns {Token}
   */
  secret(start, inside) {
    const name = match(SECRET_NAME, this.text, inside)?.[0] ?? '';
    const closing = name === '' ? null : match(END, this.text, inside + name.length);
    if (!closing) {
      const message = "A secret's name has letters, digits, '_', '-' and '.': write [[SECRET:name]].";
      return made({kind: 'secret', from: start, to: inside + name.length}, [problem(start, message)]);
    }
    const refused = this.options.secrets === false;
    const message = 'A secret cannot stand here. It may stand in the endpoint and the headers of a node that calls a provider.';
    const problems = refused ? [problem(start, message, 'template.secret_not_allowed')] : [];
    return made({kind: 'secret', from: start, to: inside + name.length + closing[0].length, name}, problems);
  }
}

/** Tells for growing offsets whether they lie inside a JSON string; what macros hold does not count. */
class JsonStrings {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.isInside = false;
  }

  /**
   * @param {number} offset not before the last one
   * @returns {boolean}
   */
  holds(offset) {
    for (; this.at < offset; this.at += 1) {
      const mark = this.text[this.at];
      if (mark === '\\' && this.isInside) this.at += 1;
      else if (mark === '"') this.isInside = !this.isInside;
    }
    return this.isInside;
  }

  /**
   * Step over a macro; what stands before it counts.
   * @param {Token} macro
   */
  skip(macro) {
    this.holds(macro.from);
    this.at = macro.to;
  }
}

/**
 * The token, of kind `error` where it has problems.
 * @param {Token} token
 * @param {MacroProblem[]} problems
 * @returns {Token}
 */
function made(token, problems) {
  if (problems.length === 0) return token;
  const form = /** @type {NonNullable<Token['form']>} */ (token.kind);
  return {...token, kind: 'error', form, problems};
}

/**
 * @param {number} at
 * @param {string} message
 * @param {string} [code]
 * @returns {MacroProblem}
 */
function problem(at, message, code = 'template.syntax') {
  return {code, message, at};
}
