// A JSON value as a text for people: a line for each value, and long texts with their own lines.

/**
 * Equal values give equal texts: names of objects stand in the order of the alphabet, list items keep theirs.
 * @param {unknown} value
 * @returns {string}
 */
export function readable(value) {
  return linesOf(value, '').join('\n');
}

/** @param {unknown} value @param {string} indent @returns {string[]} */
function linesOf(value, indent) {
  if (Array.isArray(value)) return value.flatMap((item) => entryOf('-', item, indent));
  if (typeof value !== 'object' || value === null) return [`${indent}${plain(value)}`];
  return Object.keys(value)
    .sort()
    .flatMap((name) => entryOf(`${name}:`, /** @type {any} */ (value)[name], indent));
}

/** @param {string} label @param {unknown} value @param {string} indent @returns {string[]} */
function entryOf(label, value, indent) {
  const inner = `${indent}  `;
  if (typeof value === 'string' && value.includes('\n')) return [`${indent}${label}`, ...value.split('\n').map((line) => `${inner}${line}`)];
  const isFilled = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return isFilled ? [`${indent}${label}`, ...linesOf(value, inner)] : [`${indent}${label} ${plain(value)}`];
}

/** @param {unknown} value */
function plain(value) {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
