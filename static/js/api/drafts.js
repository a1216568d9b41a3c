/**
 * Unsaved work and small named values in the browser's own database (IndexedDB `agentui`).
 *
 * Where the browser offers none (private windows, blocked storage, a full disk) they are kept in memory until the page goes,
 * and every answer says so: `kept` is "disk" or "memory". Nothing is thrown away here but what the person discards.
 */

const DATABASE = 'agentui';
const VERSION = 1;
const DRAFTS = 'drafts';
const VALUES = 'values';
const OLD_MS = 30 * 24 * 60 * 60 * 1000;

/** @typedef {'disk' | 'memory'} Place */
/** @typedef {typeof DRAFTS | typeof VALUES} StoreName */

/**
 * @typedef {object} DraftContent
 * @property {any} document the unsaved document
 * @property {any} base the saved document that it began from; null for a new one
 * @property {string | null} etag of `base`
 * @property {number} time milliseconds since 1970
 * @property {string | null} [text] the text of a file that is being mended; it counts instead of the document
 */

/**
 * @typedef {DraftContent & {key: string, isOld: boolean, kept: Place}} Draft `isOld`: untouched for more than 30 days; it stays
 * until somebody discards it
 */

/** @type {Record<StoreName, Map<string, any>>} */
const memory = {[DRAFTS]: new Map(), [VALUES]: new Map()};

/** @type {Promise<IDBDatabase | null> | null} */
let opening = null;

/** @type {string | null} */
let reason = null;

/**
 * Where things are kept now, and why not on disk.
 * @returns {Promise<{place: Place, reason: string | null}>}
 */
export async function storage() {
  const database = await open();
  return database === null ? {place: 'memory', reason} : {place: 'disk', reason: null};
}

/**
 * Keep a draft under a key, in place of the one before.
 * @param {string} key
 * @param {DraftContent} draft
 * @returns {Promise<Place>}
 */
export function saveDraft(key, draft) {
  return put(DRAFTS, key, draft);
}

/**
 * All drafts, the newest first.
 * @returns {Promise<Draft[]>}
 */
export async function loadDrafts() {
  const found = await all(DRAFTS);
  const oldest = Date.now() - OLD_MS;
  return found
    .map(({key, value, kept}) => ({...value, key, kept, isOld: value.time < oldest}))
    .sort((a, b) => b.time - a.time);
}

/**
 * @param {string} key
 * @returns {Promise<void>}
 */
export function removeDraft(key) {
  return remove(DRAFTS, key);
}

/**
 * Keep a small value (a sample request, a layout) under a name; it must be what a structured clone can hold.
 * @param {string} name
 * @param {any} value
 * @returns {Promise<Place>}
 */
export function saveValue(name, value) {
  return put(VALUES, name, value);
}

/**
 * The values whose names begin so, by name.
 * @param {string} [prefix]
 * @returns {Promise<{name: string, value: any}[]>}
 */
export async function loadValues(prefix = '') {
  const found = await all(VALUES);
  return found
    .filter(({key}) => key.startsWith(prefix))
    .map(({key, value}) => ({name: key, value}))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * @param {string} name
 * @returns {Promise<void>}
 */
export function removeValue(name) {
  return remove(VALUES, name);
}

/**
 * @param {StoreName} name
 * @param {string} key
 * @param {any} value
 * @returns {Promise<Place>}
 */
async function put(name, key, value) {
  const isOnDisk = await transact(name, 'readwrite', (store) => store.put(value, key), null);
  if (isOnDisk === null) {
    memory[name].set(key, structuredClone(value));
    return 'memory';
  }
  memory[name].delete(key);
  return 'disk';
}

/**
 * @param {StoreName} name
 * @param {string} key
 */
async function remove(name, key) {
  memory[name].delete(key);
  await transact(name, 'readwrite', (store) => store.delete(key), undefined);
}

/**
 * @param {StoreName} name
 * @returns {Promise<{key: string, value: any, kept: Place}[]>}
 */
async function all(name) {
  // Both requests are made in one transaction, so that the lists belong together.
  /** @type {IDBRequest<IDBValidKey[]> | undefined} */
  let keys;
  /** @type {any[]} */
  const values = await transact(
    name,
    'readonly',
    (store) => {
      keys = store.getAllKeys();
      return store.getAll();
    },
    [],
  );
  /** @type {{key: string, value: any, kept: Place}[]} */
  const found = values.map((value, index) => ({key: String(keys?.result[index]), value, kept: 'disk'}));
  const kept = found.filter(({key}) => !memory[name].has(key));
  for (const [key, value] of memory[name]) kept.push({key, value, kept: 'memory'});
  return kept;
}

/**
 * One request in a transaction of its own; its result when the transaction is durable, `otherwise` when the browser refuses.
 * @template R, F
 * @param {StoreName} name
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<R>} ask
 * @param {F} otherwise
 * @returns {Promise<R | F>}
 */
async function transact(name, mode, ask, otherwise) {
  const database = await open();
  if (database === null) return otherwise;
  return new Promise((resolve) => {
    /** @param {unknown} error */
    const refuse = (error) => {
      reason = String(error ?? 'the browser gave no reason');
      resolve(otherwise);
    };
    try {
      const transaction = database.transaction(name, mode);
      const request = ask(transaction.objectStore(name));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => refuse(transaction.error);
    } catch (error) {
      // The connection was closed under us (cleared storage): the next call opens it anew. A value that no database can
      // hold is the caller's mistake.
      if (error instanceof DOMException && error.name === 'DataCloneError') throw error;
      opening = null;
      refuse(error);
    }
  });
}

/** @returns {Promise<IDBDatabase | null>} null where the browser offers none */
function open() {
  opening ??= new Promise((resolve) => {
    /** @param {unknown} error */
    const refuse = (error) => {
      reason = `The browser keeps nothing for this page: ${String(error)}.`;
      resolve(null);
    };
    try {
      const request = indexedDB.open(DATABASE, VERSION);
      request.onupgradeneeded = () => {
        for (const name of [DRAFTS, VALUES]) {
          if (!request.result.objectStoreNames.contains(name)) request.result.createObjectStore(name);
        }
      };
      request.onerror = () => refuse(request.error);
      request.onsuccess = () => {
        const database = request.result;
        const forget = () => {
          opening = null;
        };
        // Another tab brings a newer database: let it, and open again at the next use.
        database.onversionchange = () => {
          database.close();
          forget();
        };
        database.onclose = forget;
        resolve(database);
      };
    } catch (error) {
      refuse(error);
    }
  });
  return opening;
}
