/** The people of the identity provider who sign in to somebody's account, for admins. */
import {api} from '../api/client.js';
import {h, tags, useState} from '../h.js';
import {reasonOf} from '../state/failures.js';
import {useReading} from '../state/reading.js';
import {timeInWords} from '../state/times.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {TextField} from '../ui/fields.js';

const {div, form, li, p, span, ul} = tags;

/** @param {{id: string, name: string, onCancel: () => void}} props of the account */
export function PersonSignOns({id, name, onCancel}) {
  const path = `/accounts/${encodeURIComponent(id)}/identities`;
  const [email, setEmail] = useState('');
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const [again, setAgain] = useState(0);
  const read = useReading(path, again);
  /** @param {() => Promise<unknown>} work */
  const change = async (work) => {
    setFailure(null);
    try {
      await work();
      setEmail('');
    } catch (error) {
      setFailure(reasonOf(error));
    }
    setAgain(again + 1);
  };
  return form(
    {
      className: 'key-form key-line-form',
      'aria-label': t('accounts.signOnsOf', {name}),
      onSubmit: (event) => {
        event.preventDefault();
        if (email.trim() !== '') void change(() => api.send('POST', path, {email: email.trim()}));
      },
    },
    read === null
      ? h(Waiting)
      : 'error' in read
        ? h(NotRead, null, read.error)
        : ul(
            {className: 'key-list', 'aria-label': t('accounts.signOnsOf', {name})},
            read.data.map((/** @type {any} */ one) =>
              li(
                {key: one.id, className: 'key-line'},
                div({className: 'key-text'}, span(null, one.email ?? one.subject), span({className: 'text-soft'}, stateOf(one))),
                h(Button, {
                  label: t('accounts.removeWay'),
                  onClick: () => void change(() => api.send('DELETE', `${path}/${encodeURIComponent(one.id)}`)),
                  rest: {'aria-label': t('accounts.unlink', {name: one.email ?? one.subject})},
                }),
              ),
            ),
          ),
    h(TextField, {label: t('accounts.signOnEmail'), type: 'email', value: email, onChange: setEmail, hint: t('accounts.signOnEmailHint'), error: failure}),
    p({className: 'text-soft'}, t('accounts.linkText')),
    div({className: 'key-form-foot'}, h(Button, {label: t('app.close'), onClick: onCancel}), h(Button, {label: t('accounts.linkNow'), tone: 'primary', type: 'submit', disabled: email.trim() === ''})),
  );
}

/** Whether a link has let somebody in. @param {{subject: string | null, last_used_at: number | null}} link */
function stateOf({subject, last_used_at: last}) {
  if (subject === null) return t('accounts.signOnWaits');
  return last === null ? t('accounts.keyUnused') : t('accounts.keyUsed', {time: timeInWords(last)});
}
