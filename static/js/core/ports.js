// By which ports a node may be left: those that its type says, those that its configuration names, and the one for failures.

import {edgesOf, isObject, nodeById, portOf} from './doc.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').PipelineNode} PipelineNode */
/** @typedef {import('./doc.js').NodeType} NodeType */

/** The port that a node is left by when it fails. */
export const ERROR_PORT = 'error';

/**
 * The ports that wires may leave a node by, without the one for failures: first those that its configuration names, then the
 * fixed ones. Of a type that is not known: `done`.
 * @param {NodeType | undefined} type
 * @param {PipelineNode | undefined} node
 * @returns {string[]}
 */
export function ownPorts(type, node) {
  const fixed = Array.isArray(type?.ports) ? type.ports : ['done'];
  const all = [...new Set([...namesAt(type, node?.config).filter(Boolean), ...fixed])];
  return all.length ? all : ['done'];
}

/**
 * The names that stand where `ports_from` leads to, as they stand there: also empty ones, and some twice.
 * @param {NodeType | undefined} type
 * @param {unknown} config
 * @returns {string[]}
 */
function namesAt(type, config) {
  const path = type?.ports_from;
  if (typeof path !== 'string' || path === '') return [];
  // Where the configuration is silent, the defaults of the type count.
  /** @type {unknown[]} */
  let found = [{...(type?.defaults ?? {}), ...(isObject(config) ? config : {})}];
  for (const step of path.split('.')) {
    found = found.flatMap((value) => {
      if (step === '*') return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
      return isObject(value) && Object.hasOwn(value, step) ? [value[step]] : [];
    });
  }
  return found.map((name) => (typeof name === 'string' ? name : ''));
}

/**
 * Whether a wire may leave a node by this port.
 * @param {NodeType | undefined} type
 * @param {PipelineNode | undefined} node
 * @param {string} port
 * @returns {boolean} true also where the type is not known
 */
export function hasPort(type, node, port) {
  if (!type) return true;
  return ownPorts(type, node).includes(port) || (port === ERROR_PORT && type.error_port === true);
}

/**
 * The wires that leave a node by ports that it does not have.
 * @param {Pipeline} document
 * @param {PipelineNode} node
 * @param {NodeType | undefined} type
 * @returns {import('./doc.js').PipelineEdge[]}
 */
export function strayEdges(document, node, type) {
  return edgesOf(document).filter((edge) => edge.from === node.id && !hasPort(type, node, portOf(edge)));
}

/**
 * Which of the ports that the configuration names got another name; null where none did, or several, or some came or went.
 * @param {NodeType | undefined} type
 * @param {unknown} before the configuration
 * @param {unknown} after
 * @returns {{from: string, to: string, mayFollow: boolean} | null} `mayFollow`: the new name is one, and nobody else's
 */
export function renamedPort(type, before, after) {
  const old = namesAt(type, before);
  const now = namesAt(type, after);
  const changed = now.flatMap((name, index) => (name === old[index] ? [] : [index]));
  if (old.length !== now.length || changed.length !== 1) return null;
  const [from, to] = [old[changed[0]], now[changed[0]]];
  const fixed = type?.ports ?? [];
  return {from, to, mayFollow: to !== '' && now.filter((name) => name === to).length === 1 && !fixed.includes(to)};
}

/**
 * Let the wires that leave a node by one port leave it by another.
 * @param {Pipeline} document
 * @param {string} id
 * @param {string} from
 * @param {string} to
 * @returns {Pipeline} the same one where no wire does
 */
export function movePort(document, id, from, to) {
  const isMoved = (/** @type {import('./doc.js').PipelineEdge} */ edge) => edge.from === id && portOf(edge) === from;
  if (from === to || !nodeById(document, id) || !edgesOf(document).some(isMoved)) return document;
  /** @type {Set<string>} */
  const taken = new Set(edgesOf(document).flatMap((edge) => (edge.from === id && portOf(edge) === to ? [edge.to] : [])));
  return {
    ...document,
    edges: edgesOf(document).flatMap((edge) => (!isMoved(edge) ? [edge] : taken.has(edge.to) ? [] : [{...edge, from_port: to}])),
  };
}
