/** The picture of a character; its first letter where there is none. */
import {api} from '../api/client.js';
import {h, tags, useEffect, useState} from '../h.js';
import {pathOf} from './kinds.js';

const {img, span} = tags;

/** Pictures that were read, by their hash, as addresses of this page. @type {Map<string, Promise<string>>} */
const known = new Map();
/** How many are kept; the oldest are let go. */
const MOST = 200;

/** @param {string} id of a character @param {string} hash @returns {Promise<string>} */
function pictureOf(id, hash) {
  const found = known.get(hash);
  if (found !== undefined) return found;
  // The address of an image cannot carry the access token, so it is read like everything else.
  const reading = api.raw(`${pathOf('character', id)}/image`).then(async (response) => {
    if (!response.ok) throw new Error(`The picture was not read (${response.status}).`);
    return URL.createObjectURL(await response.blob());
  });
  // One that was not read is asked for again the next time it is shown.
  reading.catch(() => known.delete(hash));
  known.set(hash, reading);
  if (known.size > MOST) letGo(/** @type {string} */ (known.keys().next().value));
  return reading;
}

/** @param {string} hash */
function letGo(hash) {
  known.get(hash)?.then((address) => URL.revokeObjectURL(address), () => null);
  known.delete(hash);
}

/** @param {{id: string, name: string, image: string | null}} props `image`: the hash of the picture; null where there is none */
export function Picture({id, name, image}) {
  const [address, setAddress] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    setAddress(null);
    if (image === null) return undefined;
    let isGone = false;
    // Without its picture a card is as good as one that never had any.
    pictureOf(id, image).then((found) => !isGone && setAddress(found), () => null);
    return () => {
      isGone = true;
    };
  }, [id, image]);
  return address === null
    ? span({className: 'library-picture library-letter', 'aria-hidden': true}, [...name.trim()][0]?.toUpperCase() ?? '?')
    : img({className: 'library-picture', src: address, alt: '', loading: 'lazy', draggable: false});
}
