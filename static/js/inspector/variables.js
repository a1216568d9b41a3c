/** What is to be said of the rows of a SetVars beside their problems, and rows from lines of text. */

const LINE = /^\s*(?:export\s+|set\s+)?([^=\s][^=]*?)\s*=\s?(.*)$/;

/**
 * What is to be said of a row's name that is no mistake: another row or the context has it too.
 * @param {readonly any[]} rows
 * @param {number} index
 * @param {string[]} contextNames
 * @returns {{severity: 'warning' | 'info', key: string, params: Record<string, string | number>} | null}
 */
export function nameRemark(rows, index, contextNames) {
  const {name, tier = 'run'} = rows[index];
  if (typeof name !== 'string' || name === '') return null;
  const twin = rows.findIndex((other, at) => at !== index && other?.name === name && (other?.tier ?? 'run') === tier);
  if (twin >= 0) return {severity: 'warning', key: twin > index ? 'inspector.nameOverwritten' : 'inspector.nameOverwrites', params: {name, position: twin + 1}};
  return tier === 'run' && contextNames.includes(name) ? {severity: 'info', key: 'inspector.nameHides', params: {name}} : null;
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

/** Whether a formula holds what looks like a macro, which it must not. @param {any} row */
export function hasMacros(row) {
  return row?.mode === 'expr' && typeof row.value === 'string' && /\[\[|\{\{/.test(row.value);
}
