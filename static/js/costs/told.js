/** What answers and runs cost, read from the ledger: the answers of a page with one request, a run with one for all of its nodes. */
import {h, tags, useEffect, useSyncExternalStore} from '../h.js';
import {openDialog} from '../state/dialogs.js';
import {readMemory, withQuery} from '../state/memory.js';
import {createStore, useStore} from '../state/store.js';
import {t} from '../words.js';
import {Icon} from '../ui/icons.js';
import {extras, price, tokens, total} from './amounts.js';

const {button, span} = tags;

/** @typedef {import('./amounts.js').Sum} Sum */

/** As many floors as the server is asked for at once. */
const AT_ONCE = 100;
/** How many are kept in mind. */
const MOST = 1000;
/** How long after a run's end its last call may be booked. */
const LATER_MS = 600_000;
/** Clocks of a server's processes may differ by so much. */
const EARLIER_MS = 60_000;

const known = createStore(/** @type {{floors: Record<string, {stamp: string, sum: Sum | null}>, runs: Record<string, Sum[]>}} */ ({floors: {}, runs: {}}));
/** Floors that are to be asked for together. @type {Map<string, string>} */
const waiting = new Map();
/** Runs that were asked for. @type {Set<string>} */
const asked = new Set();

/** @param {{floor: string, stamp: string}} props */
export function AnswerTold({floor, stamp}) {
  const sum = useSyncExternalStore(known.subscribe, () => known.get().floors[floor]?.sum ?? null);
  useEffect(() => want(floor, stamp), [floor, stamp]);
  return sum && h(Told, {sum, wanted: {floor_id: floor}, label: t('usage.ofAnswer')});
}

/** Ask for what a floor cost, together with all others that are shown at this moment. @param {string} floor @param {string} stamp */
function want(floor, stamp) {
  if (known.get().floors[floor]?.stamp === stamp) return;
  if (waiting.size === 0) setTimeout(() => void readWaiting(), 0);
  waiting.set(floor, stamp);
}

async function readWaiting() {
  const all = [...waiting];
  waiting.clear();
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const part = all.slice(from, from + AT_ONCE);
    try {
      const {data} = await readMemory(withQuery('/usage/sums', {by: 'floor', floor_ids: part.map(([id]) => id).join(',')}));
      const found = new Map(data.map((/** @type {Sum} */ sum) => [sum.name, sum]));
      const read = Object.fromEntries(part.map(([id, stamp]) => [id, {stamp, sum: found.get(id) ?? null}]));
      known.set(({floors}) => ({floors: Object.keys(floors).length > MOST ? read : {...floors, ...read}}));
    } catch {
      // The talk itself says when the server does not answer; without it an answer still has its words.
    }
  }
}

/** @param {{run: import('../core/doc.js').RunView, node?: string}} props */
export function RunTold({run, node}) {
  const sums = useSyncExternalStore(known.subscribe, () => known.get().runs[run.id] ?? null);
  const isUser = useStore((state) => state.server.me?.role === 'user');
  const start = Math.floor(run.summary.started ?? EARLIER_MS) - EARLIER_MS;
  // Admins see everybody's runs.
  const wanted = {run_id: run.id, start, end: start + EARLIER_MS + Math.ceil(run.duration ?? 0) + LATER_MS, ...(isUser ? {} : {account: '*'})};
  useEffect(() => {
    if (!asked.has(run.id)) void readRun(run.id, wanted);
  }, [run.id]);
  const own = sums?.filter(({name}) => node === undefined || name === node) ?? [];
  return own.length === 0 ? null : h(Told, {sum: total(own), wanted: node === undefined ? wanted : {...wanted, node_id: node}, label: t(node === undefined ? 'usage.ofRun' : 'usage.ofNode')});
}

/** @param {string} id @param {Record<string, any>} wanted */
async function readRun(id, wanted) {
  asked.add(id);
  try {
    const {data} = await readMemory(withQuery('/usage/sums', {by: 'node', ...wanted}));
    known.set(({runs}) => ({runs: {...(Object.keys(runs).length > MOST ? {} : runs), [id]: data}}));
  } catch {
    asked.delete(id); // as above; the next look at the run asks again
  }
}

/** The line itself, which opens the calls that it is made of. @param {{sum: Sum, wanted: Record<string, any>, label: string}} props */
function Told({sum, wanted, label}) {
  const more = extras(sum);
  return button(
    {type: 'button', className: 'cost-told', title: t('usage.showCalls'), onClick: () => openDialog('calls', {wanted, title: label})},
    h(Icon, {name: 'coins', size: 12}),
    span({className: 'visually-hidden'}, label),
    span({className: 'cost-tokens'}, t('usage.inOut', {input: tokens(sum.input_tokens, sum), output: tokens(sum.output_tokens, sum)})),
    more.length ? span({className: 'cost-more'}, more.join(' · ')) : null,
    span({className: 'cost-price'}, price(sum)),
  );
}
