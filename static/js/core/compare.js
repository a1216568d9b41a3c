// What differs between two documents, and how two people's changes of one document come together.

import {edgesOf, isObject, isSame, nodesOf, portOf} from './doc.js';
import {findCycle} from './graph.js';

/** @typedef {import('./doc.js').Pipeline} Pipeline */
/** @typedef {import('./doc.js').PipelineNode} PipelineNode */
/** @typedef {import('./doc.js').PipelineEdge} PipelineEdge */

/**
 * A field that differs; undefined on the side that does not have it. Lists are compared item by item where both have as many.
 * @typedef {{path: string, before: unknown, after: unknown}} FieldChange
 */

/**
 * @typedef {object} Comparison
 * @property {PipelineNode[]} added
 * @property {PipelineNode[]} removed
 * @property {{id: string, fields: FieldChange[]}[]} changed
 * @property {{added: PipelineEdge[], removed: PipelineEdge[]}} edges
 * @property {FieldChange[]} document what differs beside nodes and edges: name, answer, frames, notes ...
 */

/**
 * From `a` to `b`.
 * @param {Pipeline} a
 * @param {Pipeline} b
 * @returns {Comparison}
 */
export function compareDocuments(a, b) {
  const before = byId(a);
  const after = byId(b);
  const edgesBefore = edgesByKey(a);
  const edgesAfter = edgesByKey(b);
  return {
    added: [...after.values()].filter((node) => !before.has(node.id)),
    removed: [...before.values()].filter((node) => !after.has(node.id)),
    changed: [...before].flatMap(([id, node]) => {
      const other = after.get(id);
      const fields = other === undefined ? [] : differences(node, other);
      return fields.length === 0 ? [] : [{id, fields}];
    }),
    edges: {
      added: [...edgesAfter].filter(([key]) => !edgesBefore.has(key)).map(([, edge]) => edge),
      removed: [...edgesBefore].filter(([key]) => !edgesAfter.has(key)).map(([, edge]) => edge),
    },
    document: differences(withoutParts(a), withoutParts(b)),
  };
}

/**
 * @param {Pipeline} document
 * @returns {Map<string, PipelineNode>}
 */
function byId(document) {
  return new Map(nodesOf(document).map((node) => [node.id, node]));
}

/**
 * @param {Pipeline} document
 * @returns {Map<string, PipelineEdge>}
 */
function edgesByKey(document) {
  return new Map(edgesOf(document).map((edge) => [JSON.stringify([edge.from, edge.to, portOf(edge)]), edge]));
}

/**
 * @param {Pipeline} document
 * @returns {{[field: string]: unknown}}
 */
function withoutParts(document) {
  const {nodes: _, edges: __, ...rest} = document;
  return rest;
}

/**
 * @param {unknown} before
 * @param {unknown} after
 * @param {string} [path]
 * @returns {FieldChange[]}
 */
function differences(before, after, path = '') {
  if (isSame(before, after)) return [];
  const keys = partsInCommon(before, after);
  if (keys === null) return [{path, before, after}];
  return keys.flatMap((key) => differences(member(before, key), member(after, key), path === '' ? key : `${path}.${key}`));
}

/**
 * The names of the parts that two values can be compared by; null where they are compared as a whole.
 * @param {unknown} a
 * @param {unknown} b
 * @returns {string[] | null}
 */
function partsInCommon(a, b) {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length ? a.map((_, index) => String(index)) : null;
  return isObject(a) && isObject(b) ? [...new Set([...Object.keys(a), ...Object.keys(b)])] : null;
}

/**
 * @param {unknown} value
 * @param {string} key
 * @returns {unknown}
 */
function member(value, key) {
  return Object.hasOwn(/** @type {object} */ (value), key) ? /** @type {{[key: string]: unknown}} */ (value)[key] : undefined;
}

/**
 * A place where both sides changed the same thing differently. `kind`: `field`, `removed` (one side removed a node that
 * the other
 * changed), `added` (both added a node of one id) or `cycle` (the edges of both together close a cycle; `path` is the edge
 * that was left out). `node` is null for the document's own fields. The merged document has mine.
 * @typedef {object} Conflict
 * @property {'field' | 'removed' | 'added' | 'cycle'} kind
 * @property {string | null} node
 * @property {string} path
 * @property {unknown} base
 * @property {unknown} mine
 * @property {unknown} theirs
 */

/**
 * Bring two changes of one document together, node by node and field by field. What only one side changed is taken; where
 * both changed the same field, mine stays and the conflict is listed. The nodes keep the order of mine.
 * @param {Pipeline} base what both began with
 * @param {Pipeline} mine
 * @param {Pipeline} theirs
 * @returns {{document: Pipeline, conflicts: Conflict[]}}
 */
export function mergeDocuments(base, mine, theirs) {
  /** @type {Conflict[]} */
  const conflicts = [];
  const nodes = mergeNodes(base, mine, theirs, conflicts);
  const rest = mergeValue(
    withoutParts(base),
    withoutParts(mine),
    withoutParts(theirs),
    (path, values) => conflicts.push({kind: 'field', node: null, path, ...values}),
    '',
  );
  const ids = new Set(nodes.map((node) => node.id));
  const document = /** @type {Pipeline} */ (/** @type {unknown} */ ({.../** @type {object} */ (rest), nodes, edges: []}));
  if (document.answer != null && !ids.has(document.answer)) delete document.answer;
  return {document: inOrderOf(mine, {...document, edges: mergeEdges(base, mine, theirs, ids, document, conflicts)}), conflicts};
}

/**
 * The document with its members in the order of another's.
 * @param {Pipeline} model
 * @param {Pipeline} document
 * @returns {Pipeline}
 */
function inOrderOf(model, document) {
  const keys = new Set([...Object.keys(model), ...Object.keys(document)]);
  return /** @type {Pipeline} */ (
    Object.fromEntries([...keys].filter((key) => Object.hasOwn(document, key)).map((key) => [key, document[key]]))
  );
}

/**
 * @param {Pipeline} base
 * @param {Pipeline} mine
 * @param {Pipeline} theirs
 * @param {Conflict[]} conflicts
 * @returns {PipelineNode[]}
 */
function mergeNodes(base, mine, theirs, conflicts) {
  const [before, own, other] = [byId(base), byId(mine), byId(theirs)];
  /** @type {PipelineNode[]} */
  const merged = [];
  for (const id of new Set([...own.keys(), ...other.keys()])) {
    const [was, here, there] = [before.get(id), own.get(id), other.get(id)];
    const values = {base: was, mine: here, theirs: there};
    if (here && there) merged.push(mergeNode(id, was, here, there, conflicts));
    else if (was === undefined) merged.push(/** @type {PipelineNode} */ (here ?? there));
    else if (!isSame(was, here ?? there)) {
      // One side removed what the other changed: mine counts.
      conflicts.push({kind: 'removed', node: id, path: '', ...values});
      if (here) merged.push(here);
    }
  }
  return merged;
}

/**
 * @param {string} id
 * @param {PipelineNode | undefined} was
 * @param {PipelineNode} here
 * @param {PipelineNode} there
 * @param {Conflict[]} conflicts
 * @returns {PipelineNode}
 */
function mergeNode(id, was, here, there, conflicts) {
  if (was === undefined) {
    if (!isSame(here, there)) conflicts.push({kind: 'added', node: id, path: '', base: undefined, mine: here, theirs: there});
    return here;
  }
  return /** @type {PipelineNode} */ (
    mergeValue(was, here, there, (path, values) => conflicts.push({kind: 'field', node: id, path, ...values}), '')
  );
}

/**
 * @param {unknown} base
 * @param {unknown} mine
 * @param {unknown} theirs
 * @param {(path: string, values: {base: unknown, mine: unknown, theirs: unknown}) => void} collide
 * @param {string} path
 * @returns {unknown}
 */
function mergeValue(base, mine, theirs, collide, path) {
  if (isSame(mine, theirs) || isSame(base, theirs)) return mine;
  if (isSame(base, mine)) return theirs;
  // A place moves as a whole: an x of one side and a y of the other is nobody's place.
  const keys = path === 'position' ? null : partsInCommon(mine, theirs);
  if (keys === null || partsInCommon(base, mine) === null) {
    collide(path, {base, mine, theirs});
    return mine;
  }
  const parts = keys.map((key) => [
    key,
    mergeValue(member(base, key), member(mine, key), member(theirs, key), collide, path === '' ? key : `${path}.${key}`),
  ]);
  return Array.isArray(mine)
    ? parts.map(([, value]) => value)
    : Object.fromEntries(parts.filter(([, value]) => value !== undefined));
}

/**
 * @param {Pipeline} base
 * @param {Pipeline} mine
 * @param {Pipeline} theirs
 * @param {Set<string>} ids the nodes that are left
 * @param {Pipeline} document the merged one without edges
 * @param {Conflict[]} conflicts
 * @returns {PipelineEdge[]}
 */
function mergeEdges(base, mine, theirs, ids, document, conflicts) {
  const [before, own, other] = [edgesByKey(base), edgesByKey(mine), edgesByKey(theirs)];
  /** @param {PipelineEdge} edge */
  const isPossible = (edge) => ids.has(edge.from) && ids.has(edge.to);
  const edges = [...own]
    .filter(([key, edge]) => (other.has(key) || !before.has(key)) && isPossible(edge))
    .map(([, edge]) => edge);
  for (const [key, edge] of other) {
    if (own.has(key) || before.has(key) || !isPossible(edge)) continue;
    if (findCycle({...document, edges: [...edges, edge]}) !== null && findCycle({...document, edges}) === null) {
      conflicts.push({
        kind: 'cycle',
        node: edge.to,
        path: `${edge.from} -> ${edge.to}`,
        base: undefined,
        mine: undefined,
        theirs: edge,
      });
    } else edges.push(edge);
  }
  return edges;
}
