/**
 * The only module that imports React and React Flow. Markup is function calls: `div({className: 'x'}, 'text')` and `h(Component, {prop})`.
 */
import {createPortal, createRoot, Flow, flushSync, React} from '../vendor/ui.js';

export {createPortal, createRoot, Flow, flushSync, React};

export const h = React.createElement;
export const {Fragment, memo, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore} = React;

/** @typedef {React.ReactNode} ReactNode */
/** @typedef {React.ReactElement} ReactElement */
/**
 * One function for each HTML and SVG element.
 * @typedef {{[Name in keyof React.JSX.IntrinsicElements]:
 *   (props?: React.JSX.IntrinsicElements[Name] & {[data: `data-${string}`]: string | number | boolean | undefined} | null, ...children: React.ReactNode[]) => React.ReactElement}} Tags
 */

/** @type {Record<string, Function>} */
const made = {};

/** Elements by name: `const {div, button} = tags`. @type {Tags} */
export const tags = /** @type {any} */ (
  new Proxy(made, {
    get: (known, name) => (known[/** @type {string} */ (name)] ??= makeTag(/** @type {string} */ (name))),
  })
);

/** @param {string} name */
function makeTag(name) {
  return (/** @type {any} */ props, /** @type {React.ReactNode[]} */ ...children) => h(name, props ?? null, ...children);
}

/**
 * Join the class names that are not empty.
 * @param {...(string | false | null | undefined)} names
 */
export function classes(...names) {
  return names.filter(Boolean).join(' ');
}
