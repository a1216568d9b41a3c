/** What happens when a node fails: the run ends, or goes on, or another node takes over; and for a call, which other models are asked before. */
import {runAction} from '../actions.js';
import {h, tags} from '../h.js';
import {disconnect, setConfig, setNode} from '../core/commands.js';
import {edgesOf, isObject, nodeById, portOf} from '../core/doc.js';
import {ERROR_PORT} from '../core/ports.js';
import {edit, select} from '../state/tabs.js';
import {t, typeTitle} from '../words.js';
import {useStore} from '../state/store.js';
import {Button} from '../ui/buttons.js';
import {SelectField} from '../ui/fields.js';
import {focusField} from '../fields/form.js';

const {div, span} = tags;

/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */
/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/doc.js').NodeType} NodeType */

/** @param {{node: PipelineNode, doc: Pipeline, type: NodeType | null, answers: boolean}} props */
export function WhenItFails({node, doc, type, answers}) {
  const types = useStore((state) => state.nodeTypes);
  const wires = edgesOf(doc).filter((edge) => edge.from === node.id && portOf(edge) === ERROR_PORT);
  const said = node.on_error ?? 'fail';
  const value = wires.length ? 'node' : said;
  const mayLead = type?.error_port === true || wires.length > 0;
  const options = ['fail', 'continue', ...(mayLead ? ['node'] : [])].map((one) => ({value: one, label: t(`inspector.onError.${one}`)}));
  const isKnown = options.some((one) => one.value === value);
  if (!isKnown) options.unshift({value: String(value), label: t('inspector.notAllowed', {value: JSON.stringify(value)})});
  /** @param {string} next */
  const change = (next) => {
    if (next === 'node') {
      runAction('canvas.failure');
      return;
    }
    edit('inspector.edit.onError', (now) => setNode(disconnect(now, wires), node.id, {on_error: next === 'fail' ? undefined : 'continue'}));
  };
  /** @param {string} id */
  const titleOf = (id) => {
    const found = nodeById(doc, id);
    return found ? found.title || typeTitle(types[found.type], found.type) : id;
  };
  return div(
    {className: 'inspector-fails'},
    h(SelectField, {
      label: t('inspector.onError'),
      className: 'inspector-on-error',
      value: String(value),
      options,
      error: answers && value === 'continue' ? t('inspector.onErrorAnswer') : null,
      onChange: change,
    }),
    wires.map((edge) => h(Button, {key: edge.to, label: t('inspector.takesOver', {node: titleOf(edge.to)}), icon: 'warning', tone: 'quiet', className: 'inspector-mini', onClick: () => void select({nodes: [edge.to], edges: []})})),
    type && Object.hasOwn(type.schema.properties ?? {}, 'targets') ? h(OtherModels, {node}) : null,
  );
}

/** The models that a call asks when its own fails. @param {{node: PipelineNode}} props */
function OtherModels({node}) {
  const config = isObject(node.config) ? node.config : {};
  const targets = Array.isArray(config.targets) ? config.targets : [];
  const add = () => {
    edit('inspector.edit.target', (now) => setConfig(now, node.id, {targets: [...(targets.length ? targets : [{}]), {model: ''}]}));
    focusField(node.id, 'targets');
  };
  return div(
    {className: 'inspector-others'},
    targets.length ? span({className: 'text-soft'}, t('inspector.otherModels', {n: targets.length})) : null,
    h(Button, {label: t('inspector.askAnother'), icon: 'add', tone: 'quiet', className: 'inspector-mini', onClick: add}),
  );
}
