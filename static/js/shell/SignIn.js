/** Asks for the access token of a server that wants one. */
import {setToken} from '../api/client.js';
import {h, tags, useState} from '../h.js';
import {connect} from '../start.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {TextField} from '../ui/fields.js';

const {form, h1, main, p} = tags;

export function SignIn() {
  const [text, setText] = useState('');
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const submit = async () => {
    setToken(text.trim());
    const result = await connect();
    // Where it was accepted, this page is gone by now.
    if (result !== 'connected') setFailure(t(result === 'refused' ? 'app.tokenRefused' : 'app.tokenUntried'));
  };
  return main(
    {className: 'sign-in'},
    h1(null, 'agentui'),
    p(null, t('app.tokenWanted')),
    form(
      {
        onSubmit: (event) => {
          event.preventDefault();
          void submit();
        },
      },
      h(TextField, {
        label: t('app.token'),
        type: 'password',
        value: text,
        onChange: setText,
        autoFocus: true,
        hint: t('app.tokenHint'),
        error: failure,
      }),
      h(Button, {label: t('app.signIn'), tone: 'primary', type: 'submit', disabled: text.trim() === ''}),
    ),
  );
}
