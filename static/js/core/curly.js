// What stands between `{{` and `}}`: a path, a literal, filters behind it; nothing that runs.
//
//     expression := primary { "[" key "]" | ".key" } { "|" filter [ "(" expressions ")" ] }
//     primary    := name | literal | "(" expression ")" | "[" expressions "]" | "{" "text" ":" expression ... "}"

/** @typedef {import('./doc.js').MacroPath} MacroPath */
/** @typedef {import('./doc.js').MacroProblem} MacroProblem */
/** @typedef {import('./doc.js').NodeReference} NodeReference */

const MAX_LENGTH = 64 * 1024;
const MAX_NESTING = 30;
const MAX_FILTERS = 50;
const MAX_STEPS = 100;
const MAX_DIGITS = 400;

/**
 * Every filter with the fewest and the most arguments that it takes.
 * @type {Map<string, [number, number]>}
 */
export const FILTERS = new Map([
  ['default', [1, 1]],
  ['json', [0, 0]],
  ['string', [0, 0]],
  ['add', [1, 1]],
  ['trim', [0, 0]],
  ['upper', [0, 0]],
  ['lower', [0, 0]],
  ['length', [0, 0]],
  ['join', [0, 1]],
  ['first', [0, 0]],
  ['last', [0, 0]],
  ['int', [0, 0]],
  ['float', [0, 0]],
  ['replace', [2, 2]],
  ['truncate', [1, 2]],
]);

/** The words that are values, and so no names. */
export const CONSTANTS = new Set(['true', 'True', 'false', 'False', 'null', 'none', 'None']);

const LANGUAGE = 'Between {{ and }} stands a path such as incoming.json.model, with filters behind it such as |default(1).';
const KEYWORDS = new Set(['if', 'else', 'and', 'or', 'not', 'in', 'is', 'for', 'set']);
const OPENING = '([{';
const CLOSING = ')]}';

// \w of the server: letters and numbers of every script, and _. White space as there too.
const WORD = String.raw`[\p{L}\p{N}_]`;
const TOKEN = new RegExp(
  String.raw`(?<space>(?:(?!\ufeff)\s|[\x1c-\x1f\x85])+)` +
    String.raw`|(?<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")` +
    String.raw`|(?<escaped>\\"[^"\\\n]*\\")` +
    String.raw`|(?<key>\.[\p{L}\p{N}_$@]+(?:-+[\p{L}\p{N}_$@]+)*)` +
    String.raw`|(?<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?(?!${WORD}|\.))` +
    String.raw`|(?<name>[\p{L}\p{Nl}\p{No}_]${WORD}*(?:-+${WORD}+)*)` +
    String.raw`|(?<mark>[|()\[\]\{\},:])`,
  'yus',
);
const KINDS = /** @type {const} */ (['space', 'string', 'escaped', 'key', 'number', 'name', 'mark']);

/**
 * A token.
 * @typedef {{kind: typeof KINDS[number], text: string, from: number, to: number}} Lexeme
 */

/**
 * @typedef {object} Curly
 * @property {number} end the offset behind the macro
 * @property {MacroPath[]} paths
 * @property {string[]} filters
 * @property {MacroProblem[]} problems
 */

/** Ends the reading of a macro whose mistake has been noted. */
class Refused extends Error {}

/**
 * Read the macro that begins at `start`.
 * @param {string} text
 * @param {number} start
 * @param {boolean} allowsEscapes whether quotes may be written `\"`
 * @returns {Curly}
 */
export function readCurly(text, start, allowsEscapes) {
  const {lexemes, end, problem} = cut(text, start, allowsEscapes);
  const filters = lexemes
    .filter((each, index) => index > 0 && each.kind === 'name' && lexemes[index - 1].text === '|')
    .map((each) => each.text);
  if (problem) return {end, paths: [], filters, problems: [problem]};
  const parser = new Parser(lexemes);
  try {
    const tree = parser.whole();
    const reader = new Reader(start, filters.length);
    reader.read(tree);
    return {end, paths: reader.paths, filters, problems: reader.problems};
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return {
      end,
      paths: [],
      filters,
      problems: [{code: 'template.syntax', message: `This cannot be understood. ${LANGUAGE}`, at: start}],
    };
  }
}

/**
 * Find the end of the macro and cut it into tokens.
 * @param {string} text
 * @param {number} start
 * @param {boolean} allowsEscapes
 * @returns {{lexemes: Lexeme[], end: number, problem: MacroProblem | null}}
 */
function cut(text, start, allowsEscapes) {
  /** @type {Lexeme[]} */
  const lexemes = [];
  /** @type {string[]} */
  const brackets = [];
  /** @type {MacroProblem | null} */
  let problem = null;
  let offset = start + 2;
  while (brackets.length > 0 || !text.startsWith('}}', offset)) {
    const lexeme = lexAt(text, offset);
    problem ??= lexeme
      ? refusal(lexeme, start, brackets, lexemes.at(-1)?.text ?? '', allowsEscapes)
      : badCharacter(text, start, offset);
    if (problem || !lexeme) return {lexemes, end: endOfBroken(text, start, offset), problem};
    if (lexeme.kind !== 'space') lexemes.push(lexeme);
    if (lexeme.kind === 'number' && isHuge(lexeme.text))
      problem = mistake(offset, 'The number is too large. Write a smaller one.');
    offset = lexeme.to;
  }
  if (lexemes.length === 0) problem = mistake(start, `There is nothing between {{ and }}. ${LANGUAGE}`);
  return {lexemes, end: offset + 2, problem};
}

/**
 * @param {string} text
 * @param {number} offset
 * @returns {Lexeme | null}
 */
function lexAt(text, offset) {
  TOKEN.lastIndex = offset;
  const found = TOKEN.exec(text);
  if (!found) return null;
  const groups = /** @type {{[kind: string]: string | undefined}} */ (found.groups);
  const kind = KINDS.find((each) => groups[each] !== undefined) ?? 'mark';
  return {kind, text: found[0], from: offset, to: offset + found[0].length};
}

/**
 * What is wrong with a token where it stands; keeps account of open brackets.
 * @param {Lexeme} lexeme
 * @param {number} start
 * @param {string[]} brackets
 * @param {string} last
 * @param {boolean} allowsEscapes
 * @returns {MacroProblem | null}
 */
function refusal({kind, text, from}, start, brackets, last, allowsEscapes) {
  if (from - start > MAX_LENGTH)
    return mistake(start, `{{ is not closed within ${MAX_LENGTH} characters. Write }} behind the path.`);
  if (kind === 'escaped' && !allowsEscapes) return mistake(from, 'A backslash cannot stand here. Write the quotes without it.');
  if (kind === 'key' && (last === '' || '|([{,:'.includes(last)))
    return mistake(from, `There is no name in front of '${text}'. ${LANGUAGE}`);
  if (kind === 'name' && KEYWORDS.has(text) && last !== '|') {
    return mistake(from, `'${text}' is not possible here. ${LANGUAGE} Decide in a node, not in a template.`);
  }
  if (kind !== 'mark') return null;
  if (OPENING.includes(text)) {
    brackets.push(text);
    return brackets.length > MAX_NESTING ? mistake(from, `Brackets nest deeper than ${MAX_NESTING} levels. Nest less.`) : null;
  }
  if (!CLOSING.includes(text)) return null;
  const opened = brackets.pop();
  return opened !== undefined && OPENING.indexOf(opened) === CLOSING.indexOf(text)
    ? null
    : mistake(from, `'${text}' closes nothing that is open here. ${LANGUAGE}`);
}

/**
 * @param {string} text
 * @param {number} start
 * @param {number} offset
 * @returns {MacroProblem}
 */
function badCharacter(text, start, offset) {
  if (offset >= text.length)
    return mistake(start, "{{ is not closed. Write }} behind the path, or {{ '{{' }} for the braces themselves.");
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 0);
  if (`'"`.includes(character))
    return mistake(offset, `The text that begins with ${character} is not closed. Write the same quote behind it.`);
  return mistake(
    offset,
    `'${character}' is not possible here. ${LANGUAGE} Keys with other characters stand in brackets and quotes: ["a b"]. Calculate in a variable with mode expr.`,
  );
}

/**
 * Where a broken macro ends: behind its closing braces, or at least behind its beginning.
 * @param {string} text
 * @param {number} start
 * @param {number} offset
 * @returns {number}
 */
function endOfBroken(text, start, offset) {
  const found = text.slice(offset, offset + MAX_LENGTH).indexOf('}}');
  return found >= 0 ? offset + found + 2 : Math.max(offset, start + 2);
}

/**
 * @param {string} text
 * @returns {boolean}
 */
function isHuge(text) {
  return text.length > MAX_DIGITS || (!/^-?[0-9]+$/.test(text) && !Number.isFinite(Number(text)));
}

/**
 * A part of the expression. The key of an index is null where several things, or a slice, stand in the brackets; `lexeme`
 * is the
 * token of the key.
 * @typedef {{kind: 'name', lexeme: Lexeme}} NameNode
 * @typedef {{kind: 'constant', value: unknown}} ConstantNode
 * @typedef {{kind: 'index', of: Tree, key: Tree | null, lexeme: Lexeme}} IndexNode
 * @typedef {{kind: 'filter', of: Tree, lexeme: Lexeme, parameters: Tree[]}} FilterNode
 * @typedef {{kind: 'list', items: Tree[]}} ListNode
 * @typedef {{kind: 'object', members: [Tree, Tree][]}} ObjectNode
 * @typedef {{kind: 'refused', message: string}} RefusedNode
 * @typedef {NameNode | ConstantNode | IndexNode | FilterNode | ListNode | ObjectNode | RefusedNode} Tree
 */

/** Makes the tree of a macro's tokens. Methods throw Refused where the tokens make no sense. */
class Parser {
  /** @param {Lexeme[]} lexemes */
  constructor(lexemes) {
    this.lexemes = lexemes;
    this.at = 0;
  }

  /** @returns {Tree} */
  whole() {
    const tree = this.expression();
    if (this.at < this.lexemes.length) throw new Refused();
    return tree;
  }

  /** @returns {Tree} */
  expression() {
    let tree = this.primary();
    for (;;) {
      const lexeme = this.lexemes[this.at];
      if (lexeme?.kind === 'key') {
        this.at += 1;
        tree = {kind: 'index', of: tree, key: {kind: 'constant', value: lexeme.text.slice(1)}, lexeme};
      } else if (this.takes('[')) tree = this.subscript(tree);
      else if (this.takes('(')) tree = this.call();
      else break;
    }
    for (;;) {
      if (this.takes('|')) tree = this.filter(tree);
      else if (this.takes('(')) tree = this.call();
      else return tree;
    }
  }

  /** @returns {Tree} */
  primary() {
    const lexeme = this.lexemes[this.at];
    this.at += 1;
    switch (lexeme?.kind) {
      case 'name':
        return CONSTANTS.has(lexeme.text) ? {kind: 'constant', value: null} : {kind: 'name', lexeme};
      case 'number':
        return {kind: 'constant', value: Number(lexeme.text)};
      case 'string':
        return {kind: 'constant', value: unescape(lexeme.text.slice(1, -1))};
      case 'escaped':
        return {kind: 'constant', value: lexeme.text.slice(2, -2)};
      case 'mark':
        if (lexeme.text === '(') return this.parenthesis();
        if (lexeme.text === '[') return {kind: 'list', items: this.items(']', () => this.expression())};
        if (lexeme.text === '{') return {kind: 'object', members: this.items('}', () => this.member())};
    }
    throw new Refused();
  }

  /** @returns {Tree} */
  parenthesis() {
    const first = this.lexemes[this.at];
    if (first?.text === ')' && first.kind === 'mark') {
      this.at += 1;
      return {kind: 'refused', message: 'A list stands in square brackets: [1, 2].'};
    }
    const inner = this.expression();
    if (this.takes(')')) return inner;
    if (!this.takes(',')) throw new Refused();
    this.items(')', () => this.expression());
    return {kind: 'refused', message: 'A list stands in square brackets: [1, 2].'};
  }

  /**
   * What `read` reads, with commas between, to the closing bracket; a comma may stand behind the last.
   * @template T
   * @param {string} closing
   * @param {() => T} read
   * @returns {T[]}
   */
  items(closing, read) {
    /** @type {T[]} */
    const items = [];
    while (!this.takes(closing)) {
      if (items.length > 0) {
        if (!this.takes(',')) throw new Refused();
        if (this.takes(closing)) break;
      }
      items.push(read());
    }
    return items;
  }

  /** @returns {[Tree, Tree]} */
  member() {
    const key = this.expression();
    if (!this.takes(':')) throw new Refused();
    return [key, this.expression()];
  }

  /**
   * What stands in the brackets behind a value: one key, or something else that is read and refused.
   * @param {Tree} of
   * @returns {Tree}
   */
  subscript(of) {
    const lexeme = this.lexemes[this.at];
    /** @type {(Tree | null)[]} */
    const keys = [];
    while (!this.takes(']')) {
      if (keys.length > 0 && !this.takes(',')) throw new Refused();
      keys.push(this.subscripted());
    }
    return {kind: 'index', of, key: keys.length === 1 ? keys[0] : null, lexeme};
  }

  /**
   * A key; null for a slice.
   * @returns {Tree | null}
   */
  subscripted() {
    let key = null;
    if (!this.takes(':')) {
      key = this.expression();
      if (!this.takes(':')) return key;
    }
    const isEnd = () => [']', ','].includes(this.lexemes[this.at]?.text ?? '');
    if (!this.takes(':')) {
      if (!isEnd()) this.expression();
      if (!this.takes(':')) return null;
    }
    if (!isEnd()) this.expression();
    return null;
  }

  /**
   * @param {Tree} of
   * @returns {Tree}
   */
  filter(of) {
    const lexeme = this.lexemes[this.at];
    if (lexeme?.kind !== 'name') {
      // The placeholder of a literal would be a name to the server's parser; a bracket is not.
      if (lexeme === undefined || lexeme.kind === 'mark' || lexeme.kind === 'key') throw new Refused();
      this.at += 1;
      if (this.takes('(')) this.items(')', () => this.expression());
      return {kind: 'refused', message: `Behind | stands a filter's name. ${LANGUAGE}`};
    }
    this.at += 1;
    return {kind: 'filter', of, lexeme, parameters: this.takes('(') ? this.items(')', () => this.expression()) : []};
  }

  /** @returns {Tree} */
  call() {
    this.items(')', () => this.expression());
    return {kind: 'refused', message: `Nothing can be called here. ${LANGUAGE}`};
  }

  /**
   * Step over a sign if it is the next.
   * @param {string} mark
   * @returns {boolean}
   */
  takes(mark) {
    const lexeme = this.lexemes[this.at];
    if (lexeme?.kind !== 'mark' || lexeme.text !== mark) return false;
    this.at += 1;
    return true;
  }
}

/** Walks the tree as the server does: notes paths, and the first thing that is refused. */
class Reader {
  /**
   * @param {number} start
   * @param {number} filterCount
   */
  constructor(start, filterCount) {
    this.start = start;
    this.filterCount = filterCount;
    /** @type {MacroPath[]} */
    this.paths = [];
    /** @type {MacroProblem[]} */
    this.problems = [];
  }

  /**
   * Note one problem for this macro; those behind it are likely its echo.
   * @param {number} at
   * @param {string} message
   * @param {string} [code]
   */
  refuse(at, message, code) {
    if (this.problems.length === 0) this.problems.push(mistake(at, message, code));
  }

  /** @param {Tree} tree */
  read(tree) {
    switch (tree.kind) {
      case 'name':
        return this.path(tree.lexeme, []);
      case 'index':
        return this.indexed(tree);
      case 'filter':
        return this.filtered(tree);
      case 'list':
        return tree.items.forEach((item) => this.read(item));
      case 'object':
        return this.object(tree);
      case 'refused':
        return this.refuse(this.start, tree.message);
    }
  }

  /**
   * @param {Lexeme} root
   * @param {{text: string, lexeme: Lexeme}[]} steps
   */
  path(root, steps) {
    if (steps.length > MAX_STEPS) return this.refuse(root.from, `The path has more than ${MAX_STEPS} steps. Shorten it.`);
    /** @type {MacroPath} */
    const path = {name: root.text, path: [root.text, ...steps.map((step) => step.text)], from: root.from, to: root.to};
    if (root.text === 'OUT' && steps.length > 0) path.reference = referenceOf(steps[0]);
    this.paths.push(path);
  }

  /** @param {IndexNode} tree */
  indexed(tree) {
    /** @type {{text: string, lexeme: Lexeme}[]} */
    const steps = [];
    /** @type {Tree} */
    let inner = tree;
    while (inner.kind === 'index') {
      const key = inner.key?.kind === 'constant' ? keyOf(inner.key.value, inner.lexeme) : null;
      if (key === null) return this.refuse(this.start, 'In brackets stands a whole number or a key in quotes: [0], ["a.b"].');
      steps.unshift({text: key, lexeme: inner.lexeme});
      inner = inner.of;
    }
    if (inner.kind === 'name') this.path(inner.lexeme, steps);
    else this.read(inner);
  }

  /** @param {FilterNode} tree */
  filtered(tree) {
    if (this.filterCount > MAX_FILTERS) return this.refuse(this.start, `More than ${MAX_FILTERS} filters. Use fewer.`);
    this.read(tree.of);
    tree.parameters.forEach((each) => this.read(each));
    const {text, from} = tree.lexeme;
    const counts = FILTERS.get(text);
    if (counts === undefined) {
      return this.refuse(
        from,
        `There is no filter '${text}'. There are: ${[...FILTERS.keys()].join(', ')}.`,
        'template.unknown_filter',
      );
    }
    const [fewest, most] = counts;
    if (tree.parameters.length < fewest || tree.parameters.length > most) {
      const usage =
        fewest === most ? ['no argument', 'one argument', 'two arguments'][fewest] : `${fewest} or ${most} arguments`;
      this.refuse(from, `The filter '${text}' takes ${usage}.`);
    }
  }

  /** @param {ObjectNode} tree */
  object(tree) {
    for (const [key, value] of tree.members) {
      if (key.kind !== 'constant' || typeof key.value !== 'string')
        return this.refuse(this.start, 'The keys of an object stand in quotes: {"a": 1}.');
      this.read(value);
    }
  }
}

/**
 * A constant as a step: a text, or a whole number as it is written.
 * @param {unknown} value
 * @param {Lexeme} lexeme
 * @returns {string | null}
 */
function keyOf(value, lexeme) {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || !/^-?[0-9]+$/.test(lexeme.text)) return null;
  return String(BigInt(lexeme.text));
}

/**
 * The first step behind OUT as a reference: what to replace for another id.
 * @param {{text: string, lexeme: Lexeme}} step
 * @returns {NodeReference}
 */
function referenceOf({text, lexeme}) {
  const {kind, from, to} = lexeme;
  if (kind === 'key' || kind === 'number') return {node: text, from, to, style: kind};
  const quotes = kind === 'escaped' ? 2 : 1;
  return {node: text, from: from + quotes, to: to - quotes, style: 'quoted'};
}

/**
 * What stands between quotes, with `\n`, `\u00e9` and the like resolved; an unknown escape stays as it is.
 * @param {string} body
 * @returns {string}
 */
function unescape(body) {
  /** @type {{[mark: string]: string}} */
  const marks = {n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '"': '"', "'": "'", '\\': '\\', '/': '/'};
  return body.replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gsu, (written, four, two, mark) => {
    const digits = four ?? two;
    return digits === undefined ? (marks[mark] ?? written) : String.fromCharCode(parseInt(digits, 16));
  });
}

/**
 * @param {number} at
 * @param {string} message
 * @param {string} [code]
 * @returns {MacroProblem}
 */
function mistake(at, message, code = 'template.syntax') {
  return {code, message, at};
}
