// What is wrong with a document, as far as it can be told without the server: the same codes, for the time while it does not
// answer. Bodies that are no JSON, formulas, and what node types of packages demand are left to the server.

import {edgesOf, isEnabled, isObject, lineAndColumn, nodesOf, portOf} from './doc.js';
import {findCycle, lastNodes, upstreamOf} from './graph.js';
import {referencesIn, tokenise} from './macros.js';
import {textsOf} from './texts.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').PipelineNode} PipelineNode */
/** @typedef {import('./doc.js').NodeType} NodeType */
/** @typedef {import('./doc.js').Problem} Problem */

const MAX_NAME = 200;
const MAX_NODES = 500;
const ID = /^[A-Za-z0-9_-]{1,64}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const RESERVED = new Set(['incoming', 'OUT', 'PROMPT', 'VAR', 'SECRET', 'pm', 'vars']);

/**
 * All problems, errors and warnings. While no node types are known, unknown ones are not reported.
 * @param {Pipeline} document
 * @param {{[type: string]: NodeType | undefined}} nodeTypes by type
 * @returns {Problem[]}
 */
export function localProblems(document, nodeTypes) {
  // The server reads no further in a document whose shape is wrong.
  const wrong = shapeProblems(document);
  if (wrong.length > 0) return wrong;
  return [
    ...idProblems(document),
    ...edgeProblems(document, nodeTypes),
    ...nodesOf(document).flatMap((node) => nodeProblems(node, nodeTypes)),
    ...readProblems(document, nodeTypes),
    ...answerProblems(document),
  ];
}

/**
 * @param {string} code
 * @param {string} message
 * @param {Partial<Problem>} [where]
 * @returns {Problem}
 */
function problem(code, message, where = {}) {
  return {code, message, severity: 'error', node: null, field: null, line: null, column: null, ...where};
}

/**
 * @param {Pipeline} document
 * @returns {Problem[]}
 */
function shapeProblems(document) {
  /** @type {Problem[]} */
  const found = [];
  /**
   * @param {string} message
   * @param {string} field
   * @param {string | null} [node]
   */
  const wrong = (message, field, node = null) => found.push(problem('spec.invalid', message, {node, field}));
  if (document.format !== 1) wrong('The format must be 1.', 'format');
  if (typeof document.name !== 'string' || document.name === '' || [...document.name].length > MAX_NAME)
    wrong(`A name must have 1 to ${MAX_NAME} characters.`, 'name');
  const nodes = nodesOf(document);
  if (nodes.length === 0) wrong('A pipeline needs at least one node.', 'nodes');
  if (nodes.length > MAX_NODES) wrong(`A pipeline has at most ${MAX_NODES} nodes.`, 'nodes');
  nodes.forEach((node, index) => {
    const name = typeof node.id === 'string' ? node.id : `#${index + 1}`;
    if (typeof node.id !== 'string' || !ID.test(node.id)) wrong('An id has 1 to 64 letters, digits, _ and -.', 'id', name);
    if (typeof node.type !== 'string' || node.type === '') wrong('A node needs a type.', 'type', name);
    if (node.config !== undefined && !isObject(node.config)) wrong('A configuration is an object.', 'config', name);
    if (node.on_error !== undefined && !['fail', 'continue'].includes(node.on_error))
      wrong("on_error is 'fail' or 'continue'.", 'on_error', name);
  });
  return found;
}

/**
 * @param {Pipeline} document
 * @returns {Problem[]}
 */
function idProblems(document) {
  const seen = new Set();
  return nodesOf(document).flatMap(({id}) => {
    const isTwice = seen.has(id);
    seen.add(id);
    return isTwice ? [problem('node.duplicate_id', `Two nodes have the id '${id}'; rename one.`, {node: id, field: 'id'})] : [];
  });
}

/**
 * @param {Pipeline} document
 * @param {{[type: string]: NodeType | undefined}} nodeTypes
 * @returns {Problem[]}
 */
function edgeProblems(document, nodeTypes) {
  const types = new Map(nodesOf(document).map((node) => [node.id, node.type]));
  /** @type {Problem[]} */
  const found = [];
  for (const edge of edgesOf(document)) {
    const missing = [edge.from, edge.to].find((id) => !types.has(id));
    if (missing !== undefined) {
      found.push(
        problem('edge.unknown_node', `The edge ${edge.from} -> ${edge.to} leads to no node: there is no '${missing}'.`),
      );
      continue;
    }
    const kind = nodeTypes[types.get(edge.from) ?? ''];
    if (kind && !kind.ports.includes(portOf(edge))) {
      const text = `${kind.type} has no port '${portOf(edge)}'; it has ${kind.ports.join(', ')}.`;
      found.push(problem('edge.unknown_port', text, {node: edge.from}));
    }
  }
  const cycle = findCycle(document);
  if (cycle)
    found.push(
      problem('graph.cycle', `The nodes wait for each other: ${[...cycle, cycle[0]].join(' -> ')}. Remove one edge.`, {
        node: cycle[0],
      }),
    );
  return found;
}

/**
 * What is wrong within a node.
 * @param {PipelineNode} node
 * @param {{[type: string]: NodeType | undefined}} nodeTypes
 * @returns {Problem[]}
 */
function nodeProblems(node, nodeTypes) {
  const kind = nodeTypes[node.type];
  const known = Object.keys(nodeTypes).sort();
  if (!kind && known.length > 0) {
    return [
      problem('node.unknown_type', `There is no node type '${node.type}'; known are ${known.join(', ')}.`, {node: node.id}),
    ];
  }
  return [...fieldProblems(node, kind), ...textProblems(node), ...(node.type === 'SetVars' ? variableProblems(node) : [])];
}

/**
 * Fields that the type does not have, or that it demands and the node has not.
 * @param {PipelineNode} node
 * @param {NodeType | undefined} kind
 * @returns {Problem[]}
 */
function fieldProblems(node, kind) {
  const schema = kind?.schema;
  if (!kind || !schema?.properties) return [];
  const {properties, required = []} = schema;
  const config = node.config ?? {};
  const missing = required
    .filter((name) => config[name] === undefined)
    .map((name) => problem('spec.invalid', 'Field required', {node: node.id, field: name}));
  const unknown = Object.keys(config)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => {
      const text = `${kind.type} has no field '${name}'; it is kept, and ignored.`;
      return problem('config.unknown_field', text, {severity: 'warning', node: node.id, field: name});
    });
  return [...missing, ...unknown];
}

/**
 * Macros that cannot be read, and macros that may not stand where they stand.
 * @param {PipelineNode} node
 * @returns {Problem[]}
 */
function textProblems(node) {
  return textsOf(node).flatMap((text) =>
    tokenise(text.text, text)
      .flatMap((token) => token.problems ?? [])
      .map(({code, message, at}) =>
        problem(code, message, {node: node.id, field: text.field, ...lineAndColumn(text.text, at)}),
      ),
  );
}

/**
 * Names that cannot be variables.
 * @param {PipelineNode} node
 * @returns {Problem[]}
 */
function variableProblems(node) {
  const rows = Array.isArray(node.config?.variables) ? node.config.variables : [];
  return rows.flatMap((row, index) => {
    if (!isObject(row) || typeof row.name !== 'string') return [];
    const where = {node: node.id, field: `variables.${index}.name`};
    if ((row.tier ?? 'run') !== 'run') {
      return row.name.trim() === '' ? [problem('setvars.name', 'A stored variable needs a name.', where)] : [];
    }
    if (!VARIABLE.test(row.name)) {
      return [
        problem(
          'setvars.name',
          `'${row.name}' cannot be a variable's name: use letters, digits and _, and no digit first.`,
          where,
        ),
      ];
    }
    const isTaken = RESERVED.has(row.name) || /^OUT[0-9]+$/.test(row.name);
    return isTaken
      ? [problem('setvars.reserved', `'${row.name}' has a meaning of its own in templates; choose another name.`, where)]
      : [];
  });
}

/**
 * Templates that read the OUT of nodes that do not run before: one problem for each pair of nodes, at the first place.
 * @param {Pipeline} document
 * @param {{[type: string]: NodeType | undefined}} nodeTypes
 * @returns {Problem[]}
 */
function readProblems(document, nodeTypes) {
  const nodes = nodesOf(document);
  const enabled = new Map(nodes.map((node) => [node.id, isEnabled(node)]));
  const ids = new Set(enabled.keys());
  const upstream = upstreamOf(document);
  const hasTypes = Object.keys(nodeTypes).length > 0;
  /** @type {Problem[]} */
  const found = [];
  for (const node of nodes) {
    if (hasTypes && !nodeTypes[node.type]) continue;
    const reads = readsOf(node, ids);
    if (reads.size === 0) continue;
    const before = upstream(node.id);
    // A node that lies in a cycle comes before itself on paper, and never in a run.
    before.delete(node.id);
    for (const [other, place] of [...reads].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const what = `Node '${node.id}' reads OUT.${other}, but `;
      const where = {node: node.id, ...place};
      if (!enabled.has(other)) found.push(problem('read.unknown_node', `${what}there is no node '${other}'.`, where));
      else if (!before.has(other)) {
        found.push(
          problem('read.not_before', `${what}'${other}' does not run before it. Connect them, or read another node.`, where),
        );
      } else if (!enabled.get(other)) {
        found.push(
          problem('read.disabled', `${what}'${other}' is disabled: it will find nothing.`, {...where, severity: 'warning'}),
        );
      }
    }
  }
  return found;
}

/**
 * The nodes that a node reads, and where it does so first. A text with a broken macro reads nothing.
 * @param {PipelineNode} node
 * @param {Set<string>} ids
 * @returns {Map<string, {field: string, line: number, column: number}>}
 */
function readsOf(node, ids) {
  const reads = new Map();
  for (const {text, field, language} of textsOf(node)) {
    const tokens = text.includes('OUT') ? tokenise(text, {language}) : [];
    if (tokens.some((token) => token.kind === 'error')) continue;
    for (const token of tokens) {
      if (!token.paths) continue;
      for (const other of referencesIn(text.slice(token.from, token.to), 'any', ids)) {
        if (!reads.has(other)) reads.set(other, {field, ...lineAndColumn(text, token.from)});
      }
    }
  }
  return reads;
}

/**
 * @param {Pipeline} document
 * @returns {Problem[]}
 */
function answerProblems(document) {
  const {answer} = document;
  if (answer != null) {
    const named = nodesOf(document).find((node) => node.id === answer);
    if (!named) return [problem('answer.unknown', `answer names '${answer}', but there is no such node.`, {field: 'answer'})];
    const text = 'This node answers, but it is disabled. Enable it, or let another node answer.';
    return isEnabled(named) ? [] : [problem('answer.disabled', text, {node: named.id})];
  }
  const last = lastNodes(document).sort();
  if (last.length === 1) return [];
  if (last.length > 1)
    return [problem('answer.ambiguous', `Which node answers? Nothing follows ${last.join(', ')}: name one in answer.`)];
  const text = 'The node that nothing follows is disabled: name an enabled one in answer.';
  return findCycle(document) ? [] : [problem('answer.none', text)];
}
