/** Where that has to stand which lies over everything else. */
import {useState} from '../h.js';

/**
 * The modal dialog that was opened last, for it makes everything outside of it inert; the page where none is open.
 * @returns {HTMLElement}
 */
export function topLayer() {
  // Dialogs are drawn in the order in which they were opened.
  return /** @type {HTMLElement[]} */ ([...document.querySelectorAll('dialog:modal')]).at(-1) ?? document.body;
}

/** The same for what is opened now: it stays where it is when another dialog opens over it. */
export function useTopLayer() {
  return useState(topLayer)[0];
}
