// Where a text stops being JSON. JSON.parse knows, and does not always tell: Chromium's message often has no position.

const SPACE = /[ \t\n\r]*/y;
const SCALAR =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

/**
 * What may come next: a value, a value or the end of a list, a key, a key or the end of an object, a colon, a comma or an end.
 * @typedef {'value' | 'item' | 'key' | 'member' | 'colon' | 'next'} Expected
 */

/**
 * The offset of the first character that cannot stand where it stands; the length of the text where it ends too early, null
 * where it is JSON.
 * @param {string} text
 * @returns {number | null}
 */
export function brokenAt(text) {
  /** @type {('[' | '{')[]} */
  const open = [];
  /** @type {Expected} */
  let expected = 'value';
  for (let at = skip(SPACE, text, 0); at < text.length; at = skip(SPACE, text, at)) {
    const mark = text[at];
    const inside = open.at(-1);
    if (expected === 'next') {
      if (inside === undefined || ![',', inside === '[' ? ']' : '}'].includes(mark)) return at;
      if (mark !== ',') open.pop();
      else expected = inside === '[' ? 'value' : 'key';
      at += 1;
    } else if (expected === 'colon') {
      if (mark !== ':') return at;
      expected = 'value';
      at += 1;
    } else if ((expected === 'item' && mark === ']') || (expected === 'member' && mark === '}')) {
      open.pop();
      expected = 'next';
      at += 1;
    } else {
      /** @type {boolean} */
      const isKey = expected === 'key' || expected === 'member';
      if (!isKey && (mark === '[' || mark === '{')) {
        open.push(mark);
        expected = mark === '[' ? 'item' : 'member';
        at += 1;
        continue;
      }
      const end = isKey && mark !== '"' ? at : skip(SCALAR, text, at);
      if (end === at) return at;
      expected = isKey ? 'colon' : 'next';
      at = end;
    }
  }
  return open.length === 0 && expected === 'next' ? null : text.length;
}

/**
 * The offset behind what a pattern finds at `at`; `at` itself where it finds nothing.
 * @param {RegExp} sticky
 * @param {string} text
 * @param {number} at
 * @returns {number}
 */
function skip(sticky, text, at) {
  sticky.lastIndex = at;
  return at + (sticky.exec(text)?.[0].length ?? 0);
}
