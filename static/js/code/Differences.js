/** What differs between two texts: marked within the later one, or both beside each other. */
import {h, tags, useEffect, useRef} from '../h.js';
import {notifyFailure} from '../state/notices.js';

const {div} = tags;

/** @param {{before: string, after: string, labels: [string] | [string, string], className: string}} props one label: in place */
export function Differences({before, after, labels, className}) {
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    let isGone = false;
    /** @type {{destroy: () => void} | null} */
    let made = null;
    import('./marking.js').then(({mark}) => {
      if (host.current && !isGone) made = mark(host.current, {before, after, labels});
    }, notifyFailure);
    return () => {
      isGone = true;
      made?.destroy();
    };
  }, [before, after]);
  return div({ref: host, className});
}
