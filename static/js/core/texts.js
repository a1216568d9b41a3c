// Which strings of a node are templates, and in which language: what docs/templates.md says under "Where a macro may stand".

import {isObject} from './doc.js';

/** @typedef {import('./doc.js').PipelineNode} PipelineNode */
/** @typedef {import('./doc.js').JsonObject} JsonObject */

/**
 * `text`: macros in a text. `json`: macros in a JSON body. `formula`: none of these, for it is a formula or SillyTavern's macros.
 * `any`: a string of a node type that is not one of ours; what it means is not known, macros in it are taken for macros.
 * `condition`: paths without brackets. `node`: no template, but the id of a node.
 * @typedef {'text' | 'json' | 'formula' | 'condition' | 'any' | 'node'} Language
 */

/**
 * A string of a node's configuration.
 * @typedef {object} TemplateText
 * @property {string} field the dotted path as problems name it: `variables.0.value`
 * @property {(string | number)[]} path the same as steps
 * @property {string} text
 * @property {Language} language
 * @property {boolean} secrets whether `[[SECRET:..]]` may stand in it
 * @property {boolean} prompt whether `[[PROMPT]]` may stand in it
 */

/**
 * How a field is written: steps of its path, `*` for any.
 * @typedef {{path: string[], language: Language, secrets?: boolean, prompt?: boolean}} Rule
 */

/** @type {{[type: string]: Rule[]}} */
const RULES = {
  ProviderCall: [
    {path: ['base_url'], language: 'text'},
    {path: ['endpoint'], language: 'text', secrets: true},
    {path: ['proxy'], language: 'text', secrets: true},
    {path: ['headers', '*'], language: 'text', secrets: true},
    {path: ['model'], language: 'text'},
    {path: ['blocks', '*', 'text'], language: 'text'},
    {path: ['template'], language: 'json', prompt: true},
  ],
  RawForward: [
    {path: ['base_url'], language: 'text'},
    {path: ['override_path'], language: 'text', secrets: true},
    {path: ['proxy'], language: 'text', secrets: true},
    {path: ['extra_headers'], language: 'json', secrets: true, prompt: true},
    {path: ['extra_headers', '*'], language: 'text', secrets: true},
  ],
  SetVars: [{path: ['variables', '*', 'value'], language: 'text', prompt: true}],
};

/** The fields that name a node by its id, of each type that has one. @type {{[type: string]: string[]}} */
const NODE_FIELDS = {Loop: ['result'], Return: ['node']};

/** @type {Rule} */
const OF_OTHERS = {path: [], language: 'any', secrets: true, prompt: true};

/**
 * Every string of the node that is a template or a formula, in the order of its configuration. Of a node type that is not one
 * of ours every string counts.
 * @param {PipelineNode} node
 * @returns {TemplateText[]}
 */
export function textsOf(node) {
  /** @type {TemplateText[]} */
  const found = [];
  visit(node, (text) => {
    found.push(text);
    return text.text;
  });
  return found;
}

/**
 * The node with its templates replaced by what `change` makes of them; the same node where nothing changes.
 * @param {PipelineNode} node
 * @param {(text: TemplateText) => string} change
 * @returns {PipelineNode}
 */
export function mapTexts(node, change) {
  return visit(node, change);
}

/**
 * @param {PipelineNode} node
 * @param {(text: TemplateText) => string} change
 * @returns {PipelineNode}
 */
function visit(node, change) {
  const rules = Object.hasOwn(RULES, node.type) ? RULES[node.type] : undefined;
  const named = Object.hasOwn(NODE_FIELDS, node.type) ? NODE_FIELDS[node.type] : [];
  const config = walk(node.config, [], (path, text, holder) => {
    const field = path.join('.');
    if (named.includes(field)) return change({field, path, text, language: 'node', secrets: false, prompt: false});
    const rule = rules ? rules.find((each) => fits(each.path, path)) : OF_OTHERS;
    if (!rule) return text;
    const mode = node.type === 'SetVars' ? holder.mode : undefined;
    const isTavern = holder.language === 'sillytavern' && mode !== 'json' && !rule.secrets;
    const language = mode === 'expr' || isTavern ? 'formula' : mode === 'json' ? 'json' : rule.language;
    return change({field, path, text, language, secrets: rule.secrets === true, prompt: rule.prompt === true});
  });
  return config === node.config ? node : {...node, config: /** @type {JsonObject} */ (config)};
}

/**
 * Visit every string below `value` and put the result in its place; values in which nothing changed stay the same objects.
 * @param {unknown} value
 * @param {(string | number)[]} path
 * @param {(path: (string | number)[], text: string, holder: {[key: string]: unknown}) => string} change
 * @param {{[key: string]: unknown}} [holder] the object that the string stands in
 * @returns {unknown}
 */
function walk(value, path, change, holder = {}) {
  if (typeof value === 'string') return change(path, value, holder);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => walk(item, [...path, index], change, holder));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, item]) => [key, walk(item, [...path, key], change, value)]);
  return members.every(([key, item]) => item === value[/** @type {string} */ (key)]) ? value : Object.fromEntries(members);
}

/**
 * @param {string[]} pattern
 * @param {(string | number)[]} path
 * @returns {boolean}
 */
function fits(pattern, path) {
  return pattern.length === path.length && pattern.every((step, index) => step === '*' || step === path[index]);
}
