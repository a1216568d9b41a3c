/** What the rows of a SetVars would be now, computed by the server for the tab's sample request. */
import {useEffect, useState} from '../h.js';
import {api, ApiFailure} from '../api/client.js';
import {upstream} from '../core/graph.js';
import {parents} from '../core/holders.js';
import {isObject, nodeById} from '../core/doc.js';
import {outsOf} from '../core/runlog.js';
import {mayEdit} from '../state/rights.js';
import {store, useStore} from '../state/store.js';
import {requestOf} from '../state/session.js';
import {activeTab, docOf} from '../state/tabs.js';
import {problemText} from '../words.js';

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */

/**
 * @typedef {object} LiveResults
 * @property {Record<number, {value: any}>} values by row
 * @property {Record<number, string>} failures by row
 * @property {string | null} failure why there are none at all
 * @property {string[]} missing nodes before this one whose results are not known
 * @property {boolean} isWorking
 */

const DELAY_MS = 350;
const ROW = /^variables\.(\d+)(?:\.|$)/;
/** How many rows that fail are left out, one after the other, before the rest is given up. */
const MOST_TRIES = 12;

/** @type {LiveResults} */
const NOTHING = {values: {}, failures: {}, failure: null, missing: [], isWorking: false};

/**
 * @param {string} nodeId
 * @param {number} again changes when the values are wanted anew
 * @returns {LiveResults}
 */
export function useLiveResults(nodeId, again) {
  const doc = useStore((state) => activeTab(state)?.history.present ?? null);
  const problems = useStore((state) => activeTab(state)?.problems);
  const sample = useStore((state) => activeTab(state)?.sample);
  const pins = useStore((state) => activeTab(state)?.pins);
  const names = useStore((state) => state.session.names);
  const online = useStore((state) => state.server.online);
  const [results, setResults] = useState(NOTHING);
  useEffect(() => {
    if (!doc || !online) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      setResults((now) => ({...now, isWorking: true}));
      compute(nodeId, stop.signal).then((found) => {
        if (!stop.signal.aborted) setResults(found);
      });
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [doc, problems, sample, pins, names, online, nodeId, again]);
  return results;
}

/**
 * @param {string} nodeId
 * @param {AbortSignal} signal
 * @returns {Promise<LiveResults>}
 */
async function compute(nodeId, signal) {
  const tab = activeTab();
  const node = tab && nodeById(docOf(tab), nodeId);
  const rows = node?.config?.variables;
  if (!tab || !node || !Array.isArray(rows) || rows.length === 0 || !mayEdit()) return NOTHING;
  const failures = knownFailures(tab.problems, nodeId);
  const broken = new Set([...Object.keys(failures).map(Number), ...namelessRows(rows)]);
  const run = tab.lastRun ? store.get().runs.byId[tab.lastRun] : undefined;
  const recorded = run ? outsOf(run) : {};
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const kept = rows.map((_, index) => index).filter((index) => !broken.has(index));
    const document = partUpTo(docOf(tab), nodeId, kept.map((index) => rows[index]));
    const body = {node: nodeId, document, ...requestOf(tab.sample), out: {...recorded, ...tab.pins}};
    try {
      const {body: answer} = await api.send('POST', '/api/preview', body, {signal});
      return {values: valuesOf(answer.preview, rows, kept), failures, failure: null, missing: answer.missing ?? [], isWorking: false};
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiFailure)) return {...NOTHING, failure: error instanceof Error ? error.message : String(error)};
      const culprits = culpritsOf(error, nodeId);
      if (culprits.length === 0) return {...NOTHING, failures, failure: error.message};
      for (const [place, message] of culprits) {
        const row = kept[place];
        if (row === undefined) return {...NOTHING, failures, failure: error.message};
        failures[row] = message;
        broken.add(row);
      }
    }
  }
  return {...NOTHING, failures};
}

/**
 * What the check of the document already found wrong in a row. Of its name nothing is said here: the field says it.
 * @param {import('../core/doc.js').Problem[]} problems
 * @param {string} nodeId
 */
function knownFailures(problems, nodeId) {
  /** @type {Record<number, string>} */
  const failures = {};
  for (const one of problems) {
    const row = ROW.exec(one.field ?? '')?.[1];
    if (one.node === nodeId && one.severity === 'error' && row !== undefined) failures[Number(row)] ??= one.field?.endsWith('.name') ? '' : one.message;
  }
  return failures;
}

/** @param {any[]} rows */
function namelessRows(rows) {
  return rows.map((row, index) => (isObject(row) && typeof row.name === 'string' && row.name !== '' ? -1 : index)).filter((index) => index >= 0);
}

/**
 * The document without what this node does not need: a mistake elsewhere must not hide its values.
 * @param {Pipeline} doc
 * @param {string} nodeId
 * @param {any[]} rows
 */
function partUpTo(doc, nodeId, rows) {
  const kept = upstream(doc, nodeId).add(nodeId);
  const holders = parents(doc);
  let answer = nodeId;
  // What stands in a body answers nothing: the outermost that holds it does.
  for (let at = holders.get(nodeId); at !== undefined; at = holders.get(at)) {
    kept.add(at);
    answer = at;
  }
  return {
    format: 1,
    name: doc.name || 'preview',
    nodes: doc.nodes
      .filter((node) => kept.has(node.id))
      .map((node) => (node.id === nodeId ? {...node, enabled: true, config: {...node.config, variables: rows}} : node)),
    edges: doc.edges.filter((edge) => kept.has(edge.from) && kept.has(edge.to)),
    answer,
  };
}

/**
 * The rows that a refusal names, as their places in the request, with what is wrong.
 * @param {ApiFailure} failure
 * @param {string} nodeId
 * @returns {[number, string][]}
 */
function culpritsOf(failure, nodeId) {
  const details = failure.details ?? {};
  const problems = Array.isArray(details.problems) ? details.problems.filter((/** @type {any} */ one) => one.severity === 'error') : [{node: details.node, field: details.field, message: failure.message}];
  if (problems.some((/** @type {any} */ one) => one.node !== nodeId || !ROW.test(one.field ?? ''))) return [];
  return problems.map((/** @type {any} */ one) => [Number(ROW.exec(one.field)?.[1]), problemText(one)]);
}

/**
 * @param {any} preview `{vars: {name: value}, stored?: {tier: {name: value}}}`
 * @param {any[]} rows
 * @param {number[]} kept
 */
function valuesOf(preview, rows, kept) {
  /** @type {Record<number, {value: any}>} */
  const values = {};
  for (const index of kept) {
    const {name, tier = 'run'} = rows[index];
    const from = tier === 'run' ? preview?.vars : preview?.stored?.[tier];
    if (isObject(from) && Object.hasOwn(from, name)) values[index] = {value: from[name]};
  }
  return values;
}
