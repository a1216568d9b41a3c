/** One's own ways to sign in beside the password: passkeys, and the sign-on that is linked to the account. */
import {api} from '../api/client.js';
import {Fragment, h, tags, useState} from '../h.js';
import {ask, askText} from '../state/dialogs.js';
import {reasonOf} from '../state/failures.js';
import {notify, notifyFailure} from '../state/notices.js';
import {useReading} from '../state/reading.js';
import {timeInWords} from '../state/times.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {addPasskey, knowsPasskeys, passkeyReason} from './passkeys.js';
import {goToProvider} from './signon.js';

const {div, h3, li, p, section, span, ul} = tags;

const MOST_NAME = 120;

/** The ways that this server has. */
export function WaysIn() {
  const ways = useReading('/auth/ways');
  if (ways === null) return h(Waiting);
  if ('error' in ways) return h(NotRead, null, ways.error);
  const has = /** @type {string[]} */ (ways.data.ways);
  return h(Fragment, null, has.includes('passkey') ? h(Passkeys, {home: ways.data.public_url}) : null, has.includes('oidc') ? h(Identities, {provider: ways.data.provider_name}) : null);
}

/** @param {{home: string}} props where passkeys count */
function Passkeys({home}) {
  const [again, setAgain] = useState(0);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const read = useReading('/auth/passkeys', again);
  const isHome = location.origin === home && knowsPasskeys();
  const add = async () => {
    setFailure(null);
    const name = await askText({title: t('accounts.passkeyAdd'), label: t('accounts.name'), value: '', hint: t('accounts.passkeyNameHint'), confirm: t('accounts.add'), check: wrongName});
    if (name === null) return;
    try {
      await addPasskey(name.trim());
      notify('success', 'accounts.passkeyAdded', {name: name.trim()});
    } catch (error) {
      setFailure(passkeyReason(error));
    }
    setAgain(again + 1);
  };
  /** @param {{id: string, name: string}} one */
  const rename = async ({id, name}) => {
    const next = await askText({title: t('accounts.passkeyRename', {name}), label: t('accounts.name'), value: name, confirm: t('app.save'), check: wrongName});
    if (next === null) return;
    await api.send('PATCH', `/auth/passkeys/${encodeURIComponent(id)}`, {name: next.trim()}).catch(notifyFailure);
    setAgain(again + 1);
  };
  /** @param {{id: string, name: string}} one */
  const remove = async ({id, name}) => {
    const answer = await ask({title: t('accounts.passkeyRemove', {name}), text: t('accounts.passkeyRemoveText'), choices: [{id: 'remove', label: t('accounts.removeWay'), tone: 'danger'}]});
    if (answer !== 'remove') return;
    setFailure(null);
    await api.send('DELETE', `/auth/passkeys/${encodeURIComponent(id)}`).catch((error) => setFailure(reasonOf(error)));
    setAgain(again + 1);
  };
  return section(
    {'aria-label': t('accounts.passkeys')},
    h3(null, t('accounts.passkeys')),
    p({className: 'text-soft'}, isHome ? t('accounts.passkeysText') : t('accounts.passkeysElsewhere', {home})),
    failure === null ? null : p({className: 'field-error', role: 'alert'}, failure),
    isHome ? h(Button, {label: t('accounts.passkeyAdd'), icon: 'add', onClick: () => void add()}) : null,
    read === null
      ? h(Waiting)
      : 'error' in read
        ? h(NotRead, null, read.error)
        : ul(
            {className: 'key-list', 'aria-label': t('accounts.passkeys')},
            read.data.map((/** @type {any} */ one) =>
              li(
                {key: one.id, className: 'key-line'},
                div(
                  {className: 'key-text'},
                  span(null, one.name, ' ', one.is_backed_up ? span({className: 'chip'}, t('accounts.passkeySynced')) : null),
                  span(
                    {className: 'text-soft'},
                    t('accounts.keyCreated', {time: timeInWords(one.created_at)}),
                    ' · ',
                    one.last_used_at === null ? t('accounts.keyUnused') : t('accounts.keyUsed', {time: timeInWords(one.last_used_at)}),
                  ),
                ),
                h(Button, {label: t('accounts.rename'), onClick: () => void rename(one), rest: {'aria-label': t('accounts.passkeyRename', {name: one.name})}}),
                h(Button, {label: t('accounts.removeWay'), icon: 'trash', onClick: () => void remove(one), rest: {'aria-label': t('accounts.passkeyRemove', {name: one.name})}}),
              ),
            ),
          ),
  );
}

/** @param {{provider: string | null}} props what the operator calls the identity provider */
function Identities({provider}) {
  const [again, setAgain] = useState(0);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const read = useReading('/auth/identities', again);
  const name = provider ?? t('accounts.signOn');
  const link = () => goToProvider('link').catch((error) => setFailure(reasonOf(error)));
  /** @param {string} id @param {string} who */
  const remove = async (id, who) => {
    const answer = await ask({title: t('accounts.unlink', {name: who}), text: t('accounts.unlinkText'), choices: [{id: 'remove', label: t('accounts.removeWay'), tone: 'danger'}]});
    if (answer !== 'remove') return;
    setFailure(null);
    await api.send('DELETE', `/auth/identities/${encodeURIComponent(id)}`).catch((error) => setFailure(reasonOf(error)));
    setAgain(again + 1);
  };
  return section(
    {'aria-label': name},
    h3(null, name),
    p({className: 'text-soft'}, t('accounts.linkText')),
    failure === null ? null : p({className: 'field-error', role: 'alert'}, failure),
    h(Button, {label: t('accounts.link', {name}), icon: 'add', onClick: () => void link()}),
    read === null
      ? h(Waiting)
      : 'error' in read
        ? h(NotRead, null, read.error)
        : ul(
            {className: 'key-list', 'aria-label': name},
            read.data.map((/** @type {any} */ one) =>
              li(
                {key: one.id, className: 'key-line'},
                div(
                  {className: 'key-text'},
                  span(null, one.email ?? one.subject),
                  span({className: 'text-soft'}, one.last_used_at === null ? t('accounts.keyUnused') : t('accounts.keyUsed', {time: timeInWords(one.last_used_at)})),
                ),
                h(Button, {label: t('accounts.removeWay'), icon: 'trash', onClick: () => void remove(one.id, one.email ?? one.subject), rest: {'aria-label': t('accounts.unlink', {name: one.email ?? one.subject})}}),
              ),
            ),
          ),
  );
}

/** Why this cannot be a passkey's name; null where it can. @param {string} name */
function wrongName(name) {
  return name.trim() === '' || name.trim().length > MOST_NAME ? t('accounts.nameWrong', {most: MOST_NAME}) : null;
}
