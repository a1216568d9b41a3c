/** Presets: named configurations of a ProviderCall. Read once for each version, compared with a node, saved with If-Match. */
import {useEffect, useSyncExternalStore} from '../h.js';
import {api, ApiFailure} from '../api/client.js';
import {isObject, isSame} from '../core/doc.js';
import {ask} from '../state/dialogs.js';
import {refreshLibrary} from '../state/library.js';
import {notify, notifyFailure} from '../state/notices.js';
import {createStore, store, useStore} from '../state/store.js';
import {t} from '../words.js';

/** @typedef {{id: string, etag: string | null, document: Record<string, any>}} LoadedPreset */

/** The fields that a node takes from a preset, with what stands there when the preset is silent. */
export const PRESET_FIELDS = Object.freeze({provider: 'openai', base_url: '', endpoint: '', headers: Object.freeze({}), proxy: '', model: '', template: ''});
/** What the same fields are when a node is silent. */
const NODE_FIELDS = Object.freeze({...PRESET_FIELDS, provider: 'caller'});

/** @typedef {keyof typeof PRESET_FIELDS} PresetField */
/** @type {PresetField[]} */
export const PRESET_FIELD_NAMES = /** @type {any} */ (Object.keys(PRESET_FIELDS));

const loaded = createStore(/** @type {{byId: Record<string, LoadedPreset>}} */ ({byId: {}}));

/**
 * A preset as the server has it now; null while it is not there (yet).
 * @param {string | null} id
 * @returns {LoadedPreset | null}
 */
export function usePreset(id) {
  const etag = useStore((state) => state.library.presets.find((one) => one.id === id)?.etag ?? null);
  const all = useSyncExternalStore(loaded.subscribe, loaded.get);
  const known = id !== null && Object.hasOwn(all.byId, id) ? all.byId[id] : null;
  useEffect(() => {
    if (id !== null && etag !== null && known?.etag !== etag) loadPreset(id).catch(notifyFailure);
  }, [id, etag]);
  return etag === null ? null : known;
}

/**
 * Read a preset. Throws what the client throws.
 * @param {string} id
 * @returns {Promise<LoadedPreset>}
 */
export async function loadPreset(id) {
  const {body} = await api.get(`/api/presets/${encodeURIComponent(id)}`);
  const preset = {id, etag: body.etag, document: isObject(body.document) ? body.document : {}};
  loaded.set((state) => ({byId: {...state.byId, [id]: preset}}));
  return preset;
}

/**
 * What a preset puts into a node.
 * @param {Record<string, any>} document
 * @returns {Record<string, any>}
 */
export function fieldsOfPreset(document) {
  return Object.fromEntries(PRESET_FIELD_NAMES.map((name) => [name, document[name] ?? PRESET_FIELDS[name]]));
}

/**
 * The fields in which a node differs from its preset.
 * @param {Record<string, any>} config
 * @param {Record<string, any>} document
 * @returns {PresetField[]}
 */
export function changedFields(config, document) {
  const wanted = fieldsOfPreset(document);
  return PRESET_FIELD_NAMES.filter((name) => !isSame(config[name] ?? NODE_FIELDS[name], wanted[name]));
}

/**
 * A preset's document with the fields of a node; what else it holds stays.
 * @param {Record<string, any>} document
 * @param {Record<string, any>} config
 */
export function presetWith(document, config) {
  return {...document, ...Object.fromEntries(PRESET_FIELD_NAMES.map((name) => [name, config[name] ?? NODE_FIELDS[name]]))};
}

/**
 * Save a preset. Where its file changed meanwhile, the person decides.
 * @param {string} id
 * @param {Record<string, any>} document
 * @param {string | null} etag of the version that the edits began from; null: there must be none of this id
 * @returns {Promise<LoadedPreset | null>} null when it was not saved
 */
export async function savePreset(id, document, etag) {
  try {
    const {body} = await api.send('PUT', path(id), document, etag === null ? {ifNoneMatch: '*'} : {ifMatch: etag});
    const preset = {id, etag: body.etag, document: body.document ?? document};
    loaded.set((state) => ({byId: {...state.byId, [id]: preset}}));
    await refreshLibrary();
    notify(body.valid ? 'success' : 'warning', body.valid ? 'inspector.presetSaved' : 'inspector.presetSavedWrong', {id});
    return preset;
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 412) {
      notifyFailure(error, 'inspector.presetNotSaved');
      return null;
    }
    if (etag === null) {
      notify('error', 'inspector.presetExists', {id});
      return null;
    }
    return saveAfterAll(id, document, error);
  }
}

/** @param {string} id @param {Record<string, any>} document @param {ApiFailure} refusal */
async function saveAfterAll(id, document, refusal) {
  const current = isObject(refusal.details.current) ? refusal.details.current : null;
  const names = current ? Object.keys({...current, ...document}).filter((name) => !isSame(current[name], document[name])) : [];
  const answer = await ask({
    title: t('inspector.presetConflict', {id}),
    text: t(current ? 'inspector.presetConflictText' : 'inspector.presetGoneText'),
    details: names,
    choices: [{id: 'overwrite', label: t('inspector.presetOverwrite'), tone: 'danger'}],
  });
  if (answer !== 'overwrite') return null;
  return savePreset(id, document, current && refusal.details.etag ? refusal.details.etag : null);
}

/**
 * Delete a preset after asking; its versions stay on the server.
 * @param {string} id
 * @returns {Promise<boolean>}
 */
export async function deletePreset(id) {
  const etag = store.get().library.presets.find((one) => one.id === id)?.etag;
  const answer = await ask({
    title: t('inspector.presetDelete', {id}),
    text: t('inspector.presetDeleteText'),
    choices: [{id: 'delete', label: t('inspector.delete'), tone: 'danger'}],
  });
  if (answer !== 'delete') return false;
  try {
    await api.send('DELETE', path(id), undefined, {ifMatch: etag ?? '*'});
    await refreshLibrary();
    notify('success', 'inspector.presetDeleted', {id});
    return true;
  } catch (error) {
    notifyFailure(error, 'inspector.presetNotDeleted');
    return false;
  }
}

/** @param {string} id */
function path(id) {
  return `/api/presets/${encodeURIComponent(id)}`;
}

/**
 * An id for a file, made of a name: small letters, digits and dashes; free among those that are taken.
 * @param {string} name
 * @param {string[]} taken
 */
export function idFrom(name, taken) {
  const plain = name.normalize('NFKD').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 48) || 'preset';
  if (!taken.includes(plain)) return plain;
  for (let n = 2; ; n += 1) if (!taken.includes(`${plain}-${n}`)) return `${plain}-${n}`;
}
