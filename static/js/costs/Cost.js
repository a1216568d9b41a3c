/**
 * What an answer or a run cost, beside it. Where no ledger is kept there is nothing, and nothing is asked for; elsewhere the code, the words
 * and the sheet for it come when the first is shown.
 */
import {h, useEffect, useState} from '../h.js';
import {useStore} from '../state/store.js';
import {loadSheet} from '../sheets.js';
import {hasArea, loadArea} from '../words.js';

/** @typedef {typeof import('./told.js')} Told */

/** @type {Told | null} */
let loaded = null;

/** @returns {Promise<Told>} */
async function load() {
  const [told] = await Promise.all([import('./told.js'), loadArea('usage'), loadSheet('usage')]);
  loaded = told;
  return told;
}

/** @param {boolean} isWanted @returns {Told | null} */
function useTold(isWanted) {
  const keeps = useStore((state) => state.server.keepsUsage);
  const [told, setTold] = useState(hasArea('usage') ? loaded : null);
  useEffect(() => {
    // A page without it is a page without costs: whatever keeps it from loading is told where it matters more.
    if (keeps && isWanted && told === null) load().then(setTold, () => null);
  }, [keeps, isWanted]);
  return keeps && isWanted ? told : null;
}

/** @param {{floor: string, stamp: string}} props `stamp` changes when the floor has another answer */
export function AnswerCost(props) {
  const told = useTold(true);
  return told && h(told.AnswerTold, props);
}

/** What a run that is over cost, or one node of it. @param {{run: import('../core/doc.js').RunView, node?: string}} props */
export function RunCost(props) {
  const told = useTold(props.run.state !== 'running');
  return told && h(told.RunTold, props);
}
