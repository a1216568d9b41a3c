/**
 * Keeps the keyboard's place: when the element with the focus goes away or is switched off, its neighbour gets the focus.
 *
 * Without this the browser gives it to the page as a whole, and the next Tab begins at the top.
 */

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable="true"]';
/** Where the focus goes when nothing near it is left. */
const LAST_RESORT = '#stage';

/**
 * Where the focus was: the element, and around it from the inside out each ancestor with what stood before and behind.
 * @typedef {{element: Element, levels: {parent: Element, before: Element | null, behind: Element | null}[]}} Place
 */

/** @type {Place | null} */
let last = null;
let isWaiting = false;

/** Watch over the focus for as long as the page lives. */
export function keepFocus() {
  // A press on an empty place gives the focus away on purpose.
  addEventListener('pointerdown', () => (last = null), true);
  addEventListener('focusin', (event) => (last = event.target instanceof Element ? placeOf(event.target) : null), true);
  new MutationObserver(lookSoon).observe(document.documentElement, {subtree: true, childList: true, attributeFilter: ['disabled', 'hidden']});
}

/** Whoever removed the element may know a better place; that comes first. */
function lookSoon() {
  if (last === null || isWaiting) return;
  isWaiting = true;
  requestAnimationFrame(() => {
    isWaiting = false;
    look();
  });
}

function look() {
  if (last === null || isFocusable(last.element)) return;
  const {activeElement} = document;
  // A control that was switched off can keep the focus, but no key reaches it any more.
  if (activeElement !== null && activeElement !== document.body && activeElement !== last.element) return;
  const found = neighbour(last) ?? document.querySelector(LAST_RESORT);
  last = null;
  if (found instanceof HTMLElement || found instanceof SVGElement) found.focus();
}

/** @param {Element} element @returns {Place} */
function placeOf(element) {
  const levels = [];
  for (let inner = element; inner.parentElement && inner !== document.body; inner = inner.parentElement) {
    levels.push({parent: inner.parentElement, before: inner.previousElementSibling, behind: inner.nextElementSibling});
  }
  return {element, levels};
}

/** The nearest element that can have the focus: behind the place, before it, or around it. @param {Place} place */
function neighbour(place) {
  for (const {parent, before, behind} of place.levels) {
    if (!parent.isConnected || parent === document.body || parent.id === 'app') continue;
    const found = firstIn(behind, parent) ?? firstIn(before, parent) ?? [...parent.querySelectorAll(FOCUSABLE)].find(isFocusable);
    if (found) return found;
    if (parent.matches(FOCUSABLE) && isFocusable(parent)) return parent;
  }
  return null;
}

/** @param {Element | null} sibling @param {Element} parent */
function firstIn(sibling, parent) {
  if (!sibling || sibling.parentElement !== parent) return undefined;
  return [sibling, ...sibling.querySelectorAll(FOCUSABLE)].find((one) => one.matches(FOCUSABLE) && isFocusable(one));
}

/** Whether an element is on the screen and can have the focus. @param {Element} element */
function isFocusable(element) {
  return element.isConnected && !element.matches(':disabled, [hidden] *, [hidden], [aria-hidden="true"], [inert] *') && element.checkVisibility();
}
