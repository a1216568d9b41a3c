// The pipeline document: its types, and how it is read and written.
//
// A document is an immutable value. Whoever changes one makes a new one (commands.js) that shares what did not change, so two
// documents are the same where `===` says so. Fields that the editor does not know are kept wherever they stand.

import {brokenAt} from './jsontext.js';

/**
 * Anything that JSON can say.
 * @typedef {null | boolean | number | string | JsonArray | JsonObject} Json
 * @typedef {Json[]} JsonArray
 * @typedef {{[key: string]: Json | undefined}} JsonObject
 */

/**
 * A place on the canvas, in its own units (pixels at zoom 1).
 * @typedef {{x: number, y: number}} Position
 * @typedef {{width: number, height: number}} Size
 * @typedef {Position & Size} Rectangle
 */

/**
 * @typedef {object} NodeFields
 * @property {string} id up to 64 letters, digits, `_` and `-`
 * @property {string} type a type of GET /api/node-types, or one that is not installed
 * @property {string} [title] for people
 * @property {JsonObject} config
 * @property {boolean} [enabled] false: passed over; absent means true
 * @property {'fail' | 'continue'} [on_error] absent means fail
 * @property {Position} position
 * @property {string} [parent] the id of the node in whose body it stands
 * @typedef {NodeFields & {[unknown: string]: unknown}} PipelineNode
 */

/**
 * `to` runs after `from` left through the port `from_port` (absent means "done").
 * @typedef {{from: string, to: string, from_port?: string, [unknown: string]: unknown}} PipelineEdge
 */

/**
 * A coloured rectangle behind the nodes, with a title.
 * @typedef {{id: string, title: string, x: number, y: number, width: number, height: number, color?: string, [unknown: string]: unknown}} Frame
 */

/**
 * A text on the canvas that only people read.
 * @typedef {{id: string, text: string, x: number, y: number, width: number, height: number, color?: string, [unknown: string]: unknown}} Note
 */

/**
 * What only the editor draws.
 * @typedef {{frames?: Frame[], notes?: Note[], [unknown: string]: unknown}} CanvasView
 */

/**
 * @typedef {object} PipelineFields
 * @property {1} format
 * @property {string} name
 * @property {string} [description]
 * @property {PipelineNode[]} nodes
 * @property {PipelineEdge[]} edges
 * @property {string | null} [answer] id of the node that answers; absent: the only enabled one that nothing follows
 * @property {CanvasView} [view]
 * @typedef {PipelineFields & {[unknown: string]: unknown}} Pipeline
 */

/**
 * A piece of JSON Schema as the server's forms use it, with `ui` hints ("macro", "json", "secret", "code", "role").
 * @typedef {object} Schema
 * @property {string | string[]} [type]
 * @property {string} [title]
 * @property {string} [description]
 * @property {Json} [default]
 * @property {Json[]} [enum]
 * @property {string[]} [enumDescriptions] a label for each of `enum`
 * @property {{[name: string]: Json[]}} [when] the values of fields beside it with which it means anything
 * @property {boolean} [is_more] whether few need it
 * @property {Json} [const]
 * @property {string} [$ref]
 * @property {{[name: string]: Schema}} [$defs]
 * @property {Schema[]} [anyOf]
 * @property {Schema[]} [oneOf]
 * @property {Schema[]} [allOf]
 * @property {{[name: string]: Schema}} [properties]
 * @property {string[]} [required]
 * @property {Schema | boolean} [additionalProperties]
 * @property {Schema} [items]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [exclusiveMinimum]
 * @property {number} [exclusiveMaximum]
 * @property {number} [multipleOf]
 * @property {number} [minLength]
 * @property {number} [maxLength]
 * @property {number} [minItems]
 * @property {number} [maxItems]
 * @property {string} [pattern]
 * @property {string} [format]
 * @property {string} [ui]
 */

/**
 * A node type as GET /api/node-types describes it.
 * @typedef {object} NodeType
 * @property {string} type
 * @property {string} title
 * @property {string} category
 * @property {string} icon
 * @property {string} help
 * @property {string[]} ports the fixed ones
 * @property {string | null} [ports_from] which path of the configuration names more of them, before the fixed ones: `cases.*.name`
 * @property {boolean} [error_port] whether a wire may leave it by `error`, when it fails
 * @property {boolean} [ends_run] whether it answers wherever it stands, and ends the run
 * @property {boolean} [holds_body] whether nodes may stand in it
 * @property {boolean} calls_upstream a run of such a node may cost money
 * @property {string} summary a template over the configuration, e.g. `{provider} · {model}`
 * @property {Schema} schema
 * @property {JsonObject} defaults
 */

/**
 * Something wrong or doubtful. Line and column count from 1, within the field's text, in characters.
 * @typedef {object} Problem
 * @property {string} code
 * @property {string} message
 * @property {'error' | 'warning'} severity
 * @property {string | null} node
 * @property {string | null} field a dotted path in the node's config
 * @property {number | null} line
 * @property {number | null} column
 * @property {Record<string, any>} facts what the message names, by what each is
 */

/**
 * A pipeline or preset in a list (GET /api/pipelines, GET /api/presets). Times are milliseconds since 1970.
 * @typedef {object} Summary
 * @property {string} id
 * @property {string} name
 * @property {boolean} valid
 * @property {boolean} [active]
 * @property {number} problem_count
 * @property {string} etag
 * @property {number} modified
 * @property {string | null} [notice]
 */

/**
 * A run in one line (GET /api/runs). `started` is milliseconds since 1970; `duration_ms` is null while it runs.
 * @typedef {object} RunSummary
 * @property {string} id
 * @property {string} pipeline
 * @property {string} [pipeline_name]
 * @property {string} [version]
 * @property {'running' | 'finished' | 'failed' | 'cancelled'} [state]
 * @property {number} [started]
 * @property {number | null} [duration_ms]
 * @property {string} [method]
 * @property {string} [path]
 * @property {string | null} [vendor]
 * @property {string} [operation]
 * @property {string | null} [model]
 * @property {boolean} [stream]
 * @property {number} [event_count]
 * @property {Failure | null} [error]
 */

/**
 * An error as runs tell of it.
 * @typedef {{code: string, message: string, status?: number, [unknown: string]: unknown}} Failure
 */

/**
 * What happened in a run, as the server sends it. `at_ms` counts from the beginning of the run.
 * @typedef {object} RunEvent
 * @property {string} [run]
 * @property {number} seq
 * @property {string} type
 * @property {number} at_ms
 * @property {string} [node]
 * @property {boolean} [pinned] of `node.finished`: the node did not run, its OUT was given
 * @property {string} [port] of `node.finished`: by which it left, where another one would have led elsewhere
 * @property {Json} [data]
 */

/**
 * Data above 8 KiB: its beginning, and where the whole is.
 * @typedef {{summary: string, bytes: number, link: string}} Linked
 */

/**
 * One try of a call. Times are milliseconds from the beginning of the run; null where it did not come so far.
 * @typedef {object} Attempt
 * @property {number} number
 * @property {string | null} host
 * @property {number | null} started_ms
 * @property {number | null} connected_ms
 * @property {number | null} first_byte_ms
 * @property {number | null} status
 * @property {string | null} error
 * @property {number | null} wait_s how long was waited before the next try, seconds
 */

/**
 * Text in pieces, the last one first: adding one costs the same however many there are. Read it with runlog.js `textOf`.
 * @typedef {{piece: string, before: Pieces | null, length: number}} Pieces
 */

/**
 * @typedef {'running' | 'finished' | 'failed' | 'skipped' | 'pinned' | 'stopped'} NodeState
 * `stopped`: the run ended while the node was working.
 */

/**
 * One call of a tool that ran here.
 * @typedef {object} ToolRun
 * @property {string} id
 * @property {string} tool
 * @property {'running' | 'success' | 'error' | 'denied' | 'timeout' | 'blocked'} status
 * @property {Json | undefined} arguments
 * @property {Json | undefined} result
 * @property {string | null} error
 * @property {number} start
 * @property {number | null} end null while it runs
 */

/**
 * What is known of one node of a run. Times are milliseconds from the beginning of the run.
 * @typedef {object} NodeRun
 * @property {string} id
 * @property {NodeState} state
 * @property {number | null} started
 * @property {number | null} ended
 * @property {Json | Linked | null} request what was sent (node.request)
 * @property {number | null} requested when
 * @property {Attempt[]} attempts
 * @property {ToolRun[]} tools the tools that ran here for it
 * @property {number | null} firstChunk
 * @property {number | null} lastChunk
 * @property {number} chunks how many pieces of text came
 * @property {Pieces | null} text what came, read with `textOf`
 * @property {string[]} links where the whole of pieces is that were too large to come
 * @property {Json | Linked | undefined} out OUT, once the node has finished
 * @property {Failure | null} error
 * @property {boolean} continued whether the run went on after the error
 * @property {string | null} port by which the node left; null where all that follows it followed
 * @property {string | null} reason why it was skipped
 * @property {{node: string, port: string | null} | null} by whose port did not lead there, or who ended the run
 */

/**
 * A run as the editor shows it: a pure reduction of its events (runlog.js).
 * @typedef {object} RunView
 * @property {string} id
 * @property {RunSummary} summary
 * @property {'running' | 'finished' | 'failed' | 'cancelled'} state
 * @property {{[id: string]: NodeRun}} nodes those that something was heard of
 * @property {string[]} order their ids, as they were first heard of; of nodes in loops and in called pipelines with a path (walks.js)
 * @property {{[id: string]: {id: string, count: number}}} latest of nodes in loops: the id of their last iteration, and how many there were
 * @property {string | null} answeredBy the node that answered
 * @property {{node: string | null, message: string, level: 'info' | 'warning', dropped: string[], at: number}[]} warnings
 * @property {Failure | null} error
 * @property {number} lastSeq the last event that was taken in; -1 before the first
 * @property {number} missed how many events did not come
 * @property {number} at when the last event happened
 * @property {number | null} duration null while it runs
 */

/**
 * One bar of the waterfall. All times are milliseconds from the beginning of the run. A span that is not known is null.
 * @typedef {object} WaterfallRow
 * @property {string} node
 * @property {string} label
 * @property {number} depth in how many loops and calls it stands
 * @property {{holder: string, iterations: number[], shown: number | null} | null} walk what ran within it; `shown`: the iteration whose rows follow
 * @property {NodeState} state
 * @property {number} start
 * @property {number} end where it still works, the time of the last event
 * @property {Span | null} queue until the call begins: waiting, and preparing the request
 * @property {Span | null} connect until the connection stands
 * @property {Span | null} firstToken until the first byte
 * @property {Span | null} stream from there to the end
 * @property {{number: number, start: number, end: number, status: number | null, error: string | null}[]} attempts
 * @property {(Span & {id: string})[]} tools when tools ran here
 * @typedef {{from: number, to: number}} Span
 */

/**
 * A piece of a template's text (macros.js). Offsets count UTF-16 units from 0, as strings and CodeMirror do.
 * @typedef {object} Token
 * @property {'text' | 'var' | 'out' | 'short-out' | 'prompt' | 'name' | 'secret' | 'curly' | 'error'} kind
 * @property {number} from
 * @property {number} to
 * @property {string[]} [path] the keys of a var or out, of a curly the keys of its first path
 * @property {string} [node] the node that an out, a short-out or a curly's first path reads (`n1` for OUT1)
 * @property {string} [name] the first name of the path; of a secret its name
 * @property {MacroPath[]} [paths] every path in the macro
 */

/**
 * One path in a macro. `from`..`to` is its first name.
 * @typedef {object} MacroPath
 * @property {string} name
 * @property {string[]} path every key, the name first
 * @property {number} from
 * @property {number} to
 * @property {NodeReference} [reference] where it reads the OUT of a node
 */

/**
 * Where a template names a node; `from`..`to` is what to replace when the node gets another id, `style` how it is written.
 * @typedef {object} NodeReference
 * @property {string} node
 * @property {number} from
 * @property {number} to
 * @property {'short' | 'square' | 'key' | 'bare' | 'quoted' | 'number'} style
 */

/**
 * A name that templates of a node can read (names.js).
 * @typedef {object} VisibleName
 * @property {string} name as it stands in `{{ }}`
 * @property {string} insert the whole macro
 * @property {'context' | 'out' | 'short-out' | 'variable' | 'stored' | 'own'} kind
 * @property {string | null} origin the node that gives it, or the tier
 * @property {Json} [value] the last known one
 * @property {string} detail for people: where it comes from
 */

/** The ids that nodes may have. */
export const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A pipeline without nodes.
 * @param {string} name
 * @returns {Pipeline}
 */
export function emptyDocument(name) {
  return {format: 1, name, nodes: [], edges: []};
}

/**
 * Read a document's text. Unknown fields are kept; missing lists, configurations and positions are filled in, and a node,
 * edge, frame or note that is no object is left out, so that the rest of the editor can rely on them. Everything else that
 * is wrong is a problem, not an error: work in progress can be opened.
 *
 * Line and column of an error count from 1.
 * @param {string} text
 * @returns {{document: Pipeline} | {error: {message: string, line: number, column: number}}}
 */
export function parseDocument(text) {
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(text);
  } catch (failure) {
    const message = failure instanceof Error ? failure.message : String(failure);
    return {error: {message, ...lineAndColumn(text, brokenAt(text) ?? text.length)}};
  }
  if (!isObject(value)) return {error: {message: 'This is JSON, but no object.', line: 1, column: 1}};
  return {document: completeDocument(value)};
}

/**
 * The document with everything that the editor relies on; the same object where nothing is missing.
 * @param {{[key: string]: unknown}} value
 * @returns {Pipeline}
 */
export function completeDocument(value) {
  const nodes = listOf(value.nodes).filter(isObject);
  const edges = listOf(value.edges).filter(isObject);
  const isWhole =
    Array.isArray(value.nodes) &&
    Array.isArray(value.edges) &&
    isViewWhole(value.view) &&
    nodes.length === value.nodes.length &&
    edges.length === value.edges.length &&
    nodes.every(isNodeWhole);
  if (isWhole) return /** @type {Pipeline} */ (value);
  /** @type {{[key: string]: unknown}} */
  const document = {...value, nodes: nodes.map(completeNode), edges};
  if (isObject(value.view)) document.view = completeView(value.view);
  else delete document.view;
  return /** @type {Pipeline} */ (/** @type {unknown} */ (document));
}

/**
 * What of a document `completeDocument` would leave out, as a dotted path; null where nothing would be lost. Such a document is
 * mended as text.
 * @param {{[key: string]: unknown}} value
 * @returns {string | null}
 */
export function lostOf(value) {
  for (const name of ['nodes', 'edges']) {
    const list = value[name];
    if (list === undefined) continue;
    if (!Array.isArray(list)) return name;
    const odd = list.findIndex((one) => !isObject(one) || !(one.config === undefined || isObject(one.config)));
    if (odd !== -1) return isObject(list[odd]) ? `${name}.${odd}.config` : `${name}.${odd}`;
  }
  return isViewWhole(value.view) ? null : 'view';
}

/**
 * @param {unknown} value
 * @returns {boolean}
 */
function isViewWhole(value) {
  if (value === undefined) return true;
  return (
    isObject(value) &&
    [value.frames, value.notes].every((list) => list === undefined || (Array.isArray(list) && list.every(isObject)))
  );
}

/**
 * @param {{[key: string]: unknown}} view
 * @returns {{[key: string]: unknown}}
 */
function completeView(view) {
  const complete = {...view};
  for (const name of ['frames', 'notes']) {
    if (view[name] !== undefined) complete[name] = listOf(view[name]).filter(isObject);
  }
  return complete;
}

/**
 * @param {{[key: string]: unknown}} node
 * @returns {boolean}
 */
function isNodeWhole(node) {
  return isObject(node.config) && isPosition(node.position);
}

/**
 * @param {{[key: string]: unknown}} node
 * @param {number} index
 * @returns {{[key: string]: unknown}}
 */
function completeNode(node, index) {
  if (isNodeWhole(node)) return node;
  return {
    ...node,
    config: isObject(node.config) ? node.config : {},
    position: isPosition(node.position) ? node.position : placeOf(index),
  };
}

/**
 * Where a node stands that has no place of its own: rows of five.
 * @param {number} index
 * @returns {Position}
 */
function placeOf(index) {
  return {x: (index % 5) * 320, y: Math.floor(index / 5) * 200};
}

/**
 * The document's text: indented by two spaces, with a line end behind it.
 * @param {Pipeline} document
 * @returns {string}
 */
export function serialise(document) {
  return JSON.stringify(document, null, 2) + '\n';
}

/**
 * @param {Pipeline} document
 * @param {string} id
 * @returns {PipelineNode | undefined}
 */
export function nodeById(document, id) {
  return nodesOf(document).find((node) => node.id === id);
}

/**
 * The first free id of the form n1, n2 ... above all that are there, so that an id is not given twice in an edit.
 * @param {Pipeline} document
 * @param {Iterable<string>} [taken] more ids that are not free
 * @returns {string}
 */
export function newNodeId(document, taken = []) {
  let highest = 0;
  for (const id of [...nodesOf(document).map((node) => node.id), ...taken]) {
    const match = /^n([0-9]{1,9})$/.exec(String(id));
    if (match) highest = Math.max(highest, Number(match[1]));
  }
  return `n${highest + 1}`;
}

/**
 * The document's nodes; none where the list is missing.
 * @param {Pipeline} document
 * @returns {PipelineNode[]}
 */
export function nodesOf(document) {
  return objectsOf(document?.nodes);
}

/**
 * The document's edges; none where the list is missing.
 * @param {Pipeline} document
 * @returns {PipelineEdge[]}
 */
export function edgesOf(document) {
  return objectsOf(document?.edges);
}

/**
 * @param {Pipeline} document
 * @returns {Frame[]}
 */
export function framesOf(document) {
  return objectsOf(document?.view?.frames);
}

/**
 * @param {Pipeline} document
 * @returns {Note[]}
 */
export function notesOf(document) {
  return objectsOf(document?.view?.notes);
}

/**
 * Whether a node runs; only `enabled: false` says no.
 * @param {PipelineNode} node
 * @returns {boolean}
 */
export function isEnabled(node) {
  return node.enabled !== false;
}

/**
 * The port that an edge leaves by.
 * @param {PipelineEdge} edge
 * @returns {string}
 */
export function portOf(edge) {
  return edge.from_port ?? 'done';
}

/**
 * @param {unknown} value
 * @returns {value is {[key: string]: unknown}}
 */
export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * @param {unknown} value
 * @returns {value is Position}
 */
export function isPosition(value) {
  return isObject(value) && Number.isFinite(value.x) && Number.isFinite(value.y);
}

/**
 * Whether two JSON values say the same; the order of members does not matter.
 * @param {unknown} a
 * @param {unknown} b
 * @returns {boolean}
 */
export function isSame(a, b) {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}

/**
 * What stands at a path within a JSON value; undefined where nothing does. A negative step counts from the end of a list.
 * @param {any} value
 * @param {readonly (string | number)[]} path
 * @returns {any}
 */
export function valueAt(value, path) {
  let at = value;
  for (const step of path) {
    if (at === null || typeof at !== 'object') return undefined;
    const key = Array.isArray(at) && Number(step) < 0 ? at.length + Number(step) : step;
    at = Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

/**
 * @template T
 * @param {T[] | unknown} value
 * @returns {T[]}
 */
function listOf(value) {
  return Array.isArray(value) ? value : [];
}

/**
 * The items that are objects; the same list where all are.
 * @template {object} T
 * @param {T[] | undefined} value
 * @returns {T[]}
 */
function objectsOf(value) {
  /** @type {T[]} */
  const list = Array.isArray(value) ? value : [];
  return list.every((each) => isObject(each)) ? list : list.filter((each) => isObject(each));
}

/**
 * Line and column, from 1, of an offset; columns in characters, as the server counts.
 * @param {string} text
 * @param {number} offset
 * @returns {{line: number, column: number}}
 */
function lineAndColumn(text, offset) {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  return {line: before.split('\n').length, column: Array.from(before.slice(start)).length + 1};
}
