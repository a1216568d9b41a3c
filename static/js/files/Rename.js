/** Asks for another name of a pipeline, and for another one of its file, which is what callers use. */
import {h, useState} from '../h.js';
import {store} from '../state/store.js';
import {docOf} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {TextField} from '../ui/fields.js';
import {idProblem, openTabOf, renamePipeline} from './pipelinefiles.js';

/** @param {{id: string, close: () => void}} props */
export function Rename({id, close}) {
  const known = store.get().library.pipelines.find((one) => one.id === id);
  const tab = openTabOf(id);
  // A file that cannot be read has no name but its own.
  const hasName = tab ? tab.brokenText === null : !!known?.name;
  const [name, setName] = useState(tab && hasName ? docOf(tab).name : (known?.name ?? ''));
  const [next, setNext] = useState(id);
  const problem = next === id ? null : idProblem(next, id);
  const rename = () => {
    if (problem) return;
    close();
    void renamePipeline(id, {name: hasName ? name : null, id: next});
  };
  return h(
    Dialog,
    {
      title: t('files.action.rename'),
      size: 'small',
      onClose: close,
      actions: [
        h(Button, {key: 'cancel', label: t('app.cancel'), onClick: close}),
        h(Button, {key: 'rename', label: t('files.rename'), tone: 'primary', disabled: problem !== null, onClick: rename}),
      ],
    },
    hasName ? h(TextField, {label: t('files.name'), value: name, autoFocus: true, onEnter: rename, onChange: setName}) : null,
    h(TextField, {
      label: t('files.id'),
      value: next,
      autoFocus: !hasName,
      hint: next === id ? t('files.idHint') : t('files.idRenamed', {id}),
      error: problem,
      mono: true,
      onEnter: rename,
      onChange: setNext,
    }),
  );
}
