/** What a page beside the talk reads of the server: waited for, there, or not to be had. */
import {useEffect, useState} from '../h.js';
import {reasonOf} from './failures.js';
import {readMemory, writeMemory} from './memory.js';
import {notify} from './notices.js';

/** @typedef {{data: any} | {error: string} | null} Reading null: it is being read */

/**
 * Read a path, and again whenever the path or `again` is another. What was read before stays until the new one is there, unless
 * the path is another.
 * @param {string | null} path null: nothing is to be read
 * @param {unknown} [again]
 * @param {'data' | 'items' | null} [member] where the answer has what is read; null: it is the whole of it
 * @returns {Reading}
 */
export function useReading(path, again, member = 'data') {
  const [read, setRead] = useState(/** @type {{path: string | null, reading: Reading}} */ ({path: null, reading: null}));
  useEffect(() => {
    let isStale = false;
    if (path === null) return undefined;
    readMemory(path).then(
      (answer) => isStale || setRead({path, reading: {data: member === null ? answer : answer[member]}}),
      (error) => isStale || setRead({path, reading: {error: reasonOf(error)}}),
    );
    return () => {
      isStale = true;
    };
  }, [path, again]);
  return read.path === path ? read.reading : null;
}

/**
 * Change something; says so where it is refused.
 * @param {'POST' | 'PUT' | 'PATCH' | 'DELETE'} method
 * @param {string} path
 * @param {any} body
 * @returns {Promise<boolean>} whether it was changed
 */
export async function change(method, path, body) {
  try {
    await writeMemory(method, path, body);
    return true;
  } catch (error) {
    notify('error', 'app.failure', {message: reasonOf(error)});
    return false;
  }
}
