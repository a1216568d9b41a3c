/** Several nodes: how many, and what can be done with all of them. */
import {runAction} from '../actions.js';
import {h, tags} from '../h.js';
import {duplicate, removeNodes, setNode} from '../core/commands.js';
import {isEnabled} from '../core/doc.js';
import {useStore} from '../state/store.js';
import {edit, select} from '../state/tabs.js';
import {t, typeTitle} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {Locked, useLocked} from './Locked.js';

const {button, div, h2, h3, li, span, ul} = tags;

/** @typedef {import('../core/doc.js').PipelineNode} PipelineNode */

const COPY_OFFSET = {x: 40, y: 40};
const ALIGNMENTS = ['left', 'center', 'right', 'top', 'middle', 'bottom', 'distribute-x', 'distribute-y'];

/** @param {{nodes: PipelineNode[]}} props */
export function ManyNodes({nodes}) {
  const types = useStore((state) => state.nodeTypes);
  const isLocked = useLocked();
  const ids = nodes.map((node) => node.id);
  const on = nodes.filter(isEnabled).length;
  /** @param {boolean} enabled */
  const enable = (enabled) =>
    void edit('inspector.edit.enabled', (doc) => ids.reduce((now, id) => setNode(now, id, {enabled: enabled ? undefined : false}), doc));
  const copy = () => {
    /** @type {string[]} */
    let made = [];
    edit('inspector.edit.duplicateNode', (doc) => {
      const copied = duplicate(doc, ids, COPY_OFFSET);
      made = copied.ids;
      return copied.doc;
    });
    if (made.length) select({nodes: made});
  };
  return div(
    // With its fields switched off nothing in it takes the focus, and the keyboard could not scroll it.
    {className: 'inspector-scroll', tabIndex: isLocked ? 0 : undefined},
    div({className: 'inspector-head'}, h2({className: 'inspector-big'}, t('inspector.manyNodes', {n: nodes.length}))),
    div(
      {className: 'inspector-page'},
      h(Locked, null, div(
        {className: 'inspector-actions'},
        h(Button, {label: t('inspector.enable'), icon: 'power', disabled: on === nodes.length, onClick: () => enable(true)}),
        h(Button, {label: t('inspector.disable'), icon: 'pause', disabled: on === 0, onClick: () => enable(false)}),
        h(Button, {label: t('inspector.duplicate'), icon: 'copy', onClick: copy}),
        h(Button, {label: t('inspector.delete'), icon: 'trash', onClick: () => void edit('inspector.edit.delete', (doc) => removeNodes(doc, ids))}),
      )),
      h3({className: 'inspector-subtitle'}, t('inspector.align')),
      h(Locked, null, div(
        {className: 'inspector-actions', role: 'group', 'aria-label': t('inspector.align')},
        ALIGNMENTS.map((kind) =>
          h(Button, {
            key: kind,
            label: t(`inspector.align.${kind}`),
            disabled: kind.startsWith('distribute') && nodes.length < 3,
            onClick: () => void runAction(`canvas.align-${kind}`),
          }),
        ),
      )),
      h3({className: 'inspector-subtitle'}, t('inspector.selected')),
      ul(
        {className: 'selected-list'},
        nodes.map((node) =>
          li(
            {key: node.id},
            button(
              {type: 'button', className: 'selected-node', onClick: () => select({nodes: [node.id]})},
              h(Icon, {name: types[node.type]?.icon ?? 'node'}),
              span({className: 'selected-name'}, node.title || typeTitle(types[node.type], node.type)),
              isEnabled(node) ? null : span({className: 'chip'}, t('inspector.off')),
              span({className: 'mono text-soft'}, node.id),
            ),
          ),
        ),
      ),
    ),
  );
}
