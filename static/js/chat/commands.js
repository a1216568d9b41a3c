/** What can be done to a chat beside playing turns: choose a version, go back, hide, drop, say which pipeline answers. */
import {ask} from '../state/dialogs.js';
import {reasonOf} from '../state/failures.js';
import {branchesOf, loadList, SESSIONS} from '../state/chats.js';
import {readMemory, writeMemory} from '../state/memory.js';
import {notify} from '../state/notices.js';
import {refreshStored} from '../state/session.js';
import {t} from '../words.js';
import {loadEnd, reload} from './talk.js';
import {readOf} from './toolcalls.js';

/** @typedef {import('./talk.js').Place} Place */
/** @typedef {import('./talk.js').Floor} Floor */

/** @param {string} id */
const part = (id) => encodeURIComponent(id);

/** Do something, and say so when it is refused. @param {() => Promise<unknown>} work @returns {Promise<boolean>} whether it was done */
async function tried(work) {
  try {
    await work();
    return true;
  } catch (error) {
    notify('error', 'app.failure', {message: reasonOf(error)});
    return false;
  }
}

/** Let another version of an answer count, with the variables that it wrote. @param {Place} place @param {string} page */
export async function choosePage(place, page) {
  await tried(() => writeMemory('PATCH', `/pages/${part(page)}/activate`));
  await Promise.all([reload(place), refreshStored()]);
}

/** Set aside what was said behind a floor. @param {Place} place @param {Floor} floor */
export async function goBackTo(place, floor) {
  const answer = await ask({
    title: t('chat.backTitle', {number: String(floor.floor_no)}),
    text: t('chat.backText'),
    choices: [{id: 'back', label: t('chat.back'), tone: 'danger'}],
  });
  if (answer !== 'back') return;
  const path = `/sessions/${part(place.session)}/branches/${part(place.branch)}/reset`;
  if (!(await tried(() => writeMemory('POST', path, {target_floor_id: floor.id})))) return;
  notify('success', 'chat.wentBack', {number: String(floor.floor_no)});
  await Promise.all([loadEnd(place), refreshStored(), loadList(branchesOf(place.session))]);
}

/** Show which tools the turns of a floor called; say so where they called none. @param {string} floor */
export async function showCalls(floor) {
  await tried(async () => {
    if ((await readOf(floor)) === 0) notify('info', 'chat.noCalls');
  });
}

/** Let go of an answer that broke off; the whole floor where it has no other. @param {Place} place @param {Floor} floor @param {string} page */
export async function drop(place, floor, page) {
  const others = floor.pages.filter((one) => one.page_kind === 'output' && one.id !== page);
  const path = others.length ? `/pages/${part(page)}` : `/floors/${part(floor.id)}`;
  await tried(() => writeMemory('DELETE', path));
  // One after the other: what the newest turn changed is not asked of a page that is gone.
  await loadEnd(place);
  await refreshStored();
}

/**
 * @typedef {object} Visibility what a branch's policy says of the floors that the model is told of
 * @property {string[]} hidden_floor_ids
 * @property {{start_floor_no: number, end_floor_no: number}[]} hidden_floor_ranges
 */

/** @param {Place} place */
const policyPath = ({session, branch}) => `/sessions/${part(session)}/prompt-runtime/branches/${part(branch)}/policy`;

/**
 * Which floors the model is not told of.
 * @param {Place} place
 * @returns {Promise<Visibility | null>} null where nobody said so
 */
export async function readVisibility(place) {
  try {
    return (await readMemory(policyPath(place))).data.resolved_policy?.visibility ?? null;
  } catch {
    // Hidden floors are marked where that is known; the talk can be read without.
    return null;
  }
}

/** @param {Visibility | null} visibility @param {Floor} floor */
export function isHidden(visibility, {id, floor_no}) {
  if (visibility === null) return false;
  const ranges = (visibility.hidden_floor_ranges ?? []).map(({start_floor_no, end_floor_no}) => [start_floor_no, end_floor_no].sort((a, b) => a - b));
  return (visibility.hidden_floor_ids ?? []).includes(id) || ranges.some(([first, last]) => first <= floor_no && floor_no <= last);
}

/**
 * Hide a floor from the model, or show it again.
 * @param {Place} place
 * @param {Floor} floor
 * @param {Visibility | null} visibility that of now
 */
export function toggleHidden(place, {id}, visibility) {
  const known = visibility?.hidden_floor_ids ?? [];
  const hidden = known.includes(id) ? known.filter((one) => one !== id) : [...known, id];
  return tried(() => writeMemory('PATCH', policyPath(place), {visibility: {hidden_floor_ids: hidden}}));
}

/** Say whether what plain clients send is made into the prompt of a chat. @param {any} session */
export async function toggleAssembly(session) {
  if (await tried(() => writeMemory('PATCH', `/sessions/${part(session.id)}`, {assemble: !session.assemble}))) await loadList(SESSIONS);
}

/** Say which pipeline answers a chat. @param {string} session @param {string | null} pipeline null: the usual one */
export async function setPipeline(session, pipeline) {
  if (await tried(() => writeMemory('PATCH', `/sessions/${part(session)}`, {pipeline_id: pipeline}))) await loadList(SESSIONS);
}
