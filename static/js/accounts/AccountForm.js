/** Sign-in by an account and its password, or by a key or the access token in their place. */
import {api, ApiFailure, setToken} from '../api/client.js';
import {Fragment, h, tags, useEffect, useState} from '../h.js';
import {enter} from '../state/entry.js';
import {reasonOf} from '../state/failures.js';
import {useStore} from '../state/store.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Waiting} from '../ui/empty.js';
import {TextField} from '../ui/fields.js';
import {TokenForm} from './SignIn.js';

const {form, p} = tags;

/** @param {{onDone?: () => void}} props */
export function AccountForm({onDone}) {
  const reason = useStore((state) => state.server.signIn?.reason ?? '');
  const [ways, setWays] = useState(/** @type {string[] | null} */ (null));
  const [isByKey, setByKey] = useState(false);
  // Why a key or a sign-in was turned away before says nothing of the other way in.
  const [hasTurned, setTurned] = useState(false);
  // Whoever was here before and comes back, or looks at the other way, need not type the name again.
  const [account, setAccount] = useState(useStore((state) => state.server.me?.account_id ?? ''));
  useEffect(() => {
    // Where it cannot be said, the password is tried: the answer to that says what is wrong.
    api.get('/auth/ways').then(({body}) => setWays(body.data.ways), () => setWays(['password']));
  }, []);
  if (ways === null) return h(Waiting);
  const mayType = ways.includes('password');
  const isKey = isByKey || !mayType;
  const turn = () => {
    setByKey(!isByKey);
    setTurned(true);
  };
  return h(
    Fragment,
    null,
    reason === '' || hasTurned ? (onDone || isKey ? null : p(null, t('app.accountWanted'))) : p({className: 'field-error', role: 'alert'}, reason),
    isKey ? h(TokenForm, {key: 'key', text: t('accounts.keyWanted'), hint: t('accounts.keyHint'), onDone}) : h(PasswordForm, {key: 'password', account, setAccount, onDone}),
    mayType ? h(Button, {label: t(isKey ? 'app.signInByPassword' : 'app.signInByKey'), tone: 'quiet', onClick: turn}) : null,
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
