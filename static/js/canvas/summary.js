/** What a node says of itself: its type's `summary` template over its configuration, and its title. */
import {translated, typeTitle} from '../words.js';

/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */
/** @typedef {import('../core/doc.js').NodeType} NodeType */

const MOST = 200;
const LISTED = 4;

/**
 * The node's second line. Parts of the template (between ` · `) whose fields are all empty are left out.
 * @param {NodeType | undefined} type
 * @param {Record<string, any>} config
 * @returns {string} at most 200 characters, one line; empty when there is nothing to say
 */
export function summaryOf(type, config) {
  if (!type?.summary) return '';
  return type.summary
    .split(' · ')
    .map((part) => filled(part, type, config))
    .filter(Boolean)
    .join(' · ')
    .replace(/\s+/g, ' ')
    .slice(0, MOST);
}

/**
 * @param {string} part
 * @param {NodeType} type
 * @param {Record<string, any>} config
 */
function filled(part, type, config) {
  let said = !part.includes('{');
  const text = part.replace(/\{([\w.]+)\}/g, (_, /** @type {string} */ path) => {
    const found = at(config, path) ?? at(type.defaults ?? {}, path);
    // A choice that is a word, and no name of something, has words of its own.
    const value = translated(`canvas.choice.${path}.${found}`) ?? spoken(found);
    said ||= value !== '';
    return value;
  });
  return said ? text.trim() : '';
}

/** @param {any} value @param {string} path */
function at(value, path) {
  return path.split('.').reduce((inner, name) => (inner && typeof inner === 'object' ? inner[name] : undefined), value);
}

/** @param {any} value @returns {string} */
function spoken(value) {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return listed(value.map((item) => (item && typeof item === 'object' ? nameOf(item) : String(item))));
  if (typeof value === 'object') return listed(Object.keys(value));
  return String(value).slice(0, MOST);
}

/** @param {any} item */
function nameOf(item) {
  return String(item.name || item.title || item.id || item.kind || '').slice(0, MOST);
}

/** @param {string[]} names */
function listed(names) {
  const shown = names.filter(Boolean);
  const more = shown.length - LISTED;
  return shown.slice(0, LISTED).join(', ') + (more > 0 ? ` +${more}` : '');
}

/** The first sentence of what a type does. @param {NodeType} type */
export function typeHelp(type) {
  return translated(`canvas.typeHelp.${type.type}`) ?? sentence(type.help ?? '');
}

/** A category's heading. @param {string} category */
export function categoryTitle(category) {
  return translated(`canvas.category.${category}`) ?? category;
}

/** @param {string} help */
function sentence(help) {
  const first = help.trim().split(/(?<=[.!?])\s/)[0] ?? '';
  return first.replace(/`+/g, '').replace(/\s+/g, ' ');
}

/**
 * What a node is called on the canvas.
 * @param {PipelineNode} node
 * @param {Record<string, NodeType>} types
 */
export function titleOf(node, types) {
  return node.title || typeTitle(types[node.type], node.type);
}
