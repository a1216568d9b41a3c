/** Headers as the lines of a text: a name, a colon and a value each. */

/** Headers from lines of a name, a colon and a value; null where a line is none. @param {string} text @returns {Record<string, string> | null} */
export function headersOf(text) {
  /** @type {Record<string, string>} */
  const headers = {};
  for (const line of text.split('\n').map((one) => one.trim()).filter((one) => one !== '')) {
    const at = line.indexOf(':');
    if (at < 1) return null;
    headers[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return headers;
}

/** @param {Record<string, string>} headers */
export function linesOf(headers) {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join('\n');
}
