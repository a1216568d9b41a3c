/** What a form edits: the configuration of a node (every change can be undone), or a draft that a dialog keeps. */
import {useMemo, useState} from '../h.js';
import {isObject, nodeById, valueAt} from '../core/doc.js';
import {setConfig} from '../core/commands.js';
import {movePort, renamedPort} from '../core/ports.js';
import {store} from '../state/store.js';
import {activeTab, edit, updateTab} from '../state/tabs.js';
import {withValue} from './paths.js';

/** @typedef {import('./paths.js').Path} Path */
/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */

/**
 * `once` makes a change a step of its own; otherwise changes in a row with one `key` (the path unless told) are one step.
 * @typedef {{once?: boolean, label?: string, key?: string}} SetOptions
 */

/**
 * @typedef {object} Form
 * @property {string | null} node whose names templates can read; null outside of a pipeline
 * @property {Record<string, any>} values
 * @property {(path: Path, value: any, options?: SetOptions) => void} set `undefined` removes
 * @property {(patch: Record<string, any>, label?: string) => void} patch several fields as one step
 */

/**
 * The configuration of a node.
 * @param {PipelineNode} node
 * @returns {Form}
 */
export function useNodeForm(node) {
  const {id} = node;
  const commands = useMemo(() => nodeCommands(id), [id]);
  return {node: id, values: isObject(node.config) ? node.config : {}, ...commands};
}

/** @param {string} id @returns {Pick<Form, 'set' | 'patch'>} */
function nodeCommands(id) {
  /** The port that wires wait at while the name that is typed for it is empty, or another's. @type {{key: string, port: string} | null} */
  let waiting = null;
  return {
    set: (path, value, {once = false, label = 'inspector.edit.field', key = path.join('.')} = {}) =>
      void edit(
        label,
        (doc) => {
          const node = nodeById(doc, id);
          const before = isObject(node?.config) ? node.config : {};
          if (!node || Object.is(valueAt(before, path), value)) return doc;
          const [top] = path;
          const after = withValue(before, path, value);
          const next = setConfig(doc, id, {[top]: after[top]});
          const renamed = renamedPort(store.get().nodeTypes[node.type], before, after);
          if (!renamed) return next;
          const from = waiting?.key === key ? waiting.port : renamed.from;
          waiting = renamed.mayFollow ? null : {key, port: from};
          return renamed.mayFollow ? movePort(next, id, from, renamed.to) : next;
        },
        once ? undefined : {coalesce: `${id}:${key}`},
      ),
    patch: (patch, label = 'inspector.edit.field') => void edit(label, (doc) => setConfig(doc, id, patch)),
  };
}

/**
 * Take the cursor to a field of a node; the field may come with the next picture only.
 * @param {string | null} node
 * @param {string} field its dotted path
 */
export function focusField(node, field) {
  const tab = activeTab();
  if (tab && node !== null) updateTab(tab.key, {focus: {node, field, line: null, column: null}});
}

/**
 * The form of a part: what is shown there becomes a value of the configuration as soon as something in it changes, also where it
 * was a default before.
 * @param {Form} form
 * @param {Path} path
 * @param {any} shown
 * @returns {Form}
 */
export function within(form, path, shown) {
  return {
    ...form,
    set: (inner, value, options) => form.set(path, withValue(shown, inner.slice(path.length), value), {...options, key: options?.key ?? inner.join('.')}),
  };
}

/**
 * A draft that nobody sees until it is saved.
 * @param {Record<string, any>} initial
 * @returns {Form & {reset: (values: Record<string, any>) => void}}
 */
export function useDraftForm(initial) {
  const [values, setValues] = useState(initial);
  return {
    node: null,
    values,
    set: (path, value) => setValues((now) => withValue(now, path, value)),
    patch: (patch) => setValues((now) => Object.entries(patch).reduce((all, [name, value]) => withValue(all, [name], value), now)),
    reset: setValues,
  };
}
