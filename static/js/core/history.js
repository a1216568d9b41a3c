// Undo and redo as a list of whole documents. Documents share what did not change, so a snapshot is cheap, and every command
// can be undone because there is nothing that a command could forget.

/** @typedef {import('./doc.js').Pipeline} Pipeline */

/**
 * One document with the change that made it. `label` is a key of the catalogue of words.
 * @typedef {{document: Pipeline, label: string, key: string | null}} Step
 */

/**
 * @typedef {object} History
 * @property {Step[]} past the oldest first
 * @property {Pipeline} present
 * @property {string} label what made the present one; '' at the start
 * @property {string | null} key
 * @property {Step[]} future the next one last
 */

/** How many steps back are kept. */
const MAX_STEPS = 500;

/**
 * @param {Pipeline} document
 * @returns {History}
 */
export function startHistory(document) {
  return {past: [], present: document, label: '', key: null, future: []};
}

/**
 * Make a document the present one. What was undone is forgotten. Changes that follow each other with the same
 * `coalesceKey` are one step (typing in a field, dragging a node).
 * @param {History} history
 * @param {Pipeline} document
 * @param {string} label
 * @param {string | null} [coalesceKey]
 * @returns {History}
 */
export function push(history, document, label, coalesceKey = null) {
  if (document === history.present) return history;
  const isContinued = coalesceKey !== null && coalesceKey === history.key && history.future.length === 0;
  const past = isContinued ? history.past : [...history.past, presentStep(history)].slice(-MAX_STEPS);
  return {past, present: document, label, key: coalesceKey, future: []};
}

/**
 * @param {History} history
 * @returns {History} the same one when there is nothing to undo
 */
export function undo(history) {
  const step = history.past.at(-1);
  if (step === undefined) return history;
  return {past: history.past.slice(0, -1), ...restored(step), future: [...history.future, presentStep(history)]};
}

/**
 * @param {History} history
 * @returns {History} the same one when there is nothing to redo
 */
export function redo(history) {
  const step = history.future.at(-1);
  if (step === undefined) return history;
  return {past: [...history.past, presentStep(history)], ...restored(step), future: history.future.slice(0, -1)};
}

/**
 * @param {History} history
 * @returns {boolean}
 */
export function canUndo(history) {
  return history.past.length > 0;
}

/**
 * @param {History} history
 * @returns {boolean}
 */
export function canRedo(history) {
  return history.future.length > 0;
}

/**
 * @param {History} history
 * @returns {Step}
 */
function presentStep(history) {
  return {document: history.present, label: history.label, key: history.key};
}

/**
 * A step as the present. A series does not go on after an undo.
 * @param {Step} step
 * @returns {{present: Pipeline, label: string, key: null}}
 */
function restored(step) {
  return {present: step.document, label: step.label, key: null};
}
