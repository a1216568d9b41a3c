/** Headers and variables of an environment as the lines of a text: a name, a colon or "=", and a value each. */

/** @typedef {':' | '='} Sign what stands between a name and its value */

/** Values by name from such lines; null where a line is none. @param {string} text @param {Sign} [sign] @returns {Record<string, string> | null} */
export function headersOf(text, sign = ':') {
  /** @type {Record<string, string>} */
  const headers = {};
  for (const line of text.split('\n').map((one) => one.trim()).filter((one) => one !== '')) {
    const at = line.indexOf(sign);
    if (at < 1) return null;
    headers[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return headers;
}

/** @param {Record<string, string>} headers @param {Sign} [sign] */
export function linesOf(headers, sign = ':') {
  return Object.entries(headers).map(([name, value]) => (sign === ':' ? `${name}: ${value}` : `${name}=${value}`)).join('\n');
}
