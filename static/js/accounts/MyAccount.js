/** One's own account: who one is here, another password, and the browsers in which one is signed in. */
import {api} from '../api/client.js';
import {h, tags, useState} from '../h.js';
import {reasonOf} from '../state/failures.js';
import {notify, notifyFailure} from '../state/notices.js';
import {useReading} from '../state/reading.js';
import {useStore} from '../state/store.js';
import {timeInWords} from '../state/times.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {TextField} from '../ui/fields.js';
import {passwordProblem} from './passwords.js';
import {WaysIn} from './WaysIn.js';

const {code, dd, div, dl, dt, form, h3, li, p, span, ul} = tags;

/** @param {{close: () => void}} props */
export function MyAccount({close}) {
  const me = useStore((state) => state.server.me);
  if (me === null) return null;
  const {account_id: id, name, role, may_edit: mayEdit, client_id: client} = me;
  return h(
    Dialog,
    {title: t('accounts.mine'), onClose: close},
    dl(
      {className: 'account-facts'},
      dt(null, t('accounts.name')),
      dd(null, name),
      dt(null, t('accounts.account')),
      dd(null, code(null, id)),
      dt(null, t('accounts.role')),
      dd(null, t(`accounts.role.${role}`)),
      dt(null, t('accounts.rights')),
      dd(null, t(mayEdit ? 'accounts.mayEdit' : 'accounts.mayNotEdit')),
    ),
    client === null ? h(PasswordForm, {account: id}) : p({className: 'text-soft'}, t('accounts.byKeyOnly')),
    client === null ? h(WaysIn) : null,
    client === null ? h(SignIns) : null,
  );
}

/** @param {{account: string}} props */
function PasswordForm({account}) {
  const [typed, setTyped] = useState({current: '', next: '', again: ''});
  const [isTried, setTried] = useState(false);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  // A form that was sent is put in place anew, and empty.
  const [sent, setSent] = useState(0);
  const wrong = passwordProblem(typed.next);
  const differs = typed.next === typed.again ? null : t('accounts.passwordsDiffer');
  const submit = async () => {
    setTried(true);
    setFailure(null);
    if (wrong || differs) return;
    try {
      await api.send('PUT', '/auth/password', {password: typed.next, ...(typed.current === '' ? {} : {current_password: typed.current})});
      notify('success', 'accounts.passwordChanged');
      setTyped({current: '', next: '', again: ''});
      setTried(false);
      setSent(sent + 1);
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return form(
    {
      key: sent,
      className: 'key-form',
      'aria-label': t('accounts.changePassword'),
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h3(null, t('accounts.changePassword')),
    p({className: 'text-soft'}, t('accounts.changePasswordText')),
    h(TextField, {label: t('accounts.passwordNow'), type: 'password', value: typed.current, onChange: (current) => setTyped({...typed, current}), autoComplete: 'current-password', hint: t('accounts.passwordNowHint', {account}), error: failure}),
    h(TextField, {label: t('accounts.passwordNew'), type: 'password', value: typed.next, onChange: (next) => setTyped({...typed, next}), autoComplete: 'new-password', error: isTried ? wrong : null}),
    h(TextField, {label: t('accounts.passwordAgain'), type: 'password', value: typed.again, onChange: (again) => setTyped({...typed, again}), autoComplete: 'new-password', error: isTried ? differs : null}),
    div({className: 'key-form-foot'}, h(Button, {label: t('accounts.changePassword'), tone: 'primary', type: 'submit'})),
  );
}

/** The browsers in which one is signed in. */
function SignIns() {
  const [again, setAgain] = useState(0);
  const read = useReading('/auth/sign-ins', again);
  /** @param {string} id */
  const end = async (id) => {
    try {
      await api.send('DELETE', `/auth/sign-ins/${encodeURIComponent(id)}`);
    } catch (error) {
      notifyFailure(error);
    }
    setAgain(again + 1);
  };
  if (read === null) return h(Waiting);
  if ('error' in read) return h(NotRead, null, read.error);
  if (read.data.length === 0) return null;
  return div(
    null,
    h3(null, t('accounts.signIns')),
    ul(
      {className: 'key-list', 'aria-label': t('accounts.signIns')},
      read.data.map((/** @type {any} */ one) =>
        li(
          {key: one.id, className: 'key-line'},
          div(
            {className: 'key-text'},
            span(null, one.device || t('accounts.deviceUnknown'), ' ', one.is_this ? span({className: 'chip chip-good'}, t('accounts.thisBrowser')) : null),
            span({className: 'text-soft'}, t('accounts.signedInTimes', {since: timeInWords(one.created_at), last: timeInWords(one.last_used_at)})),
          ),
          one.is_this ? null : h(Button, {label: t('accounts.endSignIn'), onClick: () => void end(one.id)}),
        ),
      ),
    ),
  );
}
