/** Texts with their differences marked. It needs CodeMirror, so only what is loaded later may import it. */
import {merge, state, view} from './codemirror.js';
import {look} from './look.js';

/**
 * The later text with its changes marked in it, or with two labels both texts beside each other.
 * @param {HTMLElement} parent
 * @param {{before: string, after: string, labels: string[]}} texts
 * @returns {{destroy: () => void}}
 */
export function mark(parent, {before, after, labels}) {
  if (labels.length === 2) {
    const [a, b] = [before, after].map((doc, side) => ({doc, extensions: reading(labels[side])}));
    return new merge.MergeView({parent, a, b, collapseUnchanged: {margin: 3, minSize: 6}, gutter: true});
  }
  const marks = merge.unifiedMergeView({original: before, mergeControls: false, collapseUnchanged: {margin: 2, minSize: 4}});
  return new view.EditorView({parent, doc: after, extensions: [...reading(labels[0]), marks]});
}

/** @param {string} label */
function reading(label) {
  return [look, view.EditorView.lineWrapping, state.EditorState.readOnly.of(true), view.EditorView.contentAttributes.of({'aria-label': label})];
}
