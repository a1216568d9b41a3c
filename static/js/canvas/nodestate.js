/** What the viewed run and the problems say of one node, looked up without walking through lists. */
import {nodeById} from '../core/doc.js';
import {answersOf} from '../core/graph.js';
import {nodeIn, timesIn} from '../core/walks.js';
import {scopeIn} from '../state/runs.js';
import {activeTab, docOf} from '../state/tabs.js';
import {t} from '../words.js';

/** @typedef {import('../state/types.js').State} State */
/** @typedef {import('../core/doc.js').Problem} Problem */
/** @typedef {import('../core/doc.js').NodeRun} NodeRun */

/** @type {readonly Problem[]} */
const NONE = Object.freeze([]);
/** @type {WeakMap<readonly Problem[], Map<string, Problem[]>>} */
const sorted = new WeakMap();

/**
 * A node's problems, errors first. The answer is the same list as long as the tab's problems are the same.
 * @param {State} state
 * @param {string} id
 * @returns {readonly Problem[]}
 */
export function problemsOf(state, id) {
  const problems = activeTab(state)?.problems;
  if (!problems?.length) return NONE;
  let byNode = sorted.get(problems);
  if (!byNode) {
    byNode = new Map();
    for (const severity of ['error', 'warning']) {
      for (const problem of problems) {
        if (problem.severity !== severity || problem.node === null) continue;
        byNode.set(problem.node, [...(byNode.get(problem.node) ?? []), problem]);
      }
    }
    sorted.set(problems, byNode);
  }
  return byNode.get(id) ?? NONE;
}

/** About as many as estimates of whole texts have, without putting the text together for each piece. */
const CHARACTERS_OF_TOKEN = 4;
/** @type {WeakMap<object, {types: State['nodeTypes'], ids: ReadonlySet<string>}>} */
const answers = new WeakMap();

/**
 * Whether a node answers the pipeline in front, named or by its place, or may: nobody does while the server says that it is not
 * clear who.
 * @param {State} state
 * @param {string} id
 */
export function mayAnswer(state, id) {
  const tab = activeTab(state);
  if (!tab) return false;
  const doc = docOf(tab);
  let known = answers.get(doc);
  if (known?.types !== state.nodeTypes) {
    const ends = doc.nodes.filter((node) => node.enabled !== false && state.nodeTypes[node.type]?.ends_run);
    known = {types: state.nodeTypes, ids: new Set([...answersOf(doc), ...ends.map((node) => node.id)])};
    answers.set(doc, known);
  }
  // Who really answered stands there in its place.
  if (viewedRun(state)?.answeredBy) return false;
  const isUnclear = known.ids.size > 1 && tab.problems.some((problem) => problem.code === 'answer.ambiguous');
  return !isUnclear && known.ids.has(id);
}

/** The run that the canvas shows, when it is one of the pipeline in front. @param {State} state */
export function viewedRun(state) {
  const run = state.runs.viewed === null ? null : state.runs.byId[state.runs.viewed];
  const tab = activeTab(state);
  if (!run || !tab) return null;
  const isOwn = tab.readOnly?.kind === 'run' || tab.id === null || run.summary.pipeline === tab.id || tab.within?.run === run.id;
  return isOwn ? run : null;
}

/**
 * What the viewed run says of a node.
 * @param {State} state
 * @param {string} id
 */
export function nodeRun(state, id) {
  const run = viewedRun(state);
  const found = run && nodeIn(run, scopeIn(state, run), id, state.runs.iterations);
  // A failure is old news once its node was changed.
  return found?.state === 'failed' && hasChanged(state, found, id) ? null : found;
}

/** How often a node ran in the viewed run. @param {State} state @param {string} id */
export function timesRun(state, id) {
  const run = viewedRun(state);
  return run ? timesIn(run, scopeIn(state, run), id) : 0;
}

/** Whether a node answered the viewed run. @param {State} state @param {string} id */
export function hasAnswered(state, id) {
  const run = viewedRun(state);
  return run !== null && run.answeredBy === scopeIn(state, run) + id;
}

/** What was configured when a failure was first shown. @type {WeakMap<NodeRun, unknown>} */
const failedWith = new WeakMap();

/** Whether a node is configured otherwise than when its failure was first shown. @param {State} state @param {NodeRun} run @param {string} id */
function hasChanged(state, run, id) {
  const tab = activeTab(state);
  const config = tab ? nodeById(docOf(tab), id)?.config : undefined;
  if (!failedWith.has(run)) failedWith.set(run, config);
  return failedWith.get(run) !== config;
}

/**
 * What a node of a run does, as a picture and words: `1.8s · 214 tokens`. While words come, their number stands for "Running".
 *
 *   running  retrying  finished  failed  skipped  pinned  stopped
 *
 * @param {NodeRun} run
 * @param {string} locale
 * @returns {{tone: string, icon: string, text: string, spoken: string}} `spoken`: the state where the text does not name it
 */
export function stateOf(run, locale) {
  const took = run.started !== null && run.ended !== null ? duration(run.ended - run.started, locale) : '';
  const tokens = tokensOf(run);
  switch (run.state) {
    case 'running':
      return run.attempts.length > 1
        ? state('retrying', 'refresh', t('canvas.state.retrying', {n: run.attempts.length}))
        : state('running', 'spinner', tokens || t('canvas.state.running'), t('canvas.state.running'));
    case 'finished':
      return state('finished', 'check', [took, tokens].filter(Boolean).join(' · '), t('canvas.state.finished'));
    case 'failed':
      return state('failed', 'error', t('canvas.state.failed'));
    case 'skipped':
      return state('skipped', 'skip', t('canvas.state.skipped'));
    case 'pinned':
      return state('pinned', 'pin', t('canvas.state.pinned'));
    default:
      return state('stopped', 'stop', t('canvas.state.stopped'));
  }
}

/** @param {string} tone @param {string} icon @param {string} text @param {string} [name] */
function state(tone, icon, text, name = text) {
  return {tone, icon, text: text || name, spoken: text && text !== name ? name : ''};
}

/**
 * How many tokens a node has said: what the provider counted, else a guess by the length of the text. A piece of a stream is no
 * measure: some providers send a word with each, others a paragraph.
 * @param {NodeRun} run
 */
function tokensOf(run) {
  const counted = /** @type {any} */ (run.out)?.usage?.output_tokens;
  if (typeof counted === 'number') return t('canvas.state.tokens', {n: counted});
  const said = run.text?.length ?? 0;
  return said ? t('canvas.state.tokensAbout', {n: Math.ceil(said / CHARACTERS_OF_TOKEN)}) : '';
}

/**
 * A duration as people read it.
 * @param {number | null | undefined} ms
 * @param {string} locale
 */
export function duration(ms, locale) {
  if (ms === null || ms === undefined) return '';
  const [value, unit, digits] =
    ms < 1000 ? [ms, 'millisecond', 0] : ms < 60_000 ? [ms / 1000, 'second', ms < 10_000 ? 1 : 0] : [ms / 60_000, 'minute', 1];
  const style = {style: 'unit', unit, unitDisplay: 'narrow', maximumFractionDigits: digits};
  return new Intl.NumberFormat(locale, /** @type {Intl.NumberFormatOptions} */ (style)).format(/** @type {number} */ (value));
}
