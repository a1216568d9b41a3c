// A run as a pure reduction of its events: whoever replays them sees what somebody saw who was there.
//
// An event that came already changes nothing, one that was missed is counted, one that is not known is passed over. A
// piece of text
// costs the same however much text there is.

/** @typedef {import('./doc.js').RunView} RunView */
/** @typedef {import('./doc.js').RunSummary} RunSummary */
/** @typedef {import('./doc.js').RunEvent} RunEvent */
/** @typedef {import('./doc.js').NodeRun} NodeRun */
/** @typedef {import('./doc.js').NodeState} NodeState */
/** @typedef {import('./doc.js').Pieces} Pieces */
/** @typedef {import('./doc.js').Attempt} Attempt */
/** @typedef {import('./doc.js').ToolRun} ToolRun */
/** @typedef {import('./doc.js').Failure} Failure */
/** @typedef {import('./doc.js').WaterfallRow} WaterfallRow */
/** @typedef {import('./doc.js').Span} Span */
/** @typedef {import('./doc.js').Json} Json */
/** @typedef {import('./doc.js').Linked} Linked */

import {isObject, isSame} from './doc.js';
import {placeOf, scopeOf, splitId, walksOf} from './walks.js';

/**
 * A run of which nothing has been heard yet.
 * @param {RunSummary} summary
 * @returns {RunView}
 */
export function emptyRun(summary) {
  return {
    id: summary.id,
    summary,
    state: 'running',
    nodes: {},
    order: [],
    latest: {},
    answeredBy: null,
    warnings: [],
    error: null,
    lastSeq: -1,
    missed: 0,
    at: 0,
    duration: null,
  };
}

/**
 * The run with one more event.
 * @param {RunView} run
 * @param {RunEvent} event
 * @returns {RunView} the same one where the event says nothing new
 */
export function reduce(run, event) {
  return reduceAll(run, [event]);
}

/**
 * The run with more events, in their order: the same as `reduce` for each, at the price of one new list of nodes.
 * @param {RunView} run
 * @param {Iterable<RunEvent>} events
 * @returns {RunView}
 */
export function reduceAll(run, events) {
  /** @type {RunView | null} */
  let next = null;
  for (const event of events) {
    const last = (next ?? run).lastSeq;
    if (!Number.isInteger(event?.seq) || event.seq <= last) continue;
    next ??= {...run, nodes: {...run.nodes}, order: [...run.order], latest: {...run.latest}};
    next.missed += event.seq - last - 1;
    next.lastSeq = event.seq;
    next.at = Math.max(next.at, Number.isFinite(event.at_ms) ? event.at_ms : 0);
    take(next, event);
  }
  return next ?? run;
}

/**
 * Take an event into a run that nobody else holds.
 * @param {RunView} run
 * @param {RunEvent} event
 */
function take(run, event) {
  switch (event.type) {
    case 'run.warning':
    case 'node.log':
      run.warnings = [...run.warnings, warningOf(event)];
      return;
    case 'run.finished':
      return end(run, event);
  }
  const change = event.node === undefined || !Object.hasOwn(CHANGES, event.type) ? undefined : CHANGES[event.type];
  if (!change || event.node === undefined) return;
  const known = Object.hasOwn(run.nodes, event.node) ? run.nodes[event.node] : undefined;
  if (!known) begin(run, event.node);
  setOwn(run.nodes, event.node, change(known ?? silentNode(event.node), event));
}

/**
 * A node is heard of for the first time.
 * @param {RunView} run
 * @param {string} full
 */
function begin(run, full) {
  run.order.push(full);
  const {path, id} = splitId(full);
  const scope = scopeOf(path);
  if (path === scope) return;
  const before = Object.hasOwn(run.latest, scope + id) ? run.latest[scope + id].count : 0;
  run.latest[scope + id] = {id: full, count: before + 1};
}

/**
 * A node of which nothing has been heard: it is told of because it works.
 * @param {string} id
 * @returns {NodeRun}
 */
function silentNode(id) {
  return {
    id,
    state: 'running',
    started: null,
    ended: null,
    request: null,
    requested: null,
    attempts: [],
    tools: [],
    firstChunk: null,
    lastChunk: null,
    chunks: 0,
    text: null,
    links: [],
    out: undefined,
    error: null,
    continued: false,
    port: null,
    reason: null,
    by: null,
  };
}

/**
 * What an event makes of its node.
 * @type {{[type: string]: ((node: NodeRun, event: RunEvent) => NodeRun) | undefined}}
 */
const CHANGES = {
  'node.started': (node, {at_ms}) => ({...node, state: 'running', started: at_ms}),
  'node.request': (node, {at_ms, data}) => ({...node, request: data ?? null, requested: at_ms}),
  'node.attempt': (node, {data}) => ({...node, attempts: withAttempt(node.attempts, data)}),
  'node.chunk': withChunk,
  'node.tool': (node, {at_ms, data}) => ({...node, tools: withTool(node.tools, at_ms, data)}),
  // A node that may fail tells of the failure, and then of the OUT that tells the nodes behind it.
  'node.finished': (node, {at_ms, data, pinned, port = null}) => {
    if (pinned) return {...node, state: 'pinned', started: at_ms, ended: at_ms, out: data, port};
    return node.state === 'failed' ? {...node, continued: true, out: data, port} : {...node, state: 'finished', ended: at_ms, out: data, port};
  },
  'node.failed': (node, {at_ms, data}) => ({...node, state: 'failed', ended: at_ms, error: failureOf(data)}),
  'node.skipped': (node, {at_ms, data}) => {
    const reason = isObject(data) && typeof data.reason === 'string' ? data.reason : null;
    const by = isObject(data) && typeof data.node === 'string' ? {node: data.node, port: typeof data.port === 'string' ? data.port : null} : null;
    return {...node, state: reason === 'pinned' ? 'pinned' : 'skipped', started: at_ms, ended: at_ms, reason, by};
  },
};

/**
 * @param {NodeRun} node
 * @param {RunEvent} event
 * @returns {NodeRun}
 */
function withChunk(node, {at_ms, data}) {
  const link = isLinked(data) ? data.link : null;
  const piece = link === null && isObject(data) && typeof data.text === 'string' ? data.text : '';
  return {
    ...node,
    firstChunk: node.firstChunk ?? at_ms,
    lastChunk: at_ms,
    chunks: node.chunks + 1,
    text: piece === '' ? node.text : {piece, before: node.text, length: (node.text?.length ?? 0) + piece.length},
    links: link === null ? node.links : [...node.links, link],
  };
}

/**
 * The tools that ran with what is told of one: that it starts, and how it ended.
 * @param {ToolRun[]} tools
 * @param {number} at
 * @param {Json | undefined} data
 * @returns {ToolRun[]}
 */
function withTool(tools, at, data) {
  if (!isObject(data)) return tools;
  const told = /** @type {ToolRun} */ (/** @type {unknown} */ (data));
  const known = tools.find((each) => each.id === told.id);
  const call = {...told, start: known?.start ?? at, end: told.status === 'running' ? null : at};
  return known ? tools.map((each) => (each === known ? call : each)) : [...tools, call];
}

/**
 * The attempts with what is told of one; the same attempt may be told of again when more is known.
 * @param {Attempt[]} attempts
 * @param {Json | undefined} data
 * @returns {Attempt[]}
 */
function withAttempt(attempts, data) {
  if (!isObject(data)) return attempts;
  const attempt = /** @type {Attempt} */ ({
    number: attempts.length + 1,
    host: null,
    started_ms: null,
    connected_ms: null,
    first_byte_ms: null,
    status: null,
    error: null,
    wait_s: null,
    ...data,
  });
  return [...attempts.filter((each) => each.number !== attempt.number), attempt];
}

/**
 * @param {RunEvent} event
 * @returns {RunView['warnings'][number]}
 */
function warningOf({node, data, at_ms}) {
  const said = isObject(data) ? data : {};
  const dropped = Array.isArray(said.dropped) ? said.dropped.filter((each) => typeof each === 'string') : [];
  const level = said.level === 'info' ? 'info' : 'warning';
  return {node: node ?? null, message: typeof said.message === 'string' ? said.message : '', level, dropped, at: at_ms};
}

/**
 * The run is over: nodes that were still working will not go on.
 * @param {RunView} run
 * @param {RunEvent} event
 */
function end(run, {at_ms, data}) {
  const said = isObject(data) ? data : {};
  run.state = said.state === 'failed' || said.state === 'cancelled' ? said.state : 'finished';
  run.error = said.error === undefined ? null : failureOf(/** @type {Json} */ (said.error));
  run.duration = at_ms;
  run.answeredBy = typeof said.answered_by === 'string' ? said.answered_by : null;
  for (const id of run.order) {
    const node = run.nodes[id];
    if (node.state === 'running') setOwn(run.nodes, id, {...node, state: 'stopped', ended: at_ms});
  }
}

/**
 * @param {Json | undefined} data
 * @returns {Failure | null}
 */
function failureOf(data) {
  if (!isObject(data)) return null;
  return {...data, code: String(data.code ?? 'unknown'), message: String(data.message ?? data.summary ?? '')};
}

/**
 * Set a member whatever it is called.
 * @param {{[id: string]: NodeRun}} nodes
 * @param {string} id
 * @param {NodeRun} node
 */
function setOwn(nodes, id, node) {
  if (id !== '__proto__') nodes[id] = node;
  else Object.defineProperty(nodes, id, {value: node, writable: true, enumerable: true, configurable: true});
}

/**
 * Whether data is only the beginning, with a link to the whole.
 * @param {unknown} data
 * @returns {data is Linked}
 */
export function isLinked(data) {
  return (
    isObject(data) && typeof data.link === 'string' && typeof data.bytes === 'number' && data.link.startsWith('/api/runs/')
  );
}

/** @type {WeakMap<Pieces, string>} */
const joined = new WeakMap();

/**
 * What a node has said so far. Asking again costs what came since.
 * @param {NodeRun | undefined} node
 * @returns {string}
 */
export function textOf(node) {
  const pieces = node?.text ?? null;
  if (pieces === null) return '';
  /** @type {string[]} */
  const fresh = [];
  let known = '';
  for (let at = /** @type {Pieces | null} */ (pieces); at !== null; at = at.before) {
    const earlier = joined.get(at);
    if (earlier !== undefined) {
      known = earlier;
      break;
    }
    fresh.push(at.piece);
  }
  const text = known + fresh.reverse().join('');
  joined.set(pieces, text);
  return text;
}

/**
 * OUT of the nodes that finished or were continued, without those in loops and called pipelines; data that is only linked is left
 * out.
 * @param {RunView} run
 * @returns {{[id: string]: Json}}
 */
export function outsOf(run) {
  /** @type {[string, Json][]} */
  const outs = [];
  for (const id of run.order) {
    const {out} = run.nodes[id];
    if (out !== undefined && !isLinked(out) && !id.includes('/')) outs.push([id, /** @type {Json} */ (out)]);
  }
  return Object.fromEntries(outs);
}

/**
 * The run as bars, in the order in which the nodes began. Nodes that were skipped have none. What ran within a loop or a call follows
 * it where that is open, of a loop one iteration.
 * @param {RunView} run
 * @param {{[place: string]: string}} [labels] titles by `placeOf`; the node's own id where there is none
 * @param {{open: ReadonlySet<string>, chosen: {[holder: string]: number | undefined}}} [inner] by the full ids of loops and calls
 * @returns {WaterfallRow[]}
 */
export function waterfall(run, labels = {}, {open, chosen} = {open: new Set(), chosen: {}}) {
  const walks = walksOf(run);
  /** @param {string[]} ids @param {number} depth @returns {WaterfallRow[]} */
  const rows = (ids, depth) =>
    ids
      .map((id) => run.nodes[id])
      .filter((node) => node.state !== 'skipped' && node.state !== 'pinned')
      .map((node) => {
        const {path, id} = splitId(node.id);
        const place = placeOf(scopeOf(path), id);
        const walk = walks.get(node.id);
        const shown = walk && open.has(node.id) ? (chosen[node.id] ?? walk.iterations.at(-1) ?? null) : null;
        return {
          ...rowOf(node, run, Object.hasOwn(labels, place) ? labels[place] : id),
          depth,
          walk: walk ? {holder: node.id, iterations: walk.iterations, shown} : null,
        };
      })
      .sort((a, b) => a.start - b.start)
      .flatMap((row) => [row, ...(row.walk && open.has(row.node) ? rows(walks.get(row.node)?.nodes.get(row.walk.shown) ?? [], depth + 1) : [])]);
  return rows(run.order.filter((id) => !id.includes('/')), 0);
}

/**
 * @param {NodeRun} node
 * @param {RunView} run
 * @param {string} label
 * @returns {Omit<WaterfallRow, 'depth' | 'walk'>}
 */
function rowOf(node, run, label) {
  const attempts = [...node.attempts].sort((a, b) => a.number - b.number);
  const last = attempts.at(-1);
  const start = node.started ?? node.requested ?? attempts[0]?.started_ms ?? node.firstChunk ?? node.ended ?? run.at;
  const end = Math.max(start, node.ended ?? run.duration ?? run.at);
  const called = last?.started_ms ?? node.requested;
  const heard = last?.first_byte_ms ?? node.firstChunk;
  const connected = last?.connected_ms ?? null;
  return {
    node: node.id,
    label,
    state: node.state,
    start,
    end,
    queue: span(start, called),
    connect: span(called, connected),
    firstToken: called === null ? null : span(connected ?? called, heard ?? end),
    stream: span(heard, end),
    tools: node.tools.map((each) => ({id: each.id, from: each.start, to: each.end ?? end})),
    attempts: attempts.map((each, index) => ({
      number: each.number,
      start: each.started_ms ?? start,
      end: endOfAttempt(each, attempts[index + 1], end),
      status: each.status,
      error: each.error,
    })),
  };
}

/**
 * When an attempt was over: the last lasts as long as the node; one before it until the pause before the next began.
 * @param {Attempt} attempt
 * @param {Attempt | undefined} next
 * @param {number} end
 * @returns {number}
 */
function endOfAttempt(attempt, next, end) {
  if (!next || next.started_ms === null) return end;
  return Math.max(attempt.started_ms ?? 0, next.started_ms - (attempt.wait_s ?? 0) * 1000);
}

/**
 * @param {number | null | undefined} from
 * @param {number | null | undefined} to
 * @returns {Span | null}
 */
function span(from, to) {
  return from == null || to == null || to < from ? null : {from, to};
}

/**
 * One node in two runs. `change`: `only-a` and `only-b` where one run has heard of it, else whether state, words, OUT or
 * request differ.
 * Durations are milliseconds, null where they are not known.
 * @typedef {object} NodeComparison
 * @property {string} node
 * @property {'same' | 'different' | 'only-a' | 'only-b'} change
 * @property {NodeState | null} stateA
 * @property {NodeState | null} stateB
 * @property {number | null} durationA
 * @property {number | null} durationB
 * @property {('state' | 'text' | 'out' | 'request' | 'error')[]} differs
 */

/**
 * What differs between two runs, node by node, and how long each took.
 * @param {RunView} a
 * @param {RunView} b
 * @returns {{nodes: NodeComparison[], durationA: number | null, durationB: number | null, stateA: RunView['state'],
 * stateB: RunView['state']}}
 */
export function compareRuns(a, b) {
  const ids = new Set([...a.order, ...b.order]);
  return {
    nodes: [...ids].map((id) => compareNodes(id, ownNode(a, id), ownNode(b, id))),
    durationA: a.duration,
    durationB: b.duration,
    stateA: a.state,
    stateB: b.state,
  };
}

/**
 * @param {RunView} run
 * @param {string} id
 * @returns {NodeRun | null}
 */
function ownNode(run, id) {
  return Object.hasOwn(run.nodes, id) ? run.nodes[id] : null;
}

/**
 * @param {string} node
 * @param {NodeRun | null} a
 * @param {NodeRun | null} b
 * @returns {NodeComparison}
 */
function compareNodes(node, a, b) {
  const differs = a && b ? differences(a, b) : [];
  return {
    node,
    change: !a ? 'only-b' : !b ? 'only-a' : differs.length === 0 ? 'same' : 'different',
    stateA: a?.state ?? null,
    stateB: b?.state ?? null,
    durationA: a && durationOf(a),
    durationB: b && durationOf(b),
    differs,
  };
}

/**
 * @param {NodeRun} a
 * @param {NodeRun} b
 * @returns {NodeComparison['differs']}
 */
function differences(a, b) {
  /** @type {NodeComparison['differs']} */
  const found = [];
  if (a.state !== b.state) found.push('state');
  if (textOf(a) !== textOf(b)) found.push('text');
  if (!isSame(withoutLink(a.out), withoutLink(b.out))) found.push('out');
  if (!isSame(withoutLink(a.request), withoutLink(b.request))) found.push('request');
  if (a.error?.code !== b.error?.code) found.push('error');
  return found;
}

/**
 * Data to compare: a link names the run, and would differ always.
 * @param {unknown} data
 * @returns {unknown}
 */
function withoutLink(data) {
  return isLinked(data) ? {summary: data.summary, bytes: data.bytes} : data;
}

/**
 * @param {NodeRun} node
 * @returns {number | null}
 */
function durationOf(node) {
  return node.started === null || node.ended === null ? null : node.ended - node.started;
}
