/** What differs between two documents: drawn side by side, and field by field. */
import {Thumbnail} from '../canvas/thumbnail.js';
import {Differences} from '../code/Differences.js';
import {compareDocuments} from '../core/compare.js';
import {h, tags, useMemo} from '../h.js';
import {t} from '../words.js';
import {Icon} from '../ui/icons.js';

const {code, details, div, figcaption, figure, h3, li, p, section, span, summary, ul} = tags;

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/compare.js').FieldChange} FieldChange */

/**
 * From `before` to `after`.
 * @param {{before: Pipeline, after: Pipeline, beforeLabel: string, afterLabel: string}} props
 */
export function Difference({before, after, beforeLabel, afterLabel}) {
  const found = useMemo(() => compareDocuments(before, after), [before, after]);
  const isSame = [found.added, found.removed, found.changed, found.edges.added, found.edges.removed, found.document].every((list) => list.length === 0);
  return div(
    {className: 'difference'},
    div(
      {className: 'difference-drawings'},
      figure(null, h(Thumbnail, {document: before}), figcaption(null, beforeLabel)),
      figure(null, h(Thumbnail, {document: after}), figcaption(null, afterLabel)),
    ),
    isSame ? p({className: 'panel-empty'}, h(Icon, {name: 'check'}), t('files.same')) : null,
    h(Things, {icon: 'add', tone: 'good', title: t('files.added'), items: found.added.map(nodeName)}),
    h(Things, {icon: 'minus', tone: 'bad', title: t('files.removedNodes'), items: found.removed.map(nodeName)}),
    h(Things, {icon: 'add', tone: 'good', title: t('files.wiresAdded'), items: found.edges.added.map(wireName)}),
    h(Things, {icon: 'minus', tone: 'bad', title: t('files.wiresRemoved'), items: found.edges.removed.map(wireName)}),
    found.document.length ? h(Changes, {title: t('files.documentItself'), fields: found.document}) : null,
    found.changed.map((one) => h(Changes, {key: one.id, title: one.id, fields: one.fields})),
  );
}

/** @param {{id: string, type: string, title?: string}} node */
function nodeName(node) {
  return node.title ? `${node.title} (${node.id})` : `${node.type} (${node.id})`;
}

/** @param {{from: string, to: string}} edge */
function wireName(edge) {
  return `${edge.from} → ${edge.to}`;
}

/** @param {{icon: string, tone: string, title: string, items: string[]}} props */
function Things({icon, tone, title, items}) {
  if (items.length === 0) return null;
  return section(
    {className: 'difference-part'},
    h3(null, h(Icon, {name: icon, className: `text-${tone}`}), title),
    ul(null, items.map((item) => li({key: item}, item))),
  );
}

/** @param {{title: string, fields: FieldChange[]}} props */
function Changes({title, fields}) {
  return section(
    {className: 'difference-part'},
    h3(null, h(Icon, {name: 'edit', className: 'text-warn'}), title),
    fields.map((field) => h(Change, {key: field.path, field})),
  );
}

/** @param {{field: FieldChange}} props */
function Change({field}) {
  const isLong = [field.before, field.after].some((value) => shown(value).length > 60 || shown(value).includes('\n'));
  return isLong
    ? details({open: true}, summary(null, code(null, field.path)), h(Differences, {before: shown(field.before), after: shown(field.after), labels: [t('files.after')], className: 'difference-text'}))
    : p(
        {className: 'difference-line'},
        code(null, field.path),
        span({className: 'difference-before'}, span({className: 'visually-hidden'}, t('files.before')), shown(field.before)),
        h(Icon, {name: 'arrowRight', size: 12}),
        span({className: 'difference-after'}, span({className: 'visually-hidden'}, t('files.after')), shown(field.after)),
      );
}

/** @param {unknown} value */
function shown(value) {
  if (value === undefined) return '—';
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
