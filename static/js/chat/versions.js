/** What a floor holds: the question, and the answer in its versions. */

/** @typedef {import('./talk.js').Floor} Floor */
/** @typedef {import('./talk.js').Page} Page */

/** The versions of a floor's answer, first to last. @param {Floor} floor @returns {Page[]} */
export function answersOf({pages}) {
  const outputs = pages.filter((page) => page.page_kind === 'output');
  const number = Math.max(...outputs.map((page) => page.page_no), 0);
  return outputs.filter((page) => page.page_no === number).sort((a, b) => a.version - b.version);
}

/** What was asked: the messages of the active pages that are no versions of the answer. @param {Floor} floor */
export function askedOf(floor) {
  const answers = new Set(answersOf(floor).map((page) => page.id));
  return floor.pages.filter((page) => page.is_active && !answers.has(page.id)).flatMap((page) => page.messages);
}

/** The last thing that a person said on a floor. @param {Floor} floor */
export function questionOf(floor) {
  return askedOf(floor).findLast((message) => message.role === 'user') ?? null;
}

/**
 * Whether a floor answers: somebody said something on it, or the character spoke again without that. A greeting does not.
 * @param {Floor} floor
 */
export function isAnswer(floor) {
  return questionOf(floor) !== null || floor.pages.some((page) => page.page_kind === 'input');
}

/** The version that counts. @param {Floor} floor @returns {Page | undefined} */
export function answerOf(floor) {
  return answersOf(floor).find((page) => page.is_active);
}

/** The words of a page. @param {Page | undefined} page */
export function wordsOf(page) {
  return (page?.messages ?? []).map((message) => message.content).join('\n\n');
}
