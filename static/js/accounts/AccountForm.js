/** Sign-in by an account and its password, a passkey or an identity provider, or by a key or the access token in their place. */
import {api, ApiFailure, setToken} from '../api/client.js';
import {Fragment, h, tags, useEffect, useState} from '../h.js';
import {enter} from '../state/entry.js';
import {reasonOf} from '../state/failures.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Waiting} from '../ui/empty.js';
import {TextField} from '../ui/fields.js';
import {knowsPasskeys, passkeyReason, signInByPasskey} from './passkeys.js';
import {goToProvider, signInBeside, signOnFailure} from './signon.js';
import {TokenForm} from './SignIn.js';

const {div, form, p} = tags;

/** @typedef {{ways: string[], provider_name: string | null}} Ways as GET /auth/ways says */

/** @param {{onDone?: () => void}} props */
export function AccountForm({onDone}) {
  const reason = useStore((state) => state.server.signIn?.reason ?? '');
  const [ways, setWays] = useState(/** @type {Ways | null} */ (null));
  const [isByKey, setByKey] = useState(false);
  // Why a key or a sign-in was turned away before says nothing of the other way in.
  const [hasTurned, setTurned] = useState(false);
  // Whoever was here before and comes back, or looks at the other way, need not type the name again.
  const [account, setAccount] = useState(useStore((state) => state.server.me?.account_id ?? ''));
  useEffect(() => {
    // Where it cannot be said, the password is tried: the answer to that says what is wrong.
    api.get('/auth/ways').then(({body}) => setWays(body.data), () => setWays({ways: ['password'], provider_name: null}));
  }, []);
  if (ways === null) return h(Waiting);
  const mayType = ways.ways.includes('password');
  const isKey = isByKey || ways.ways.length === 0;
  const told = signOnFailure() || reason;
  const turn = () => {
    setByKey(!isByKey);
    setTurned(true);
  };
  return h(
    Fragment,
    null,
    told === '' || hasTurned ? (onDone || isKey ? null : p(null, t('app.accountWanted'))) : p({className: 'field-error', role: 'alert'}, told),
    isKey
      ? h(TokenForm, {key: 'key', text: t('accounts.keyWanted'), hint: t('accounts.keyHint'), onDone})
      : h(Fragment, null, mayType ? h(PasswordForm, {key: 'password', account, setAccount, onDone}) : null, h(OtherWays, {ways, onDone})),
    ways.ways.length ? h(Button, {label: t(isKey ? (mayType ? 'app.signInByPassword' : 'accounts.otherWay') : 'app.signInByKey'), tone: 'quiet', onClick: turn}) : null,
  );
}

/** The ways that need no typing. @param {{ways: Ways, onDone?: () => void}} props */
function OtherWays({ways, onDone}) {
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  const has = {passkey: ways.ways.includes('passkey') && knowsPasskeys(), provider: ways.ways.includes('oidc')};
  if (!has.passkey && !has.provider) return null;
  /** @param {() => Promise<void>} way @param {(error: unknown) => string} toReason */
  const go = async (way, toReason) => {
    setBusy(true);
    setFailure(null);
    try {
      await way();
    } catch (error) {
      setFailure(toReason(error));
    } finally {
      setBusy(false);
    }
  };
  /** Go on as whoever has just signed in. */
  const enterNow = async () => {
    setToken(null);
    if ((await enter()) === 'connected') onDone?.();
    else setFailure(t('app.serverGone'));
  };
  const byPasskey = async () => {
    await signInByPasskey();
    await enterNow();
  };
  const atProvider = async () => {
    // In front of work that must not be lost, the provider gets a window of its own.
    if (!onDone) return goToProvider('sign-in');
    await signInBeside();
    return enterNow();
  };
  return div(
    {className: 'sign-in-ways'},
    failure === null ? null : p({className: 'field-error', role: 'alert'}, failure),
    has.passkey ? h(Button, {label: t('accounts.byPasskey'), icon: 'key', disabled: isBusy, onClick: () => void go(byPasskey, passkeyReason)}) : null,
    has.provider ? h(Button, {label: ways.provider_name ? t('accounts.byProvider', {name: ways.provider_name}) : t('accounts.bySignOn'), icon: 'user', disabled: isBusy, onClick: () => void go(atProvider, reasonOf)}) : null,
  );
}

/** @param {{account: string, setAccount: (account: string) => void, onDone?: () => void}} props */
function PasswordForm({account, setAccount, onDone}) {
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    try {
      await api.send('POST', '/auth/sign-in', {account: account.trim(), password});
      // A token of before would be asked first, and may be another one's.
      setToken(null);
      if ((await enter()) === 'connected') onDone?.();
      else setFailure(t('app.serverGone'));
    } catch (error) {
      setFailure(error instanceof ApiFailure && error.code === 'sign_in_failed' ? t('app.passwordRefused') : reasonOf(error));
    } finally {
      setBusy(false);
    }
  };
  const knows = account !== '';
  return form(
    {
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h(TextField, {label: t('app.account'), value: account, onChange: setAccount, autoFocus: !knows, autoComplete: 'username', hint: t('accounts.accountHint')}),
    h(TextField, {label: t('app.password'), type: 'password', value: password, onChange: setPassword, autoFocus: knows, autoComplete: 'current-password', error: failure}),
    h(Button, {label: t('app.signIn'), tone: 'primary', type: 'submit', disabled: isBusy || account.trim() === '' || password === ''}),
  );
}
