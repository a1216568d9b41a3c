/** The way from a memory to where it was said. */
import {flushSync} from '../../h.js';
import {readPart, reading, talkOf} from '../talk.js';
import {showPage} from '../look.js';
import {readMemory} from '../../state/memory.js';
import {notify, notifyFailure} from '../../state/notices.js';
import {chooseSession} from '../../state/session.js';

const PART = 30;

/**
 * Show a floor in the talk: on the branch that is chosen where it lies on its path, else on its own.
 * @param {import('../talk.js').Place} place the one that is chosen
 * @param {string} id of the floor
 */
export async function showFloor(place, id) {
  try {
    const floor = (await readMemory(`/floors/${encodeURIComponent(id)}`)).data;
    if (!(await loadAround(place, floor))) {
      const own = {session: floor.session_id, branch: floor.branch_id};
      // At once, or the page would read the end of that branch behind this reading.
      flushSync(() => chooseSession(own));
      if (!(await loadAround(own, floor))) {
        notify('warning', 'memories.floorAside');
        return;
      }
    }
    // Beside a wide page the talk is in sight already.
    if (document.querySelector('.chat-wide') === null) flushSync(() => showPage('talk'));
    requestAnimationFrame(() => requestAnimationFrame(() => reveal(id)));
  } catch (error) {
    notifyFailure(error);
  }
}

/** @param {string} id */
function reveal(id) {
  const node = /** @type {HTMLElement | null} */ (document.querySelector(`[data-floor="${CSS.escape(id)}"]`));
  if (node === null) return;
  node.tabIndex = -1;
  node.scrollIntoView({block: 'center'});
  node.focus({preventScroll: true});
}

/**
 * Read the floors around one; the talk stays as it is where that one does not lie on the branch.
 * @param {import('../talk.js').Place} place
 * @param {{id: string, floor_no: number}} floor
 * @returns {Promise<boolean>} whether it lies there
 */
async function loadAround(place, {id, floor_no: number}) {
  /** @param {readonly {id: string}[]} floors */
  const hasIt = (floors) => floors.some((one) => one.id === id);
  if (hasIt(talkOf(place).floors)) return true;
  let isThere = false;
  await reading(place, async () => {
    const {floors, from, total} = talkOf(place);
    let [low, high] = [0, Infinity];
    // Numbers rise along the path, mostly by one.
    let at = Math.max(0, number - PART / 2);
    for (;;) {
      const part = await readPart(place, at, PART);
      if (hasIt(part.floors)) {
        isThere = true;
        return {...part, from: at};
      }
      if (part.floors.length === 0 || part.floors[0].floor_no > number) high = Math.min(at, part.total);
      else if (/** @type {import('../talk.js').Floor} */ (part.floors.at(-1)).floor_no < number) low = at + part.floors.length;
      else break;
      if (low >= high || low >= part.total) break;
      at = Math.max(low, Math.floor((low + Math.min(high, part.total)) / 2) - PART / 2);
    }
    return {floors, from, total};
  });
  return isThere;
}
