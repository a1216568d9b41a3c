/** Which pipelines were opened last in this browser, the latest first. */
const KEPT = 'agentui.recent';
const MOST = 30;

/** The ids, the latest first. @returns {string[]} */
export function recentIds() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  } catch {
    // Written by hand, or storage is forbidden: nothing is known of before.
    return [];
  }
}

/** Remember that this one was opened now. @param {string} id */
export function noteRecent(id) {
  keep([id, ...recentIds().filter((one) => one !== id)]);
}

/** A pipeline has another id now; null: it is gone. @param {string} id @param {string | null} next */
export function moveRecent(id, next) {
  keep(recentIds().flatMap((one) => (one !== id ? [one] : next === null ? [] : [next])));
}

/** @param {string[]} ids */
function keep(ids) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(ids.slice(0, MOST)));
  } catch {
    // Storage is full or forbidden: the list is as long as the page is open.
  }
}
