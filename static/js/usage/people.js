/** The names of the accounts, for admins of a server with several. */
import {useEffect, useState} from '../h.js';
import {api} from '../api/client.js';
import {mayManagePeople} from '../state/rights.js';
import {useStore} from '../state/store.js';

/** @typedef {ReadonlyMap<string, string>} People names by id */

/** @type {People} */
const NOBODY = new Map();

/** Who there is; nobody where one manages no people, or until it is known. @returns {People} */
export function usePeople() {
  const manages = useStore(mayManagePeople);
  const [people, setPeople] = useState(NOBODY);
  useEffect(() => {
    if (!manages) return;
    // Without the names the ids are shown.
    api.get('/accounts').then(({body}) => setPeople(new Map(body.data.map((/** @type {any} */ one) => [one.id, one.name]))), () => null);
  }, [manages]);
  return people;
}

/** Whether what is shown may be everybody's. @param {import('../state/types.js').State} state */
export function seesAll({server}) {
  return server.me === null || server.me.role === 'admin';
}
