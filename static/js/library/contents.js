/** What an asset holds: reading it, writing it as the next version, and going back to one. The server spells each kind its own way. */
import {readAll, readMemory, withQuery, writeMemory} from '../state/memory.js';
import {pathOf} from './kinds.js';
import {newPreset} from './forms/prompts.js';

/**
 * @typedef {import('./kinds.js').Kind} Kind
 *
 * @typedef {object} Opened
 * @property {string} id
 * @property {string} name
 * @property {number} revision counts every change: one names what it changes, so that nobody's change is lost
 * @property {number} version counts its contents from 1; some kinds name it in place of the revision
 * @property {string | null} image the hash of its picture
 * @property {any} content SillyTavern's own JSON
 * @property {boolean} isNamed whether a prompt preset's content has a name of its own beside the asset's
 *
 * @typedef {object} Version
 * @property {string} id
 * @property {number} number counted from 1
 * @property {number} created_at milliseconds since 1970
 * @property {boolean} isCurrent
 * @property {any} content
 */

/** How many are read at once: each comes with its content. */
const VERSIONS = 20;

/** @param {Kind} kind @param {string} id @returns {Promise<Opened>} */
export async function readAsset(kind, id) {
  const {data} = await readMemory(pathOf(kind, id));
  return {id, name: data.name, revision: data.revision, version: data.version, image: data.image, content: contentOf(kind, data), isNamed: kind === 'preset' && 'name' in data.data};
}

/** @param {Kind} kind @param {any} data the answer's asset */
function contentOf(kind, data) {
  if (kind === 'character') return data.latest_version.snapshot;
  if (kind === 'user') return data.snapshot;
  return {...data.data, name: data.name};
}

/** What makes an asset with nothing but a name. @param {Kind} kind @param {string} name */
export function newContent(kind, name) {
  if (kind === 'character' || kind === 'user') return {snapshot: {name}};
  return {name, data: kind === 'regex' ? [] : kind === 'worldbook' ? {entries: {}} : newPreset()};
}

/**
 * Write the next version.
 * @param {Kind} kind
 * @param {Opened} asset as it was read
 * @param {any} content
 */
export async function writeAsset(kind, {id, revision, version, isNamed}, content) {
  const path = pathOf(kind, id);
  if (kind === 'character') return writeMemory('POST', `${path}/versions`, {snapshot: content, expected_revision: revision});
  if (kind === 'user') return writeMemory('PATCH', path, {snapshot: content, expected_revision: revision});
  const {name, ...data} = content;
  if (kind === 'regex') return writeMemory('PUT', path, {name, data: data.scripts, expected_version: version});
  if (kind === 'worldbook') return writeMemory('PUT', path, {name, data: {name, ...data}, expected_version: version});
  const {prompts, prompt_order, ...rest} = data;
  const top = isNamed ? {name, ...rest} : rest;
  return writeMemory('PUT', path, {
    name,
    expected_version: version,
    editor: {default_character_id: 100001, entries: prompts ?? [], order_contexts: prompt_order ?? [], top_level: top},
  });
}

/** Read an asset, change it, and write it. @param {Kind} kind @param {string} id @param {(content: any) => any} change */
export async function saveContent(kind, id, change) {
  const asset = await readAsset(kind, id);
  return writeAsset(kind, asset, change(asset.content));
}

/** The versions of an asset, the newest first. @param {Kind} kind @param {string} id @returns {Promise<Version[]>} */
export async function readVersions(kind, id) {
  const versions = await readAll(withQuery(`${pathOf(kind, id)}/versions`, {sort_by: 'version_no', sort_order: 'desc'}), VERSIONS);
  return versions.map(({id: version, version_no, created_at, snapshot}, place) => ({id: version, number: version_no, created_at, isCurrent: place === 0, content: snapshot}));
}

/** Kinds whose changes name the revision; the others name the version. @param {Kind} kind */
const countsRevisions = (kind) => kind === 'character' || kind === 'user';

/** Make an old version the newest again. @param {Kind} kind @param {Opened} asset @param {string} version */
export async function rollBack(kind, {id, revision, version: number}, version) {
  const guard = countsRevisions(kind) ? {expected_revision: revision} : {expected_version: number};
  return writeMemory('POST', `${pathOf(kind, id)}/versions/${encodeURIComponent(version)}/rollback`, guard);
}

/** Whether the regex scripts inside a character or a prompt preset run. @param {Kind} kind @param {Opened} asset @returns {Promise<boolean>} */
export async function areScriptsAllowed(kind, {id}) {
  return (await readMemory(`${pathOf(kind, id)}/scripts`)).data.allowed;
}

/** @param {Kind} kind @param {Opened} asset @param {boolean} allowed */
export async function allowScripts(kind, {id, revision}, allowed) {
  return writeMemory('PUT', `${pathOf(kind, id)}/scripts`, {allowed, expected_revision: revision});
}
