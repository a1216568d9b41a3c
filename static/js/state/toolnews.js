/** Who shows which tools there are and what chats allow of them, and wants to read that anew once somebody on this page changed it. */

/** @type {Set<() => void>} */
const listeners = new Set();

/** Listen for changes. @param {() => void} listener @returns {() => void} ends it */
export function onToolsChanged(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Tell everybody that tools, or what is allowed of them, are otherwise now. */
export function tellToolsChanged() {
  for (const listener of [...listeners]) listener();
}
