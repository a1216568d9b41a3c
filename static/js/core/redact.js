// Keys that were typed into a pipeline and would leave with its file. What is found is a guess from names and looks; macros are
// no keys, whatever they insert.

import {nodesOf} from './doc.js';
import {tokenise} from './macros.js';
import {mapTexts, textsOf} from './texts.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./texts.js').TemplateText} TemplateText */

/**
 * A key that stands in a document as it is.
 * @typedef {object} LiteralKey
 * @property {string} node
 * @property {string} field a dotted path in the node's config
 * @property {string} [header] its name, where it is a header
 * @property {string} kind what it looks like: a vendor's name, `bearer`, `password`, `query` or `header`
 * @property {string} masked the key with all but a few characters hidden
 * @property {string | null} suggestion the macro to write instead; null where no secret may stand
 */

/**
 * A key in a text: `from`..`to` is the key alone.
 * @typedef {{from: number, to: number, kind: string}} Finding
 */

/** How keys of the vendors begin; the longer beginnings first. */
const PREFIXES = [
  ['anthropic', /sk-ant-[A-Za-z0-9_-]{8,}/],
  ['openrouter', /sk-or-[A-Za-z0-9_-]{8,}/],
  ['openai', /sk-(?:proj-)?[A-Za-z0-9_-]{16,}/],
  ['google', /AIza[A-Za-z0-9_-]{20,}/],
  ['groq', /gsk_[A-Za-z0-9]{16,}/],
  ['xai', /xai-[A-Za-z0-9]{16,}/],
  ['replicate', /r8_[A-Za-z0-9]{16,}/],
  ['huggingface', /hf_[A-Za-z0-9]{16,}/],
  ['github', /gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}/],
  ['nvidia', /nvapi-[A-Za-z0-9_-]{16,}/],
  ['perplexity', /pplx-[A-Za-z0-9]{16,}/],
  ['aws', /A(?:KIA|SIA)[A-Z0-9]{16}/],
  ['slack', /xox[abprs]-[A-Za-z0-9-]{10,}/],
];
const KNOWN = new RegExp(
  PREFIXES.map(([, pattern]) => `(?<![A-Za-z0-9])(${/** @type {RegExp} */ (pattern).source})`).join('|'),
  'g',
);
const BEARER = /\b(?:Bearer|Basic|Token)\s+([A-Za-z0-9._~+/=-]{12,})/gi;
const USERINFO = /\b[a-z][a-z0-9+.-]*:\/\/([^/?#\s"'@[\]{}]+)@/gi;
const QUERY = /[?&;](?:key|api[_-]?key|access[_-]?token|token|signature|secret)=([^&;#\s"'<>[\]{}]{6,})/gi;
const HEADER_LINE =
  /["']((?:proxy-)?authorization|[a-z-]*api-?key|[a-z-]*token|cookie|[a-z-]*secret)["']\s*:\s*["']([^"'\\]+)["']/gi;
const TELLING_HEADER = /authorization|api-?key|token|cookie|secret|password|credential/i;
/** Values of such headers that are no keys. */
const HARMLESS =
  /^(?:none|null|true|false|test|dummy|no-key|not-needed|ollama|lm-studio|x+|\*+|<[^>]*>|your[-_ ].*|\[redacted\])$/i;
const SHORTEST = 8;
const TELLING = 16;

/**
 * The keys of a document, in its order.
 * @param {Pipeline} document
 * @returns {LiteralKey[]}
 */
export function findLiteralKeys(document) {
  return nodesOf(document).flatMap((node) =>
    textsOf(node).flatMap((text) => findingsIn(text).map((found) => described(node.id, text, found))),
  );
}

/**
 * The document without its keys. Where a secret may stand (headers, endpoint) each becomes `[[SECRET:name]]`, elsewhere
 * `[redacted]`. Everything else stays the same.
 * @param {Pipeline} document
 * @returns {{document: Pipeline, report: LiteralKey[]}}
 */
export function redactDocument(document) {
  const report = findLiteralKeys(document);
  if (report.length === 0) return {document, report};
  const nodes = nodesOf(document).map((node) => mapTexts(node, (text) => redacted(text)));
  return {document: {...document, nodes}, report};
}

/**
 * A request as it may be kept in the browser: the keys in its headers and its address are masked.
 * @template {{path: string, headers: Record<string, string>}} Request
 * @param {Request} request
 * @returns {Request}
 */
export function withoutKeys(request) {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => {
      const found = masked(value, ['headers', name]);
      // Here nothing is lost by taking an ordinary word for a key, so the header's name is enough.
      return [name, found === value && TELLING_HEADER.test(name) && !HARMLESS.test(value) ? mask(value) : found];
    }),
  );
  return {...request, path: masked(request.path, ['path']), headers};
}

/**
 * @param {string} text
 * @param {string[]} path where it stands
 * @returns {string} the text with its keys masked
 */
function masked(text, path) {
  let result = '';
  let taken = 0;
  for (const {from, to} of findingsIn({text, path, field: path.join('.'), language: 'text', secrets: true, prompt: false})) {
    result += text.slice(taken, from) + mask(text.slice(from, to));
    taken = to;
  }
  return result + text.slice(taken);
}

/**
 * @param {TemplateText} text
 * @returns {string}
 */
function redacted(text) {
  let result = '';
  let taken = 0;
  for (const found of findingsIn(text)) {
    result += text.text.slice(taken, found.from) + (suggestionFor(text, found) ?? '[redacted]');
    taken = found.to;
  }
  return result + text.text.slice(taken);
}

/**
 * @param {string} node
 * @param {TemplateText} text
 * @param {Finding} found
 * @returns {LiteralKey}
 */
function described(node, text, found) {
  const header = headerOf(text);
  return {
    node,
    field: text.field,
    ...(header === null ? {} : {header}),
    kind: found.kind,
    masked: mask(text.text.slice(found.from, found.to)),
    suggestion: suggestionFor(text, found),
  };
}

/**
 * The name of the header whose value the text is; null where it is none.
 * @param {TemplateText} text
 * @returns {string | null}
 */
function headerOf({path}) {
  return path.length === 2 && (path[0] === 'headers' || path[0] === 'extra_headers') ? String(path[1]) : null;
}

/**
 * The macro that says what the key said.
 * @param {TemplateText} text
 * @param {Finding} found
 * @returns {string | null}
 */
function suggestionFor(text, {kind}) {
  if (!text.secrets || text.language === 'formula') return null;
  const vague = ['bearer', 'password', 'query', 'header'].includes(kind);
  return `[[SECRET:${vague ? secretName(headerOf(text)) : kind}]]`;
}

/**
 * @param {string | null} header
 * @returns {string}
 */
function secretName(header) {
  const name = (header ?? 'key')
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' || name === 'authorization' ? 'key' : name;
}

/**
 * @param {string} key
 * @returns {string} its first and last characters, as far as it is long
 */
function mask(key) {
  if (key.length < TELLING) return '***';
  const begin = /^[A-Za-z0-9]+[-_]/.exec(key)?.[0] ?? '';
  return `${begin.length <= 6 ? begin : ''}***${key.slice(-4)}`;
}

/**
 * The keys in a text, in order and without overlaps. What macros hold is left alone.
 * @param {TemplateText} text
 * @returns {Finding[]}
 */
function findingsIn(text) {
  const plain = withoutMacros(text);
  const header = headerOf(text);
  /** @type {Finding[]} */
  const found = [
    ...knownKeys(plain),
    ...groupsOf(BEARER, plain, 'bearer', 1).filter(({from, to}) => isRandom(plain.slice(from, to))),
    ...groupsOf(USERINFO, plain, 'password', 1),
    ...groupsOf(QUERY, plain, 'query', 1),
    ...headerLines(plain),
    ...(header !== null && TELLING_HEADER.test(header) ? headerValue(plain) : []),
  ];
  return withoutOverlaps(found);
}

/**
 * The text with its macros blanked, as long as before.
 * @param {TemplateText} text
 * @returns {string}
 */
function withoutMacros({text, language}) {
  return tokenise(text, language)
    .map(({kind, from, to}) => (kind === 'text' || kind === 'error' ? text.slice(from, to) : '\n'.repeat(to - from)))
    .join('');
}

/**
 * @param {string} text
 * @returns {Finding[]}
 */
function knownKeys(text) {
  return [...text.matchAll(KNOWN)].map((match) => {
    const kind = String(PREFIXES[match.slice(1).findIndex((group) => group !== undefined)][0]);
    return {from: match.index, to: match.index + match[0].length, kind};
  });
}

/**
 * @param {RegExp} pattern
 * @param {string} text
 * @param {string} kind
 * @param {number} group the key's
 * @returns {Finding[]}
 */
function groupsOf(pattern, text, kind, group) {
  return [...text.matchAll(pattern)].map((match) => {
    const key = match[group];
    const from = match.index + match[0].lastIndexOf(key);
    return {from, to: from + key.length, kind};
  });
}

/**
 * Headers that are written as JSON.
 * @param {string} text
 * @returns {Finding[]}
 */
function headerLines(text) {
  return groupsOf(HEADER_LINE, text, 'header', 2).flatMap(({from, to}) =>
    headerValue(text.slice(from, to)).map((each) => ({...each, from: each.from + from, to: each.to + from})),
  );
}

/**
 * The value of a header that holds keys: all of it, or what stands behind the scheme.
 * @param {string} value
 * @returns {Finding[]}
 */
function headerValue(value) {
  return [...value.matchAll(/[^\n]+/g)].flatMap((piece) => {
    const scheme = /^\s*(?:(?:Bearer|Basic|Token)\b\s*)?/i.exec(piece[0])?.[0].length ?? 0;
    const key = piece[0].slice(scheme).trim();
    const from = piece.index + scheme + (piece[0].slice(scheme).length - piece[0].slice(scheme).trimStart().length);
    const isKey = key.length >= SHORTEST && !HARMLESS.test(key) && (isRandom(key) || key.includes('='));
    return isKey ? [{from, to: from + key.length, kind: 'header'}] : [];
  });
}

/**
 * Whether a text looks as if nobody had thought of it: long, without spaces, many different characters, and not words.
 * @param {string} text
 * @returns {boolean}
 */
function isRandom(text) {
  if (text.length < SHORTEST || /\s/.test(text)) return false;
  if (HARMLESS.test(text)) return false;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  const isMixed = /[0-9]/.test(text) && /[A-Za-z]/.test(text);
  return bits >= (isMixed ? 2.5 : 3.5);
}

/**
 * @param {Finding[]} found the more telling ones first
 * @returns {Finding[]} in the order of the text
 */
function withoutOverlaps(found) {
  /** @type {Finding[]} */
  const kept = [];
  for (const each of found) {
    if (kept.every((other) => each.to <= other.from || each.from >= other.to)) kept.push(each);
  }
  return kept.sort((a, b) => a.from - b.from);
}
