/** What a chat knows: reading and changing it, and hearing of what other tabs changed. */
import {useEffect, useState} from '../../h.js';
import {readMemory, writeMemory} from '../../state/memory.js';
import {onTurn} from '../../state/session.js';

/**
 * @typedef {object} Item as docs/memories.md has it
 * @property {string} id
 * @property {'global' | 'chat' | 'branch' | 'floor'} scope
 * @property {string} scope_id
 * @property {'fact' | 'summary' | 'open_loop'} type
 * @property {'micro' | 'macro' | null} summary_tier
 * @property {string | {text: string}} content
 * @property {number} importance
 * @property {number} confidence
 * @property {string | null} fact_key
 * @property {'active' | 'deprecated'} status
 * @property {boolean} pinned
 * @property {boolean} waiting
 * @property {string[]} keys
 * @property {string[]} entities
 * @property {{page_id: string, floor_id: string, quote: string | null}[]} sources
 * @property {string | null} source_floor_id
 * @property {'user' | 'model' | 'rule'} author
 * @property {boolean | null} visible
 * @property {string | null} hidden_reason
 * @property {string | null} hidden_by
 * @property {number} updated_at
 *
 * @typedef {import('../talk.js').Place} Place
 */

export const TYPES = /** @type {const} */ (['fact', 'summary', 'open_loop']);

/** The words of an item. @param {Pick<Item, 'content'>} item */
export function textOf({content}) {
  return typeof content === 'string' ? content : content.text;
}

/** The path of an item. @param {string} id */
export function pathOf(id) {
  return `/memories/${encodeURIComponent(id)}`;
}

/** From where items are seen. @param {Place} place */
export function seenFrom({session, branch}) {
  return {session_id: session, branch_id: branch};
}

/** Other tabs of this browser hear of changes here; other browsers read anew when somebody looks at them. */
const channel = new BroadcastChannel('agentui memories');
/** @type {Set<() => void>} */
const listeners = new Set();
channel.onmessage = () => listeners.forEach((listener) => listener());

/** Let everything that shows memories read anew, here and in other tabs. */
export function told() {
  channel.postMessage(null);
  listeners.forEach((listener) => listener());
}

/**
 * Change memories. Throws as `writeMemory` does.
 * @param {'POST' | 'PATCH' | 'DELETE'} method
 * @param {string} path
 * @param {any} [body]
 */
export async function write(method, path, body) {
  const answer = await writeMemory(method, path, body);
  told();
  return answer;
}

/**
 * A number that is another whenever what this chat knows may be otherwise: after a change in any tab, a turn, or when somebody
 * comes back to the page.
 * @param {Place | null} place
 */
export function useChanges(place) {
  const [times, setTimes] = useState(0);
  const session = place?.session;
  useEffect(() => {
    const again = () => setTimes((count) => count + 1);
    const look = () => document.visibilityState === 'visible' && again();
    const end = onTurn((line) => line.session === session && line.state !== 'running' && again());
    listeners.add(again);
    document.addEventListener('visibilitychange', look);
    window.addEventListener('focus', look);
    return () => {
      end();
      listeners.delete(again);
      document.removeEventListener('visibilitychange', look);
      window.removeEventListener('focus', look);
    };
  }, [session]);
  return times;
}

/**
 * Let one memory take the place of another.
 * @param {Item} kept
 * @param {Item} other hidden wherever both are seen
 */
export function merge(kept, other) {
  return write('POST', '/memory-edges', {from_id: kept.id, to_id: other.id, relation: 'updates'});
}

/** Let a memory hold again beside the one that took its place. @param {Item} item */
export async function separate({id, hidden_by: by}) {
  const {data} = await readMemory(`/memory-edges?from_id=${encodeURIComponent(by ?? '')}&to_id=${encodeURIComponent(id)}`);
  for (const edge of data) if (['updates', 'resolves', 'compacts'].includes(edge.relation)) await write('DELETE', `/memory-edges/${encodeURIComponent(edge.id)}`);
}
