/** A field that names a pipeline: one of those that the server has. */
import {h} from '../h.js';
import {useStore} from '../state/store.js';
import {activeTab} from '../state/tabs.js';
import {t} from '../words.js';
import {SelectField} from '../ui/fields.js';

/** @param {{label: string, hideLabel?: boolean, value: string, hint?: string, error: string | null, onChange: (value: string) => void}} props */
export function PipelineField({label, hideLabel, value, hint, error, onChange}) {
  const own = useStore((state) => activeTab(state)?.id ?? null);
  const pipelines = useStore((state) => state.library.pipelines);
  // A pipeline that called itself would never end.
  const options = pipelines.filter((one) => one.id !== own || one.id === value).map((one) => ({value: one.id, label: one.name && one.name !== one.id ? `${one.name} (${one.id})` : one.id}));
  const isKnown = options.some((one) => one.value === value);
  if (value === '') options.unshift({value: '', label: t('inspector.none')});
  else if (!isKnown) options.unshift({value, label: t('inspector.notAllowed', {value})});
  return h(SelectField, {label, hideLabel, hint, error, value, options, onChange});
}
