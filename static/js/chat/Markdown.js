/**
 * Markdown as elements. Nothing of a text becomes HTML of its own: what looks like HTML stays text, links lead to the web or to
 * a mail only, and pictures are links, since loading one would tell a foreign server that somebody reads.
 */
import {classes, Fragment, h, tags, useEffect, useMemo, useState} from '../h.js';
import {notifyFailure} from '../state/notices.js';
import {MOST_WORDS, SaidText} from '../ui/said.js';

const {a, br, code, div, hr, pre, strong} = tags;

/** @typedef {import('../../vendor/markdown.js').Reader} Reader */
/** @typedef {import('../../vendor/markdown.js').Token} Token */
/** @typedef {import('../h.js').ReactNode} ReactNode */

/** How long a text that still comes may be. */
const MOST_LIVE = 8_000;
const LINK = /^(https?|mailto):/i;
/** Tags that say all there is to say. */
const PLAIN = new Set(['blockquote', 'em', 'li', 'p', 's', 'strong', 'table', 'tbody', 'thead', 'tr', 'ul']);

/** What reads Markdown, once it is loaded: the first picture does without it. @type {Reader | null} */
let loaded = null;

/** @returns {Promise<Reader>} */
async function loadReader() {
  const {MarkdownIt} = await import('../../vendor/markdown.js');
  const reader = (loaded ??= new MarkdownIt({html: false, linkify: true, breaks: true}));
  // A bare word with a dot in it ("main.py") is no link.
  reader.linkify.set({fuzzyLink: false, fuzzyEmail: false});
  return reader;
}

/**
 * A text as the Markdown that it is; as it came while Markdown cannot be read yet, or where it is so long that reading it for
 * each of its pieces would be felt.
 * @param {{text: string, isStreaming?: boolean}} props
 */
export function Markdown({text, isStreaming = false}) {
  const [reader, setReader] = useState(() => loaded);
  useEffect(() => {
    if (!reader) loadReader().then((made) => setReader(() => made), notifyFailure);
  }, []);
  const isShort = text.length <= (isStreaming ? MOST_LIVE : MOST_WORDS);
  const elements = useMemo(() => reader && isShort && elementsOf(reader.parse(text, {})), [reader, isShort, text]);
  if (!elements) return h(SaidText, {text, isStreaming});
  return div({className: classes('said-text', 'said-markdown', isStreaming && 'said-streaming'), 'data-t': 'said-text'}, elements);
}

/** Flat tokens as nested elements. @param {Token[]} tokens @returns {ReactNode[]} */
function elementsOf(tokens) {
  /** @type {ReactNode[][]} */
  const open = [[]];
  /** @type {Token[]} */
  const parents = [];
  for (const token of tokens) {
    if (token.nesting === 1) {
      open.push([]);
      parents.push(token);
      continue;
    }
    const children = token.nesting === -1 ? /** @type {ReactNode[]} */ (open.pop()) : [];
    const siblings = open[open.length - 1];
    const key = siblings.length;
    siblings.push(token.nesting === -1 ? parentOf(/** @type {Token} */ (parents.pop()), children, key) : leafOf(token, key, parents));
  }
  return open[0];
}

/** @param {Token} token what opened it @param {ReactNode[]} children @param {number} key */
function parentOf(token, children, key) {
  const {tag} = token;
  if (token.hidden) return h(Fragment, {key}, children);
  if (PLAIN.has(tag)) return h(tag, {key}, children);
  if (tag === 'a') return linkOf(attributeOf(token, 'href'), children, key);
  if (tag === 'ol') return h('ol', {key, start: Number(attributeOf(token, 'start') ?? 1)}, children);
  if (tag === 'th' || tag === 'td') return h(tag, {key, style: {textAlign: alignmentOf(token)}}, children);
  // A heading of what was said is none of the page.
  return h('p', {key, className: 'said-heading'}, strong(null, children));
}

/** @param {Token} token @param {string} name */
function attributeOf(token, name) {
  const value = token.attrGet(name);
  return value === null ? null : String(value);
}

/** @param {Token} cell */
function alignmentOf(cell) {
  return /** @type {'left' | 'center' | 'right' | undefined} */ (/text-align:(left|center|right)/.exec(attributeOf(cell, 'style') ?? '')?.[1]);
}

/** @param {string | null} href @param {ReactNode[]} children @param {number} key */
function linkOf(href, children, key) {
  return href && LINK.test(href) ? a({key, href, target: '_blank', rel: 'noopener noreferrer nofollow'}, children) : h(Fragment, {key}, children);
}

/** @param {Token} token @param {number} key @param {Token[]} parents what it stands in @returns {ReactNode} */
function leafOf(token, key, parents) {
  switch (token.type) {
    case 'inline':
      return h(Fragment, {key}, elementsOf(token.children ?? []));
    case 'softbreak':
    case 'hardbreak':
      return br({key});
    case 'code_inline':
      return code({key}, token.content);
    case 'code_block':
    case 'fence':
      return pre({key, className: 'said-code', tabIndex: 0}, code(null, token.content));
    case 'hr':
      return hr({key});
    case 'image': {
      const src = attributeOf(token, 'src');
      // Within a link it is words: a link holds no other.
      return linkOf(parents.some(({tag}) => tag === 'a') ? null : src, [token.content || src], key);
    }
    default:
      return token.content;
  }
}
