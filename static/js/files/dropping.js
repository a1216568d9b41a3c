/** A pipeline file that is dropped anywhere on the window, or pasted where nothing takes it, opens the import dialog. */
import {openDialog} from '../state/dialogs.js';
import {store} from '../state/store.js';

/** Listen for as long as the page lives. */
export function listenForDrops() {
  addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  addEventListener('drop', (event) => {
    const file = event.dataTransfer?.files[0];
    if (!file || event.defaultPrevented) return;
    event.preventDefault();
    void file.text().then((text) => openDialog('import', {text}));
  });
  addEventListener('paste', (event) => {
    // With a document in front the canvas takes what is pasted.
    if (event.defaultPrevented || store.get().activeTab !== null || store.get().dialogs.length > 0) return;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (text.trimStart().startsWith('{')) openDialog('import', {text});
  });
}
