/** What the server says of a text while one types: asked once the typing rests; an answer that is no longer wanted is left out. */
import {useEffect, useState} from '../../h.js';
import {writeMemory} from '../../state/memory.js';
import {reasonOf} from '../../state/failures.js';

const REST_MS = 250;

/**
 * @template T
 * @typedef {object} Trial
 * @property {T | null} result the newest answer; null before the first, and where nothing is asked
 * @property {string | null} error
 */

/**
 * @template T
 * @param {string} path
 * @param {any} body what is tried; null asks nothing
 * @returns {Trial<T>}
 */
export function useTrial(path, body) {
  const [told, setTold] = useState(/** @type {Trial<T>} */ ({result: null, error: null}));
  useEffect(() => {
    if (body === null) {
      setTold({result: null, error: null});
      return undefined;
    }
    let isWanted = true;
    const timer = setTimeout(async () => {
      try {
        const {data} = await writeMemory('POST', path, body);
        if (isWanted) setTold({result: data, error: null});
      } catch (failure) {
        if (isWanted) setTold((old) => ({...old, error: reasonOf(failure)}));
      }
    }, REST_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [path, body]);
  return told;
}
