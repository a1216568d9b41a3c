/**
 * Copy, cut and paste through the system's clipboard, as text with an envelope of our own. The keys use the browser's copy and paste
 * events, which need no permission and work without HTTPS; the menus use navigator.clipboard where there is one.
 */
import {useEffect} from '../h.js';
import {setParent} from '../core/bodies.js';
import {fromFragment, toFragment} from '../core/clipboard.js';
import {insertFragment} from '../core/commands.js';
import {parents} from '../core/holders.js';
import {toClipboard} from '../state/copying.js';
import {announce, notify} from '../state/notices.js';
import {store} from '../state/store.js';
import {edit, select} from '../state/tabs.js';
import {t} from '../words.js';
import {deleteSelection} from './editing/nodes.js';
import {canChange, frontDoc, selectionOf} from './editing/front.js';
import {holderAt, snapped} from './geometry.js';
import {pointerPlace} from './stage.js';

/** @type {Record<string, string>} */
const REFUSALS = {empty: 'canvas.pasteEmpty', 'newer-format': 'canvas.pasteNewer'};

/** What is selected as text; null where nothing is that can be copied. */
function copied() {
  const doc = frontDoc();
  const ids = copiedIds();
  return doc && ids.length ? toFragment(doc, ids) : null;
}

function copiedIds() {
  const {nodes, frames, notes} = selectionOf();
  return [...nodes, ...frames, ...notes];
}

/**
 * Put a copied piece into the document, where the pointer is.
 * @param {string} text
 */
export function pasteText(text) {
  if (!canChange()) return;
  const fragment = readFragment(text);
  if (!fragment) return;
  /** @type {string[]} */
  let ids = [];
  edit('canvas.did.paste', (doc) => {
    const place = snapped(pointerPlace());
    const holder = holderAt(doc, store.get().nodeTypes, place);
    const inserted = insertFragment(doc, fragment, place);
    ids = inserted.ids;
    // What came with its holder stays in it.
    const roots = inserted.doc.nodes.filter((node) => ids.includes(node.id) && !parents(inserted.doc).has(node.id));
    return holder === null ? inserted.doc : setParent(inserted.doc, roots.map((node) => node.id), holder);
  });
  if (!ids.length) return;
  select({nodes: ids});
  announce(t('canvas.said.pasted', {n: ids.length}));
}

/** @param {string} text */
function readFragment(text) {
  const read = fromFragment(text);
  if (read.fragment) return read.fragment;
  notify('info', REFUSALS[read.reason] ?? 'canvas.pasteForeign');
  return null;
}

/**
 * Copy what is selected, from a menu or the command palette.
 * @returns {Promise<boolean>} whether the clipboard has it now
 */
export async function copySelection() {
  const text = copied();
  if (text === null) return false;
  if (!(await toClipboard(text))) {
    notify('error', 'app.copyFailed');
    return false;
  }
  announce(t('canvas.said.copied', {n: copiedIds().length}));
  return true;
}

/** Copy what is selected and delete it; what could not be copied stays. */
export async function cutSelection() {
  if (canChange() && (await copySelection())) deleteSelection();
}

/** Paste, from a menu or the command palette. */
export async function paste() {
  let text;
  try {
    text = await navigator.clipboard.readText();
  } catch {
    // The browser has no such interface here (no HTTPS), or the user refused it: the keys always work.
    notify('info', 'canvas.pasteByKeys');
    return;
  }
  pasteText(text);
}


/** Whether the focus is where the canvas's keys work: at the canvas, in the outline, or nowhere. */
export function isAtCanvas() {
  const focused = document.activeElement;
  if (!focused || focused === document.body) return true;
  if (/^(input|textarea|select)$/i.test(focused.tagName) || /** @type {HTMLElement} */ (focused).isContentEditable) return false;
  return focused.closest('[data-canvas]') !== null || focused.id === 'stage';
}

/** Whether a copy is about text that is marked on the page. */
function isTextMarked() {
  const marked = getSelection();
  return marked !== null && !marked.isCollapsed;
}

/** @param {ClipboardEvent} event */
function onCopy(event) {
  if (event.defaultPrevented || !isAtCanvas() || isTextMarked()) return;
  const text = copied();
  if (text === null || !event.clipboardData) return;
  event.clipboardData.setData('text/plain', text);
  event.preventDefault();
  const n = copiedIds().length;
  if (event.type === 'cut' && canChange()) deleteSelection();
  else announce(t('canvas.said.copied', {n}));
}

/** @param {ClipboardEvent} event */
function onPaste(event) {
  if (event.defaultPrevented || !isAtCanvas() || !canChange()) return;
  const text = event.clipboardData?.getData('text/plain') ?? '';
  // Files and whole pipelines are for the import, which asks first.
  if (!text && event.clipboardData?.files.length) return;
  event.preventDefault();
  pasteText(text);
}

/** Listen for the browser's copy, cut and paste for as long as the view is shown. */
export function useClipboard() {
  useEffect(() => {
    document.addEventListener('copy', onCopy);
    document.addEventListener('cut', onCopy);
    document.addEventListener('paste', onPaste);
    return () => {
      document.removeEventListener('copy', onCopy);
      document.removeEventListener('cut', onCopy);
      document.removeEventListener('paste', onPaste);
    };
  }, []);
}
