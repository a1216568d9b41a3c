/** Asks who it is: for the account and its password where people sign in, else for the access token or a key. */
import {api, ApiFailure, setToken} from '../api/client.js';
import {Fragment, h, tags, useEffect, useState} from '../h.js';
import {connect} from '../start.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {TextField} from '../ui/fields.js';

const {form, h1, main, p} = tags;

export function SignIn() {
  const [hasPasswords, setPasswords] = useState(false);
  const [byKey, setByKey] = useState(false);
  const [account, setAccount] = useState('');
  const [text, setText] = useState('');
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const isPassword = hasPasswords && !byKey;
  useEffect(() => {
    // A server with a token alone does not say; then the token is what it wants.
    api.get('/auth/ways').then(
      ({body}) => setPasswords(body.data.ways.includes('password')),
      () => setPasswords(false),
    );
  }, []);
  const signIn = async () => {
    setToken(null);
    try {
      await api.send('POST', '/auth/sign-in', {account: account.trim(), password: text});
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error.code === 'sign_in_failed' ? t('app.passwordRefused') : error.message);
      return false;
    }
    return true;
  };
  const submit = async () => {
    if (isPassword) {
      if (!(await signIn())) return;
    } else setToken(text.trim());
    const result = await connect();
    // Where it was accepted, this page is gone by now.
    if (result !== 'connected') setFailure(t(result === 'refused' ? 'app.tokenRefused' : 'app.tokenUntried'));
  };
  const switchWay = () => {
    setByKey(!byKey);
    setText('');
    setFailure(null);
  };
  return main(
    {className: 'sign-in'},
    h1(null, 'agentui'),
    p(null, t(isPassword ? 'app.accountWanted' : 'app.tokenWanted')),
    form(
      {
        onSubmit: (event) => {
          event.preventDefault();
          void submit();
        },
      },
      isPassword
        ? h(
            Fragment,
            null,
            h(TextField, {
              label: t('app.account'),
              value: account,
              onChange: setAccount,
              autoFocus: true,
              autoComplete: 'username',
            }),
            h(TextField, {
              key: 'password',
              label: t('app.password'),
              type: 'password',
              value: text,
              onChange: setText,
              autoComplete: 'current-password',
              error: failure,
            }),
          )
        : h(TextField, {
            key: 'token',
            label: t('app.token'),
            type: 'password',
            value: text,
            onChange: setText,
            autoFocus: true,
            hint: t('app.tokenHint'),
            error: failure,
          }),
      h(Button, {
        label: t('app.signIn'),
        tone: 'primary',
        type: 'submit',
        disabled: text.trim() === '' || (isPassword && account.trim() === ''),
      }),
      hasPasswords && h(Button, {label: t(byKey ? 'app.signInByPassword' : 'app.signInByKey'), tone: 'quiet', onClick: switchWay}),
    ),
  );
}
