/** A value of the wrong kind, as a file written by hand may have one: shown as it is, with what is wrong and a way out. */
import {h, tags} from '../h.js';
import {Button} from '../ui/buttons.js';
import {t} from '../words.js';
import {JsonField} from './JsonField.js';

const {div} = tags;

/**
 * @param {{label: string, value: any, wanted: string, field?: string, node?: string | null, onChange: (value: any) => void, fallback: any}} props
 *   `wanted` is a key of the words for the kind that belongs here; `fallback` is put there by "Reset"
 */
export function WrongValue({label, value, wanted, field, node, onChange, fallback}) {
  return div(
    {className: 'inspector-wrong'},
    h(JsonField, {
      label,
      value,
      onChange,
      field,
      node,
      error: t('inspector.wrongKind', {wanted: t(wanted)}),
      aside: h(Button, {label: t('inspector.reset'), tone: 'quiet', className: 'inspector-mini', onClick: () => onChange(fallback)}),
    }),
  );
}
