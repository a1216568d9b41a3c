// The names that templates of a node can read, and where each comes from.

import {isEnabled, isObject, nodeById, nodesOf, valueAt} from './doc.js';
import {order, upstream} from './graph.js';
import {parents} from './holders.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').PipelineNode} PipelineNode */
/** @typedef {import('./doc.js').VisibleName} VisibleName */
/** @typedef {import('./doc.js').Json} Json */

/**
 * What is known beside the document. `contextNames` is GET /api/context-names; `lastOut` the last OUT by node, `lastVars`
 * the last value of variables; `stored` the stored variables of the chosen chat.
 * @typedef {object} Known
 * @property {{names: string[], paths: string[]}} contextNames
 * @property {{[node: string]: Json | undefined}} [lastOut]
 * @property {{[name: string]: Json | undefined}} [lastVars]
 * @property {{name: string, tier: string, value: Json}[]} [stored]
 */

/** What OUT holds after a call, and what `pm` holds, by dialect (docs/templates.md). */
const CALL_MEMBERS = ['response_text', 'result', 'usage', 'finish_reason', 'tool_calls'];
/** @type {{[provider: string]: string[]}} */
const PROMPT_MEMBERS = {
  openai: ['messages', 'system_text'],
  openai_responses: ['input', 'instructions', 'system_text', 'messages'],
  claude: ['messages', 'system', 'system_text'],
  gemini: ['contents', 'systemInstruction', 'system_text'],
};
/** The tiers of stored variables, the one that wins first. */
const STORED = ['page', 'floor', 'branch', 'chat', 'global'];
const LOOP_MEMBERS = ['loop.item', 'loop.index', 'loop.count', 'loop.last', 'loop.outer'];
const SIMPLE_KEY = /^[\p{L}\p{N}_$@]+(?:-+[\p{L}\p{N}_$@]+)*$/u;

/**
 * What templates of the node can read: its own names, variables that are set before it, results of nodes before it, stored
 * variables, the context. A name appears once, with what it means there; what it hides can be read by its longer form.
 * @param {Pipeline} document
 * @param {string} nodeId
 * @param {Known} known
 * @returns {VisibleName[]}
 */
export function visibleNames(document, nodeId, {contextNames, lastOut = {}, lastVars = {}, stored = []}) {
  const before = upstream(document, nodeId);
  before.delete(nodeId);
  const nodes = order(document)
    .filter((id) => before.has(id))
    .flatMap((id) => nodeById(document, id) ?? [])
    .filter(isEnabled);
  const all = [
    ...ownNames(nodeById(document, nodeId)),
    ...variables(nodes, lastVars),
    ...results(nodes, new Set(nodesOf(document).map((node) => node.id)), lastOut),
    ...storedNames(nodes, stored),
    ...ofLoops(document, nodeId),
    ...contextual(contextNames),
  ];
  /** @type {Map<string, VisibleName>} */
  const byName = new Map();
  for (const name of all) if (!byName.has(name.name)) byName.set(name.name, name);
  return [...byName.values()];
}

/**
 * @param {string} name
 * @param {VisibleName['kind']} kind
 * @param {string | null} origin
 * @param {string} detail
 * @param {Json | undefined} [value]
 * @returns {VisibleName}
 */
function named(name, kind, origin, detail, value) {
  return {name, insert: `{{ ${name} }}`, kind, origin, detail, ...(value === undefined ? {} : {value})};
}

/**
 * A path as `{{ }}` writes it.
 * @param {string[]} keys
 * @returns {string}
 */
export function writePath(keys) {
  return keys
    .map((key, index) => {
      if (index === 0) return key;
      return SIMPLE_KEY.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
    })
    .join('');
}

/**
 * What only this node knows: the Prompt Blocks of a call, for its body template.
 * @param {PipelineNode | undefined} node
 * @returns {VisibleName[]}
 */
function ownNames(node) {
  if (node?.type !== 'ProviderCall') return [];
  const members = PROMPT_MEMBERS[String(node.config?.provider)] ?? ['messages', 'system_text'];
  return [
    {...named('PROMPT', 'own', node.id, 'template'), insert: '[[PROMPT]]'},
    named('pm', 'own', node.id, 'template'),
    ...members.map((member) => named(`pm.${member}`, 'own', node.id, 'template')),
  ];
}

/**
 * The rows of a SetVars.
 * @param {PipelineNode} node
 * @returns {{name: string, tier: string}[]}
 */
function rowsOf(node) {
  const rows = node.type === 'SetVars' && Array.isArray(node.config?.variables) ? node.config.variables : [];
  return rows.flatMap((row) => {
    if (!isObject(row) || typeof row.name !== 'string' || row.name === '') return [];
    return [{name: row.name, tier: typeof row.tier === 'string' ? row.tier : 'run'}];
  });
}

/**
 * The run's variables; of several nodes that set one the last counts.
 * @param {PipelineNode[]} nodes
 * @param {{[name: string]: Json | undefined}} lastVars
 * @returns {VisibleName[]}
 */
function variables(nodes, lastVars) {
  return [...nodes].reverse().flatMap((node) =>
    rowsOf(node)
      .filter((row) => row.tier === 'run')
      .map(({name}) => named(name, 'variable', node.id, titleOf(node), own(lastVars, name))),
  );
}

/**
 * OUT of the nodes before, and what is known of its members.
 * @param {PipelineNode[]} nodes
 * @param {Set<string>} ids all of the document
 * @param {{[node: string]: Json | undefined}} lastOut
 * @returns {VisibleName[]}
 */
function results(nodes, ids, lastOut) {
  return nodes.flatMap((node) => {
    const out = own(lastOut, node.id);
    const paths = [...membersOf(node), ...pathsIn(out)];
    const names = paths.map((path) =>
      named(writePath(['OUT', node.id, ...path]), 'out', node.id, titleOf(node), valueAt(out, path)),
    );
    return [...shortForm(node, ids, out), named(writePath(['OUT', node.id]), 'out', node.id, titleOf(node), out), ...names];
  });
}

/**
 * `OUT1` for node n1, and for node 1 where there is no n1.
 * @param {PipelineNode} node
 * @param {Set<string>} ids
 * @param {Json | undefined} out
 * @returns {VisibleName[]}
 */
function shortForm(node, ids, out) {
  const number = /^n?([0-9]{1,9})$/.exec(node.id)?.[1];
  if (number === undefined || (node.id === number && ids.has(`n${number}`))) return [];
  const text = isObject(out) && typeof out.response_text === 'string' ? out.response_text : undefined;
  return [{...named(`OUT${number}`, 'short-out', node.id, titleOf(node), text), insert: `[[OUT${number}]]`}];
}

/**
 * What OUT of such a node always has.
 * @param {PipelineNode} node
 * @returns {string[][]}
 */
function membersOf(node) {
  if (node.type === 'ProviderCall') return CALL_MEMBERS.map((name) => [name]);
  if (node.type === 'RawForward') return [['result']];
  return rowsOf(node).map(({name, tier}) => (tier === 'run' ? ['vars', name] : ['stored', tier, name]));
}

/**
 * The members of a result, two steps deep.
 * @param {Json | undefined} value
 * @param {string[]} [path]
 * @returns {string[][]}
 */
function pathsIn(value, path = []) {
  if (!isObject(value) || path.length === 2) return [];
  return Object.keys(value)
    .slice(0, 100)
    .flatMap((key) => [[...path, key], ...pathsIn(/** @type {Json} */ (value[key]), [...path, key])]);
}

/**
 * Stored variables by their own name, from the tier that wins, and by their tier; also those that nodes before will store.
 * @param {PipelineNode[]} nodes
 * @param {{name: string, tier: string, value: Json}[]} stored
 * @returns {VisibleName[]}
 */
function storedNames(nodes, stored) {
  const written = nodes.flatMap((node) =>
    rowsOf(node)
      .filter((row) => row.tier !== 'run')
      .map((row) => ({...row, origin: titleOf(node)})),
  );
  const all = [...stored, ...written]
    .filter(({tier}) => STORED.includes(tier))
    .sort((a, b) => STORED.indexOf(a.tier) - STORED.indexOf(b.tier));
  /** @param {{name: string, tier: string}} each */
  const valueOf = (each) => stored.find((one) => one.name === each.name && one.tier === each.tier)?.value;
  const plain = all.filter(({name}) => /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}\p{N}_$@-]+)*$/u.test(name));
  return [
    ...plain.map((each) => named(each.name, 'stored', each.tier, each.tier, valueOf(each))),
    ...all.map((each) => named(writePath(['vars', each.tier, each.name]), 'stored', each.tier, each.tier, valueOf(each))),
  ];
}

/**
 * What the nodes in a body read of the iteration.
 * @param {Pipeline} document
 * @param {string} nodeId
 * @returns {VisibleName[]}
 */
function ofLoops(document, nodeId) {
  const holder = parents(document).get(nodeId);
  return holder === undefined ? [] : LOOP_MEMBERS.map((path) => named(path, 'context', holder, holder));
}

/**
 * What every template of every node can read.
 * @param {{names: string[], paths: string[]}} contextNames
 * @returns {VisibleName[]}
 */
function contextual({names, paths}) {
  return [...names, ...paths, 'vars'].map((name) => named(name, 'context', null, ''));
}

/**
 * @param {PipelineNode} node
 * @returns {string}
 */
function titleOf(node) {
  return node.title || node.type;
}

/**
 * @param {{[name: string]: Json | undefined}} values
 * @param {string} name
 * @returns {Json | undefined}
 */
function own(values, name) {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
