/**
 * Asks who is there: of a server for one person its access token; of one with accounts the account and its password, with the form
 * that is loaded then.
 */
import {setToken} from '../api/client.js';
import {Fragment, h, tags, useEffect, useState} from '../h.js';
import {enter} from '../state/entry.js';
import {notifyFailure} from '../state/notices.js';
import {useStore} from '../state/store.js';
import {loadArea, t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {Waiting} from '../ui/empty.js';
import {TextField} from '../ui/fields.js';

const {form, h1, main, p} = tags;

/** The whole page, before anything else is shown. */
export function SignInPage() {
  return main({className: 'sign-in'}, h1(null, 'agentui'), h(Ask));
}

/** In front of the work, which goes on where it stood. @param {{close: () => void}} props */
export function SignInDialog({close}) {
  return h(Dialog, {title: t('app.signInAgain'), size: 'small', onClose: close}, p({className: 'sign-in-text'}, t('app.signInAgainText')), h(Ask, {onDone: close}));
}

/** @param {{onDone?: () => void}} props */
function Ask({onDone}) {
  const by = useStore((state) => state.server.signIn?.by ?? 'token');
  return by === 'token' ? h(TokenForm, {text: t('app.tokenWanted'), hint: t('app.tokenHint'), onDone}) : h(ByAccount, {onDone});
}

/** @type {((props: {onDone?: () => void}) => any) | null} */
let AccountForm = null;

/** @param {{onDone?: () => void}} props */
function ByAccount({onDone}) {
  const [isThere, setThere] = useState(AccountForm !== null);
  useEffect(() => {
    if (isThere) return;
    Promise.all([import('./AccountForm.js'), loadArea('accounts')]).then(([loaded]) => {
      AccountForm = loaded.AccountForm;
      setThere(true);
    }, notifyFailure);
  }, [isThere]);
  return AccountForm ? h(AccountForm, {onDone}) : h(Waiting);
}

/**
 * A token, or a key, that this browser tab shows from now on.
 * @param {{text: string, hint: string, onDone?: () => void}} props
 */
export function TokenForm({text, hint, onDone}) {
  const [token, setTyped] = useState('');
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const submit = async () => {
    setToken(token.trim());
    const result = await enter();
    // Where it was accepted, this page is gone by now.
    if (result === 'connected') onDone?.();
    else setFailure(t(result === 'refused' ? 'app.tokenRefused' : 'app.tokenUntried'));
  };
  return h(
    Fragment,
    null,
    p(null, text),
    form(
      {
        onSubmit: (event) => {
          event.preventDefault();
          void submit();
        },
      },
      h(TextField, {label: t('app.token'), type: 'password', value: token, onChange: setTyped, autoFocus: true, hint, error: failure}),
      h(Button, {label: t('app.signIn'), tone: 'primary', type: 'submit', disabled: token.trim() === ''}),
    ),
  );
}
