/** Asks for the file's name before a document is saved for the first time, or under another one. */
import {setDocument} from '../core/commands.js';
import {h, useState} from '../h.js';
import {store} from '../state/store.js';
import {activateTab, docOf, edit, saveTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {TextField} from '../ui/fields.js';
import {freeId, idProblem} from './pipelinefiles.js';

/** @param {{tab: string, close: () => void}} props */
export function SaveAs({tab: key, close}) {
  const tab = store.get().tabs.find((one) => one.key === key);
  const [name, setName] = useState(tab ? docOf(tab).name : '');
  const [id, setId] = useState(() => freeId(tab ? docOf(tab).name : ''));
  const [isOwnId, setOwnId] = useState(false);
  const problem = idProblem(id);
  const save = () => {
    if (problem || !tab) return;
    close();
    activateTab(key);
    if (name !== docOf(tab).name) edit('files.named', (doc) => setDocument(doc, {name}));
    void saveTab(key, {id});
  };
  return h(
    Dialog,
    {
      title: t('app.action.saveAs'),
      size: 'small',
      onClose: close,
      actions: [
        h(Button, {key: 'cancel', label: t('app.cancel'), onClick: close}),
        h(Button, {key: 'save', label: t('app.save'), tone: 'primary', disabled: problem !== null, onClick: save}),
      ],
    },
    h(TextField, {
      label: t('files.name'),
      value: name,
      autoFocus: true,
      selects: true,
      onEnter: save,
      onChange: (value) => {
        setName(value);
        if (!isOwnId) setId(freeId(value));
      },
    }),
    h(TextField, {
      label: t('files.id'),
      value: id,
      hint: t('files.idHint'),
      error: problem,
      mono: true,
      onEnter: save,
      onChange: (value) => {
        setOwnId(true);
        setId(value);
      },
    }),
  );
}
