/** What differs between two texts: marked within the later one, or both beside each other. */
import {h, tags, useEffect, useRef} from '../h.js';
import {mark} from './marking.js';

const {div} = tags;

/** @param {{before: string, after: string, labels: [string] | [string, string], className: string}} props one label: in place */
export function Differences({before, after, labels, className}) {
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    const made = host.current ? mark(host.current, {before, after, labels}) : null;
    return () => made?.destroy();
  }, [before, after]);
  return div({ref: host, className});
}
