/** Rules for the rows of a SetVars: names that may be used, and rows from lines of text. */

/** Names that templates give a meaning of their own (agentui/pipeline/nodes/set_vars.py); `OUT1`, `OUT2` ... too. */
const RESERVED = new Set(['incoming', 'OUT', 'PROMPT', 'VAR', 'SECRET', 'pm', 'vars']);
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const OUT_SHORT = /^OUT[0-9]+$/;
const MAX_NAME = 200;
const LINE = /^\s*(?:export\s+|set\s+)?([^=\s][^=]*?)\s*=\s?(.*)$/;

/** @typedef {{severity: 'error' | 'warning' | 'info', key: string, params?: Record<string, string | number>}} NameRemark */

/**
 * What is to be said of a row's name.
 * @param {readonly any[]} rows
 * @param {number} index
 * @param {string[]} contextNames
 * @returns {NameRemark | null}
 */
export function nameRemark(rows, index, contextNames) {
  const row = rows[index];
  const name = row?.name;
  const isStored = (row?.tier ?? 'run') !== 'run';
  if (typeof name !== 'string') return null;
  if (name.trim() === '') return {severity: 'error', key: 'inspector.nameMissing'};
  if (name.length > MAX_NAME) return {severity: 'error', key: 'inspector.nameLong'};
  if (!isStored && !NAME.test(name)) return {severity: 'error', key: 'inspector.nameWrong'};
  if (!isStored && (RESERVED.has(name) || OUT_SHORT.test(name))) return {severity: 'error', key: 'inspector.nameReserved', params: {name}};
  const twin = rows.findIndex((other, at) => at !== index && other?.name === name && (other?.tier ?? 'run') === (row.tier ?? 'run'));
  if (twin >= 0) return {severity: 'warning', key: twin > index ? 'inspector.nameOverwritten' : 'inspector.nameOverwrites', params: {name, position: twin + 1}};
  if (!isStored && contextNames.includes(name)) return {severity: 'info', key: 'inspector.nameHides', params: {name}};
  return null;
}

/**
 * Rows from lines such as `NAME=value`; empty lines and comments (`# ...`) are passed over.
 * @param {string} text
 * @returns {{rows: {name: string, value: string}[], rest: number}} `rest`: how many lines are no rows
 */
export function rowsFromLines(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  const rows = lines.map((line) => LINE.exec(line)).filter((match) => match !== null).map((match) => ({name: match[1], value: unquoted(match[2])}));
  return {rows, rest: lines.length - rows.length};
}

/** A value without the quotes around it. @param {string} text */
function unquoted(text) {
  const trimmed = text.trim();
  const [first] = trimmed;
  return trimmed.length > 1 && (first === '"' || first === "'") && trimmed.endsWith(first) ? trimmed.slice(1, -1) : text.trimEnd();
}

/** Whether a formula gives another value each time. @param {any} row */
export function varies(row) {
  return row?.mode === 'expr' && typeof row.value === 'string' && /\b(?:rand|randint|choice)\s*\(/.test(row.value);
}

/** Whether a formula holds what looks like a macro, which it must not. @param {any} row */
export function hasMacros(row) {
  return row?.mode === 'expr' && typeof row.value === 'string' && /\[\[|\{\{/.test(row.value);
}
