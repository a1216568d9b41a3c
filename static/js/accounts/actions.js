/** The actions of who asks: one's account and keys, the other people, and leaving. Without accounts there are none. */
import {api, setToken} from '../api/client.js';
import {openDialog} from '../state/dialogs.js';
import {beginAnew, leaveFor} from '../state/leaving.js';
import {notifyFailure} from '../state/notices.js';
import {hasPeople, mayManagePeople} from '../state/rights.js';

/** Leave this browser. The page begins anew, so that nothing of what it showed is left in it. */
async function signOut() {
  let provider = null;
  try {
    const {body} = await api.send('POST', '/auth/sign-out');
    provider = body.data.provider_url;
  } catch (error) {
    // The cookie is still there: who believes to be gone is not.
    notifyFailure(error);
    return;
  }
  setToken(null);
  if (provider === null) beginAnew();
  else leaveFor(provider);
}

/** @type {import('../actions.js').Action[]} */
export const accountsActions = [
  {id: 'accounts.mine', title: 'accounts.action.mine', icon: 'user', offered: hasPeople, when: hasPeople, run: () => openDialog('my-account')},
  {id: 'accounts.keys', title: 'accounts.action.keys', icon: 'key', offered: hasPeople, when: hasPeople, run: () => openDialog('my-keys')},
  {id: 'accounts.people', title: 'accounts.action.people', icon: 'list', offered: mayManagePeople, when: mayManagePeople, run: () => openDialog('people')},
  {id: 'accounts.signOut', title: 'accounts.action.signOut', icon: 'power', offered: hasPeople, when: hasPeople, run: () => void signOut()},
];
