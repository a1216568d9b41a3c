/** Memories as files: out of a chat, and into it. */
import {Fragment, h, useState} from '../../h.js';
import {saveFile} from '../../state/copying.js';
import {notify, notifyFailure} from '../../state/notices.js';
import {t} from '../../words.js';
import {FileButton} from '../../ui/buttons.js';
import {MenuButton} from '../../ui/menu.js';
import {WrongFile, bookOf, exportOf, itemsOf, LONGEST} from './files.js';
import {addAll, readKnown} from './adding.js';

/** @param {{place: import('./items.js').Place}} props */
export function Transfer({place}) {
  const [done, setDone] = useState(/** @type {{n: number, total: number} | null} */ (null));
  /** @param {'json' | 'lorebook'} form */
  const save = async (form) => {
    try {
      const {items, edges} = await readKnown(place, form === 'lorebook');
      const document = form === 'json' ? exportOf(items, edges) : bookOf(items);
      saveFile(new Blob([JSON.stringify(document, null, 2)], {type: 'application/json'}), form === 'json' ? 'memories.json' : 'memories-lorebook.json');
    } catch (error) {
      notifyFailure(error);
    }
  };
  /** @param {File} file */
  const load = async (file) => {
    try {
      if (file.size > LONGEST) throw new WrongFile('long');
      const found = itemsOf(await file.text());
      setDone({n: 0, total: found.items.length});
      const {added, known, refused} = await addAll(place, found, (n) => setDone({n, total: found.items.length}));
      notify(refused === null ? 'success' : 'warning', refused === null ? 'memories.imported' : 'memories.importedPart', {added, known, n: found.items.length - added - known, reason: refused ?? ''});
    } catch (error) {
      if (error instanceof WrongFile) notify('error', `memories.wrongFile.${error.reason}`, {name: file.name});
      else notifyFailure(error);
    } finally {
      setDone(null);
    }
  };
  return h(
    Fragment,
    null,
    h(FileButton, {label: done === null ? t('memories.import') : t('memories.importing', done), icon: 'import', disabled: done !== null, fileLabel: t('memories.importFile'), onFile: (file) => void load(file)}),
    h(MenuButton, {
      label: t('memories.export'),
      icon: 'export',
      items: () => [
        {label: t('memories.exportJson'), icon: 'file', run: () => void save('json')},
        {label: t('memories.exportBook'), icon: 'templates', run: () => void save('lorebook')},
      ],
    }),
  );
}
