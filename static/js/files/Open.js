/** The pipelines of the server, to open one. */
import {fuzzy} from '../core/search.js';
import {h, tags, useState} from '../h.js';
import {useStore} from '../state/store.js';
import {openPipeline} from '../state/tabs.js';
import {t} from '../words.js';
import {Dialog} from '../ui/dialog.js';
import {TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';

const {button, code, li, p, span, time, ul} = tags;

/** @param {{close: () => void}} props */
export function Open({close}) {
  const pipelines = useStore((state) => state.library.pipelines);
  const locale = useStore((state) => state.view.locale);
  const [query, setQuery] = useState('');
  const shown = fuzzy(query, pipelines, (one) => `${one.name} ${one.id} ${one.description ?? ''}`);
  /** @param {string | undefined} id */
  const open = (id) => {
    if (id === undefined) return;
    close();
    void openPipeline(id);
  };
  return h(
    Dialog,
    {title: t('files.openTitle'), onClose: close},
    h(TextField, {label: t('files.search'), value: query, onChange: setQuery, autoFocus: true, onEnter: () => open(shown[0]?.id)}),
    shown.length === 0 ? p({className: 'panel-empty'}, t('files.nothingFound')) : null,
    ul(
      {className: 'file-list'},
      shown.map((one) =>
        li(
          {key: one.id},
          button(
            {type: 'button', onClick: () => open(one.id)},
            h(Icon, {name: one.valid ? 'graph' : 'warning', className: one.valid ? '' : 'text-bad'}),
            span({className: 'file-name'}, one.name || one.id, code(null, one.id)),
            one.active ? span({className: 'chip chip-good'}, t('app.active')) : null,
            one.problem_count ? span({className: 'chip chip-bad'}, t('app.problemCount', {n: one.problem_count})) : null,
            time({dateTime: new Date(one.modified).toISOString(), className: 'text-soft'}, new Date(one.modified).toLocaleString(locale)),
          ),
        ),
      ),
    ),
  );
}
