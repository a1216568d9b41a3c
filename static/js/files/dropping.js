/**
 * Files that are dropped anywhere on the window: a pipeline opens the import dialog, everything else goes into the library. A
 * pipeline that is pasted where nothing takes it opens that dialog too.
 */
import {runAction} from '../actions.js';
import {isObject} from '../core/doc.js';
import {notify} from '../state/notices.js';
import {store} from '../state/store.js';
import {isHadTavern} from './hadtavern.js';

/** Listen for as long as the page lives. */
export function listenForDrops() {
  addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  addEventListener('drop', (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0 || event.defaultPrevented) return;
    event.preventDefault();
    void take(files);
  });
  addEventListener('paste', (event) => {
    // With a document in front the canvas takes what is pasted.
    if (event.defaultPrevented || store.get().activeTab !== null || store.get().dialogs.length > 0) return;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (text.trimStart().startsWith('{')) takePipeline(text);
  });
}

/** @param {File[]} files */
async function take(files) {
  const text = files.length === 1 && files[0].name.endsWith('.json') ? await files[0].text() : '';
  // What is no JSON goes to the dialog too, which names the line where it is broken.
  if (text !== '' && isPipeline(text)) takePipeline(text);
  else runAction('library.import', files);
}

/** @param {string} text */
function takePipeline(text) {
  if (!runAction('files.import', text)) notify('info', 'app.mayNotEdit');
}

/** @param {string} text */
function isPipeline(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) && (Array.isArray(value.nodes) || isHadTavern(value));
  } catch {
    return true;
  }
}
