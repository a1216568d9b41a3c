/**
 * The talk of a chat's branch as far as it was read: a part of its floors without gaps, the turn that is on its way, and what is
 * being typed. A branch may have twenty thousand floors; the page holds a hundred of them.
 */
import {useSyncExternalStore} from '../h.js';
import {createStore, store} from '../state/store.js';
import {onTurn} from '../state/session.js';
import {readMemory, withQuery} from '../state/memory.js';
import {reasonOf} from '../state/failures.js';

/**
 * @typedef {{session: string, branch: string}} Place
 *
 * @typedef {object} Message
 * @property {string} id
 * @property {string} role
 * @property {string} content
 * @property {boolean} is_hidden
 *
 * @typedef {object} Page
 * @property {string} id
 * @property {number} page_no
 * @property {string} page_kind
 * @property {boolean} is_active
 * @property {boolean} [is_partial] its words broke off
 * @property {number} version
 * @property {Message[]} messages
 *
 * @typedef {object} Floor
 * @property {string} id
 * @property {number} floor_no
 * @property {string} [branch_id] where it lies: of a fork's ancestors not the branch that is shown
 * @property {number} token_in
 * @property {number} token_out
 * @property {number} created_at milliseconds since 1970
 * @property {Page[]} pages
 *
 * @typedef {object} Turn a turn of this page that is on its way, or failed
 * @property {'respond' | 'regenerate' | 'retry' | 'edit' | 'continue' | 'draft'} kind `draft`: words for the field, which are nobody's turn
 * @property {string | null} target the floor that is answered anew; null: a new one
 * @property {string | null} words what the person said; null where it stands in the target
 * @property {string} branch where it is played: an edit makes a branch of its own
 * @property {string} text the answer so far
 * @property {import('./toolcalls.js').Heard[]} calls the tools that were called for it so far
 * @property {string | null} phase what the server is doing: its `public_phase`
 * @property {'running' | 'stopping' | 'failed'} state
 * @property {{code: string, message: string, details?: any} | null} error
 *
 * @typedef {object} Talk
 * @property {'idle' | 'loading' | 'ready' | 'failed'} state
 * @property {Floor[]} floors
 * @property {number} from the place of the first of them on the branch, from 0
 * @property {number} total
 * @property {string | null} error
 * @property {string} draft
 * @property {Turn | null} turn
 * @property {{floor: string, run: any} | null} elsewhere what somebody else generates on this branch
 */

/** How many floors are read at once, and how many are held. */
const PART = 30;
const MOST = 90;
const REST_MS = 300;

/** @type {Talk} */
const NOTHING = Object.freeze({state: 'idle', floors: [], from: 0, total: 0, error: null, draft: '', turn: null, elsewhere: null});

/** Talks by the key of their place. */
export const talks = createStore(/** @type {{byPlace: Record<string, Talk>}} */ ({byPlace: {}}));
/** The newest reading of each talk; older answers are not taken. @type {Map<string, number>} */
const readings = new Map();

/** @param {Place} place */
const keyOf = ({session, branch}) => JSON.stringify([session, branch]);

/** @param {Place} place */
export function talkOf(place) {
  return talks.get().byPlace[keyOf(place)] ?? NOTHING;
}

/** @param {Place} place */
export function useTalk(place) {
  return useSyncExternalStore(talks.subscribe, () => talkOf(place));
}

/** @param {Place} place @param {Partial<Talk>} patch */
export function setTalk(place, patch) {
  talks.set(({byPlace}) => ({byPlace: {...byPlace, [keyOf(place)]: {...talkOf(place), ...patch}}}));
}

/** The place that is chosen; null where no chat is. @param {import('../state/types.js').State} [state] @returns {Place | null} */
export function chosenPlace(state = store.get()) {
  const {session, branch} = state.session;
  return session === null ? null : {session, branch: branch ?? 'main'};
}

/** Whether the page shows the end of the branch. @param {Talk} talk */
export function isAtEnd({from, floors, total}) {
  return from + floors.length >= total;
}

/** Whether an answer of this page is on its way. @param {Talk} talk */
export function isBusy({turn}) {
  return turn !== null && turn.state !== 'failed';
}

/** Read the end of the branch. @param {Place} place */
export async function loadEnd(place) {
  await reading(place, async () => {
    const {total: known} = talkOf(place);
    const from = Math.max(0, known - PART);
    const part = await readPart(place, from, PART);
    // A part is cut short where its texts are long, and others may have written meanwhile.
    return from + part.floors.length >= part.total ? {...part, from} : untilEnd(place, part.total);
  });
}

/** Read anew what is shown, and what was added at its end. @param {Place} place */
export async function reload(place) {
  const {from, floors, state} = talkOf(place);
  if (state === 'idle' || isAtEnd(talkOf(place))) return loadEnd(place);
  await reading(place, async () => ({...(await readPart(place, from, floors.length)), from}));
}

/** Read what precedes the floors that are held; the newest of them are let go where they are too many. @param {Place} place */
export async function loadEarlier(place) {
  const {from, state} = talkOf(place);
  if (from === 0 || state === 'loading') return;
  await reading(place, async () => {
    const start = Math.max(0, from - PART);
    const {floors, total} = await readPart(place, start, from - start);
    // Cut short: what is missing lies between the two parts, so the older one stands alone.
    const held = start + floors.length === from ? talkOf(place).floors : [];
    return {floors: [...floors, ...held].slice(0, MOST), total, from: start};
  });
}

/** Read what follows the floors that are held. @param {Place} place */
export async function loadLater(place) {
  const talk = talkOf(place);
  if (isAtEnd(talk) || talk.state === 'loading') return;
  await reading(place, async () => {
    const {floors, total} = await readPart(place, talk.from + talk.floors.length, PART);
    const all = [...talkOf(place).floors, ...floors];
    const gone = Math.max(0, all.length - MOST);
    return {floors: all.slice(gone), total, from: talk.from + gone};
  });
}

/** Read floors of a place; the newest reading wins. @param {Place} place @param {() => Promise<{floors: Floor[], total: number, from: number}>} read */
export async function reading(place, read) {
  const key = keyOf(place);
  const mine = (readings.get(key) ?? 0) + 1;
  readings.set(key, mine);
  setTalk(place, {state: 'loading'});
  forgetOthers(key);
  try {
    const found = await read();
    if (readings.get(key) === mine) setTalk(place, {...found, state: 'ready', error: null});
  } catch (error) {
    if (readings.get(key) === mine) setTalk(place, {state: 'failed', error: reasonOf(error)});
  }
}

/** Floors of places that nobody looks at are let go; what was typed there stays. @param {string} key */
function forgetOthers(key) {
  talks.set(({byPlace}) => ({
    byPlace: Object.fromEntries(
      Object.entries(byPlace)
        .filter(([other, {draft, turn}]) => other === key || draft !== '' || turn !== null)
        .map(([other, talk]) => [other, other === key ? talk : {...NOTHING, draft: talk.draft, turn: talk.turn}]),
    ),
  }));
}

/** A part of a branch, with what its ancestors have of it. @param {Place} place @param {number} offset @param {number} limit @returns {Promise<{floors: Floor[], total: number}>} */
export async function readPart({session, branch}, offset, limit) {
  const path = `/sessions/${encodeURIComponent(session)}/timeline`;
  const {data, meta} = await readMemory(withQuery(path, {branch_id: branch, include_ancestors: true, offset, limit}));
  return {floors: data.floors, total: meta.total};
}

/** @param {Place} place @param {number} total */
async function untilEnd(place, total) {
  const from = Math.max(0, total - PART);
  /** @type {Floor[]} */
  const floors = [];
  for (;;) {
    const part = await readPart(place, from + floors.length, PART);
    floors.push(...part.floors);
    if (part.floors.length === 0 || from + floors.length >= part.total) return {floors, total: part.total, from};
  }
}

/** Follow what other clients do on the chosen branch; the answer ends it. */
export function followOthers() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const stop = onTurn(({session}) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      const place = chosenPlace();
      if (place === null || place.session !== session || isBusy(talkOf(place))) return;
      void readElsewhere(place);
      void reload(place);
    }, REST_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** Learn whether somebody else generates here, and what they have so far. @param {Place} place */
export async function readElsewhere(place) {
  try {
    const {data} = await readMemory(withQuery(`/sessions/${encodeURIComponent(place.session)}/active-run`, {branch_id: place.branch}));
    const floor = data.active_run?.latest_floor_id ?? null;
    const run = floor === null ? null : (await readMemory(`/floors/${encodeURIComponent(floor)}/run`)).data.run;
    setTalk(place, {elsewhere: floor === null || isBusy(talkOf(place)) ? null : {floor, run}});
  } catch {
    // What others do is told when it can be; the talk itself says what is wrong.
    setTalk(place, {elsewhere: null});
  }
}
