/** What a ProviderCall can do beside one plain request, folded away: several targets, a form for the answer, a cache. */
import {Fragment, h, tags, useState} from '../../h.js';
import {isSame} from '../../core/doc.js';
import {t} from '../../words.js';
import {SchemaFields} from '../../fields/SchemaForm.js';
import {useSpokenFields} from '../../fields/spoken.js';

const {details, div, span, summary} = tags;

/** @typedef {import('../../core/schema.js').Field} Field */
/** @typedef {import('../../fields/form.js').Form} Form */

/** @type {Record<string, string[]>} */
const GROUPS = {
  targets: ['targets', 'strategy', 'on_errors', 'at_once', 'sticky', 'cooldown_s'],
  answer: ['response_schema', 'validate_retries', 'extract', 'extract_expression'],
  cache: ['cache_s', 'cache_for', 'cache_tool_calls'],
};
const GROUPED = Object.values(GROUPS).flat();

/**
 * All fields of the node type that no other part of its form draws: those of no group first, then the groups.
 * @param {{type: import('../../core/doc.js').NodeType, form: Form, drawn: string[], wanted: string | null}} props `wanted`: the field that somebody is led to
 */
export function CallGroups({type, form, drawn, wanted}) {
  const fields = useSpokenFields(type);
  const {schema, defaults} = type;
  const plain = fields.filter(({name}) => !drawn.includes(name) && !GROUPED.includes(name));
  return h(
    Fragment,
    null,
    h(SchemaFields, {schema, fields: plain, form, defaults}),
    Object.entries(GROUPS).map(([id, names]) => {
      const own = fields.filter(({name}) => names.includes(name));
      const changed = own.filter(({name}) => form.values[name] !== undefined && !isSame(form.values[name], defaults[name])).length;
      return h(Group, {key: id, title: t(`inspector.callGroup.${id}`), changed, isWanted: wanted !== null && names.includes(wanted.split('.')[0])},
        h(SchemaFields, {schema, fields: own, form, defaults}));
    }),
  );
}

/**
 * A group of fields, open where something in it is set. One that is folded keeps no editors.
 * @param {{title: string, changed: number, isWanted: boolean, children?: import('../../h.js').ReactNode}} props
 */
function Group({title, changed, isWanted, children}) {
  const [isOpen, setOpen] = useState(changed > 0);
  // Whoever leads to a field of the group opens it.
  const [wasWanted, setWanted] = useState(false);
  if (isWanted !== wasWanted) {
    setWanted(isWanted);
    if (isWanted) setOpen(true);
  }
  return details(
    {className: 'inspector-fold', open: isOpen, onToggle: (event) => setOpen(event.currentTarget.open)},
    summary(null, title, changed > 0 ? span({className: 'badge', title: t('inspector.callGroupSet', {n: changed})}, String(changed)) : null),
    isOpen ? div({className: 'inspector-fold-body', role: 'group', 'aria-label': title}, children) : null,
  );
}
