/** Where the person was typing last in a node's settings, so that a macro chosen elsewhere goes there. */
import {selectionIn} from '../code/Field.js';
import {isObject, nodeById, valueAt} from '../core/doc.js';
import {setConfig} from '../core/commands.js';
import {activeTab, docOf, edit, goTo} from '../state/tabs.js';
import {withValue} from '../fields/paths.js';

/** @typedef {{tab: string, node: string, field: string, from: number, to: number}} Cursor */

/** @type {Cursor | null} */
let last = null;

/**
 * Remember the cursor of the template field that this element belongs to.
 * @param {EventTarget | null} element
 * @param {string} node
 */
export function rememberCursor(element, node) {
  const content = element instanceof Element ? element.closest('.cm-content') : null;
  const field = content instanceof HTMLElement ? content.dataset.field : undefined;
  const selection = content instanceof HTMLElement ? selectionIn(content) : null;
  const tab = activeTab();
  if (!tab || !selection || !field) return;
  last = {tab: tab.key, node, field, ...selection};
}

/**
 * The field that a macro would go to, while it is still a text of this node.
 * @param {string} node
 * @returns {Cursor | null}
 */
export function cursorOf(node) {
  const tab = activeTab();
  if (!last || !tab || last.tab !== tab.key || last.node !== node) return null;
  return typeof textAt(tab, last) === 'string' ? last : null;
}

/**
 * Put a macro where the cursor was, and the cursor behind it.
 * @param {Cursor} cursor
 * @param {string} macro
 */
export function insertAt(cursor, macro) {
  const path = pathOf(cursor.field);
  edit('inspector.edit.insert', (doc) => {
    const config = nodeById(doc, cursor.node)?.config;
    const text = valueAt(config, path);
    if (!isObject(config) || typeof text !== 'string') return doc;
    const next = text.slice(0, cursor.from) + macro + text.slice(Math.max(cursor.from, cursor.to));
    return setConfig(doc, cursor.node, {[path[0]]: withValue(config, path, next)[path[0]]});
  });
  const tab = activeTab();
  const text = tab ? textAt(tab, cursor) : null;
  if (typeof text !== 'string') return;
  const at = Math.min(cursor.from + macro.length, text.length);
  const before = text.slice(0, at).split('\n');
  goTo({node: cursor.node, field: cursor.field, line: before.length, column: (before.at(-1)?.length ?? 0) + 1});
}

/** @param {import('../state/types.js').Tab} tab @param {Cursor} cursor */
function textAt(tab, cursor) {
  return valueAt(nodeById(docOf(tab), cursor.node)?.config, pathOf(cursor.field));
}

/** A dotted path as keys. Names with dots in them (of headers) lead nowhere, and the macro is copied instead. @param {string} field */
function pathOf(field) {
  return field.split('.');
}
