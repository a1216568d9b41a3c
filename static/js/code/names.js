/** What the templates of one node can read, with the values of the last run and of the chosen chat. */
import {upstream} from '../core/graph.js';
import {visibleNames} from '../core/names.js';
import {nodeIn} from '../core/walks.js';
import {scopeIn} from '../state/runs.js';
import {store} from '../state/store.js';
import {activeTab, docOf} from '../state/tabs.js';

/** @typedef {import('../core/doc.js').VisibleName} VisibleName */

const SHOWN_VALUE = 60;

/**
 * The names that are visible at a node of the document in front.
 * @param {string} node
 * @returns {VisibleName[]}
 */
export function namesAt(node) {
  const state = store.get();
  const tab = activeTab(state);
  if (!tab) return [];
  const {lastOut, lastVars} = lastValues(node);
  return visibleNames(docOf(tab), node, {contextNames: state.contextNames, lastOut, lastVars, stored: state.session.names ?? []});
}

/**
 * The last known OUT of every node before this one, and the variables they set: pins first, then the last run.
 * @param {string} node
 * @returns {{lastOut: Record<string, any>, lastVars: Record<string, any>}}
 */
export function lastValues(node) {
  const state = store.get();
  const tab = activeTab(state);
  if (!tab) return {lastOut: {}, lastVars: {}};
  const before = upstream(docOf(tab), node);
  const run = tab.lastRun ? state.runs.byId[tab.lastRun] : undefined;
  /** @type {Record<string, any>} */
  const lastOut = {};
  /** @type {Record<string, any>} */
  const lastVars = {};
  for (const id of before) {
    const out = Object.hasOwn(tab.pins, id) ? tab.pins[id] : run ? nodeIn(run, scopeIn(state, run), id, state.runs.iterations)?.out : undefined;
    if (out === undefined) continue;
    lastOut[id] = out;
    if (out && typeof out === 'object' && out.vars && typeof out.vars === 'object') Object.assign(lastVars, out.vars);
  }
  return {lastOut, lastVars};
}

/** A value in a few characters. @param {unknown} value */
export function shown(value) {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = text.replaceAll('\n', ' ');
  return line.length > SHOWN_VALUE ? `${line.slice(0, SHOWN_VALUE)}…` : line;
}
