// A guess at token counts: the rule of agentui/pipeline/estimate.py.

/**
 * Roughly the tokens of a text: one for four bytes of UTF-8, and two for three of the characters from U+2E80 on (Chinese,
 * Japanese, Korean, emoji). Right within some tens of percent.
 * @param {string} text
 * @returns {number}
 */
export function estimateTokens(text) {
  let bytes = 0;
  let wide = 0;
  for (const character of text) {
    const code = /** @type {number} */ (character.codePointAt(0));
    if (code > 0x2e7f) wide += 1;
    else bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
  }
  return Math.floor((bytes + 3) / 4) + Math.floor((wide * 2 + 2) / 3);
}
