/**
 * The template field as the rest of the editor uses it. CodeMirror is large and the first picture does without it, so it is loaded
 * when the page stands; until then a field shows its text.
 */
import {classes, h, tags, useEffect, useState} from '../h.js';
import {notifyFailure} from '../state/notices.js';

const {div, label: labelTag, pre} = tags;

/** @typedef {typeof import('./CodeField.js')} Loaded */

/** @type {Loaded | null} */
let loaded = null;

/** Load the editor of texts, once. @returns {Promise<Loaded>} */
export async function loadEditor() {
  loaded ??= await import('./CodeField.js');
  return loaded;
}

/** @param {import('./CodeField.js').CodeFieldProps} props */
export function CodeField(props) {
  const [code, setCode] = useState(loaded);
  useEffect(() => {
    if (!code) loadEditor().then(setCode, notifyFailure);
  }, []);
  return code ? h(code.CodeField, props) : h(Waiting, props);
}

/** @param {import('./CodeField.js').CodeFieldProps} props */
function Waiting({label, value, hideLabel, aside, singleLine = false, lines = 1, maxLines = 24}) {
  return div(
    {className: 'field code-field', 'aria-busy': true},
    hideLabel && !aside ? null : div({className: 'field-head'}, labelTag({className: hideLabel ? 'visually-hidden' : undefined}, label), aside),
    pre({className: classes('code-box', 'code-waiting', singleLine && 'code-line'), style: /** @type {any} */ ({'--lines': lines, '--max-lines': maxLines})}, value),
  );
}

/**
 * Where the cursor or the selection is in the template field with this content element; null where there is no such field.
 * @param {HTMLElement} content
 * @returns {{from: number, to: number} | null}
 */
export function selectionIn(content) {
  return loaded?.selectionIn(content) ?? null;
}
