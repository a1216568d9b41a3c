/** Pipelines that a node calls: opened from it, with a way back. */
import {nodeIn} from '../core/walks.js';
import {announce} from '../state/notices.js';
import {scopeIn} from '../state/runs.js';
import {store} from '../state/store.js';
import {activateTab, activeTab, docOf, openPipeline, select, updateTab} from '../state/tabs.js';
import {t} from '../words.js';
import {selectionOf} from './editing/front.js';
import {viewedRun} from './nodestate.js';
import {titleOf} from './summary.js';

/** @typedef {import('../state/types.js').State} State */
/** @typedef {import('../state/types.js').Tab} Tab */
/** @typedef {import('../core/doc.js').NodeType} NodeType */

/**
 * The pipeline that a node calls: what stands in the field of its type that names one.
 * @param {NodeType | undefined} type
 * @param {import('../core/doc.js').PipelineNode | undefined} node
 * @returns {string | null}
 */
export function calledBy(type, node) {
  for (const [name, field] of Object.entries(type?.schema?.properties ?? {})) {
    const value = field.ui === 'pipeline' ? node?.config?.[name] : undefined;
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

/** The pipeline that the selected node calls. @param {State} state */
export function calledBySelected(state) {
  const tab = activeTab(state);
  const [id, ...more] = selectionOf(state).nodes;
  if (!tab || id === undefined || more.length) return null;
  const node = docOf(tab).nodes.find((one) => one.id === id);
  return calledBy(state.nodeTypes[node?.type ?? ''], node);
}

/**
 * Open the pipeline that a node calls; of the run that is shown it tells what happened in it.
 * @param {string} id the node
 */
export async function openCalled(id) {
  const state = store.get();
  const tab = activeTab(state);
  const node = tab && docOf(tab).nodes.find((one) => one.id === id);
  const called = node && calledBy(state.nodeTypes[node.type], node);
  if (!tab || !called) return;
  const run = viewedRun(state);
  const ran = run && nodeIn(run, scopeIn(state, run), id, state.runs.iterations);
  const opened = await openPipeline(called);
  if (!opened || opened.key === tab.key) return;
  const within = {tab: tab.key, node: id, run: ran ? (run?.id ?? null) : null, path: ran ? `${ran.id}/` : ''};
  updateTab(opened.key, {within, ...(ran ? {lastRun: run?.id ?? null} : {})});
  if (ran) store.set(({runs}) => ({runs: {...runs, viewed: run?.id ?? null}}));
}

/**
 * The way to the document in front: each tab with the node whose call led on.
 * @param {State} state
 * @returns {{key: string, name: string, node: string, title: string}[]} the outermost first; empty where it was opened by itself
 */
export function wayHere(state) {
  /** @type {{key: string, name: string, node: string, title: string}[]} */
  const way = [];
  const seen = new Set([state.activeTab]);
  for (let at = activeTab(state)?.within; at && !seen.has(at.tab); ) {
    const {tab: key, node: id} = at;
    seen.add(key);
    const tab = state.tabs.find((one) => one.key === key);
    if (!tab) break;
    const node = docOf(tab).nodes.find((one) => one.id === id);
    way.unshift({key, name: docOf(tab).name || tab.id || '', node: id, title: node ? titleOf(node, state.nodeTypes) : id});
    at = tab.within;
  }
  return way;
}

/** Go back along the way, to a call. @param {{key: string, node: string, title: string} | undefined} [step] the last one unless told */
export function goBack(step = wayHere(store.get()).at(-1)) {
  if (!step) return;
  activateTab(step.key);
  select({nodes: [step.node]});
  announce(t('canvas.said.at', {title: step.title, id: step.node}));
}
