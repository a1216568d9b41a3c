/** The accounts of this server, for admins: who there is, what each may do, and the way in again for who forgot the password. */
import {api, ApiFailure} from '../api/client.js';
import {Fragment, h, tags, useEffect, useState} from '../h.js';
import {ask} from '../state/dialogs.js';
import {reasonOf} from '../state/failures.js';
import {notify, notifyFailure} from '../state/notices.js';
import {useReading} from '../state/reading.js';
import {store} from '../state/store.js';
import {timeInWords} from '../state/times.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {CheckField, SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {passwordProblem} from './passwords.js';
import {PersonSignOns} from './PersonSignOns.js';

const {code, div, form, li, p, span, ul} = tags;

/**
 * @typedef {object} Person as GET /accounts says
 * @property {string} id
 * @property {string} name
 * @property {'admin' | 'user'} role
 * @property {'active' | 'disabled'} status
 * @property {boolean} is_default
 * @property {boolean} may_edit
 * @property {number} created_at
 */
/** @typedef {{id: string, form: 'change' | 'password' | 'sign-ons'}} Opened the form that is open, and of whom */

const ROLES = /** @type {const} */ (['user', 'admin']);
const MOST_NAME = 120;

/** What people call the things that the server's tables hold. @type {Record<string, string>} */
const KINDS = {
  ...kindsOf('chats', 'projects sessions branches branch_snapshots floors generations pages page_results messages message_blobs message_extras staged_writes promotions chat_jobs'),
  ...kindsOf('library', 'assets asset_tags asset_versions blobs text_index'),
  ...kindsOf('variables', 'variables variable_changes working_variables working_checkpoints'),
  ...kindsOf('state', 'state_mutations state_namespaces state_heads state_snapshots'),
  ...kindsOf('runs', 'runs reservations tool_executions'),
  ...kindsOf('models', 'llm_profiles llm_instances'),
  ...kindsOf('tools', 'tool_definitions mcp_servers'),
};

/** @param {string} kind @param {string} tables @returns {Record<string, string>} */
function kindsOf(kind, tables) {
  return Object.fromEntries(tables.split(' ').map((table) => [table, kind]));
}

/** @param {string} id */
const pathOf = (id) => `/accounts/${encodeURIComponent(id)}`;

/** @param {{close: () => void}} props */
export function People({close}) {
  const [people, setPeople] = useState(/** @type {Person[] | {error: string} | null} */ (null));
  const [isAdding, setAdding] = useState(false);
  const [opened, setOpened] = useState(/** @type {Opened | null} */ (null));
  const ways = useReading('/auth/ways');
  const hasSignOn = ways !== null && 'data' in ways && ways.data.ways.includes('oidc');
  const load = async () => {
    try {
      const {body} = await api.get('/accounts');
      setPeople([...body.data].sort((one, other) => one.name.localeCompare(other.name)));
    } catch (error) {
      setPeople({error: reasonOf(error)});
    }
  };
  useEffect(() => void load(), []);
  const done = async () => {
    setAdding(false);
    setOpened(null);
    await load();
  };
  return h(
    Dialog,
    {
      title: t('accounts.people'),
      size: 'large',
      onClose: close,
      actions: isAdding || !Array.isArray(people) ? null : h(Button, {label: t('accounts.personNew'), icon: 'add', tone: 'primary', onClick: () => setAdding(true)}),
    },
    p({className: 'text-soft'}, t('accounts.peopleText')),
    isAdding ? h(PersonForm, {person: null, onDone: done, onCancel: () => setAdding(false)}) : null,
    people === null
      ? h(Waiting)
      : 'error' in people
        ? h(NotRead, null, people.error, ' ', h(Button, {label: t('library.again'), onClick: () => void load()}))
        : ul({className: 'key-list', 'aria-label': t('accounts.people')}, people.map((person) => h(Line, {key: person.id, person, hasSignOn, opened, onOpen: setOpened, onDone: done}))),
  );
}

/** @param {{person: Person, hasSignOn: boolean, opened: Opened | null, onOpen: (opened: Opened | null) => void, onDone: () => Promise<void>}} props */
function Line({person, hasSignOn, opened, onOpen, onDone}) {
  const {id, name, role, status, is_default: isDefault, may_edit: mayEdit} = person;
  const isMe = store.get().server.me?.account_id === id;
  const isOff = status === 'disabled';
  // Who takes the own way in away can give it to nobody again.
  const fixed = isDefault ? t('accounts.defaultStays') : isMe ? t('accounts.notYourself') : null;
  /** @param {() => Promise<unknown>} work @param {string} told */
  const change = async (work, told) => {
    try {
      await work();
      notify('success', told, {name});
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 'account_has_resources') await tellResources(person, error.details.resources ?? []);
      else notifyFailure(error);
    }
    await onDone();
  };
  const turn = async () => {
    if (!isOff) {
      const answer = await ask({title: t('accounts.disable', {name}), text: t('accounts.disableText'), choices: [{id: 'disable', label: t('accounts.disableNow'), tone: 'danger'}]});
      if (answer !== 'disable') return;
    }
    await change(() => api.send('PATCH', pathOf(id), {status: isOff ? 'active' : 'disabled'}), isOff ? 'accounts.enabled' : 'accounts.disabled');
  };
  const remove = async () => {
    const answer = await ask({title: t('accounts.remove', {name}), text: t('accounts.removeText'), choices: [{id: 'remove', label: t('accounts.removeNow'), tone: 'danger'}]});
    if (answer === 'remove') await change(() => api.send('DELETE', pathOf(id)), 'accounts.removed');
  };
  const isOpen = opened?.id === id;
  return li(
    {className: 'key-line', 'aria-label': name},
    h(Icon, {name: 'user'}),
    div(
      {className: 'key-text'},
      span(
        null,
        name,
        ' ',
        span({className: 'chip'}, t(`accounts.role.${role}`)),
        isOff ? [' ', span({key: 'off', className: 'chip chip-bad'}, t('accounts.isDisabled'))] : null,
        isMe ? [' ', span({key: 'me', className: 'chip chip-good'}, t('accounts.you'))] : null,
      ),
      span({className: 'text-soft'}, code(null, id), ' · ', t(mayEdit ? 'accounts.mayEdit' : 'accounts.mayNotEdit'), ' · ', t('accounts.personSince', {time: timeInWords(person.created_at)})),
      fixed === null ? null : span({className: 'text-soft'}, fixed),
    ),
    h(Button, {label: t('accounts.change'), icon: 'edit', onClick: () => onOpen(isOpen ? null : {id, form: 'change'}), rest: {'aria-label': t('accounts.changeNamed', {name})}}),
    h(Button, {label: t('accounts.password'), icon: 'key', onClick: () => onOpen(isOpen ? null : {id, form: 'password'}), rest: {'aria-label': t('accounts.passwordOf', {name})}}),
    hasSignOn ? h(Button, {label: t('accounts.signOns'), icon: 'user', onClick: () => onOpen(isOpen ? null : {id, form: 'sign-ons'}), rest: {'aria-label': t('accounts.signOnsOf', {name})}}) : null,
    fixed === null ? h(Button, {label: t(isOff ? 'accounts.enableNow' : 'accounts.disableNow'), onClick: () => void turn(), rest: {'aria-label': t(isOff ? 'accounts.enable' : 'accounts.disable', {name})}}) : null,
    fixed === null ? h(Button, {label: t('accounts.remove', {name}), icon: 'trash', iconOnly: true, tone: 'quiet', onClick: () => void remove()}) : null,
    isOpen && opened.form === 'change' ? h(PersonForm, {person, onDone, onCancel: () => onOpen(null)}) : null,
    isOpen && opened.form === 'sign-ons' ? h(PersonSignOns, {id, name, onCancel: () => onOpen(null)}) : null,
    isOpen && opened.form === 'password' ? h(PasswordReset, {person, onDone, onCancel: () => onOpen(null)}) : null,
  );
}

/**
 * Say in words what keeps an account from being removed, and offer what can be done in its place.
 * @param {Person} person
 * @param {string[]} tables as the server names them
 */
async function tellResources({id, name, status}, tables) {
  const words = tables.map((table) => (Object.hasOwn(KINDS, table) ? t(`accounts.resource.${KINDS[table]}`) : table));
  const choices = status === 'active' ? [{id: 'disable', label: t('accounts.disableInstead')}] : [];
  const answer = await ask({title: t('accounts.notRemoved', {name}), text: t('accounts.notRemovedText'), details: [...new Set(words)], choices});
  if (answer !== 'disable') return;
  try {
    await api.send('PATCH', pathOf(id), {status: 'disabled'});
    notify('success', 'accounts.disabled', {name});
  } catch (error) {
    notifyFailure(error);
  }
}

/**
 * @param {{person: Person | null, onDone: () => Promise<void>, onCancel: () => void}} props `person` null: a new one
 */
function PersonForm({person, onDone, onCancel}) {
  const [typed, setTyped] = useState({id: '', password: '', name: person?.name ?? '', role: person?.role ?? 'user', mayEdit: person?.may_edit ?? false});
  const [isTried, setTried] = useState(false);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const isFixed = person !== null && (person.is_default || person.id === store.get().server.me?.account_id);
  const name = typed.name.trim();
  const nameError = name === '' || name.length > MOST_NAME ? t('accounts.nameWrong', {most: MOST_NAME}) : null;
  const passwordError = typed.password === '' ? null : passwordProblem(typed.password);
  const submit = async () => {
    setTried(true);
    if (nameError || passwordError) return;
    try {
      if (person === null) await add();
      else {
        const rights = isFixed ? {} : {role: typed.role, may_edit: typed.role === 'admin' ? false : typed.mayEdit};
        await api.send('PATCH', pathOf(person.id), {name, ...rights});
        notify('success', 'accounts.changed', {name});
      }
      await onDone();
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  const add = async () => {
    const id = typed.id.trim();
    const {body} = await api.send('POST', '/accounts', {...(id === '' ? {} : {id}), name, role: typed.role, may_edit: typed.role !== 'admin' && typed.mayEdit});
    // The account is there from here on: a password that is refused is told of, and nothing is made twice.
    if (typed.password !== '') await api.send('PUT', `${pathOf(body.data.id)}/password`, {password: typed.password}).catch(notifyFailure);
    notify('success', 'accounts.added', {name});
  };
  return form(
    {
      className: 'key-form key-line-form',
      'aria-label': person === null ? t('accounts.personNew') : t('accounts.changeNamed', {name: person.name}),
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h(TextField, {label: t('accounts.name'), value: typed.name, onChange: (next) => setTyped({...typed, name: next}), autoFocus: true, error: isTried ? nameError : null}),
    person === null ? h(TextField, {label: t('accounts.account'), value: typed.id, onChange: (id) => setTyped({...typed, id}), mono: true, hint: t('accounts.idHint')}) : null,
    isFixed
      ? p({className: 'text-soft'}, t(person?.is_default ? 'accounts.defaultStays' : 'accounts.notYourself'))
      : h(
          Fragment,
          null,
          h(SelectField, {label: t('accounts.role'), value: typed.role, onChange: (role) => setTyped({...typed, role: /** @type {any} */ (role)}), hint: t(`accounts.roleHint.${typed.role}`), options: ROLES.map((value) => ({value, label: t(`accounts.role.${value}`)}))}),
          h(CheckField, {label: t('accounts.right'), checked: typed.role === 'admin' || typed.mayEdit, disabled: typed.role === 'admin', onChange: (mayEdit) => setTyped({...typed, mayEdit}), hint: t(typed.role === 'admin' ? 'accounts.rightOfAdmins' : 'accounts.rightHint')}),
        ),
    person === null
      ? h(TextField, {label: t('accounts.passwordFirst'), type: 'password', value: typed.password, onChange: (password) => setTyped({...typed, password}), autoComplete: 'new-password', hint: t('accounts.passwordFirstHint'), error: isTried ? passwordError : null})
      : null,
    failure === null ? null : p({className: 'field-error', role: 'alert'}, failure),
    div({className: 'key-form-foot'}, h(Button, {label: t('app.cancel'), onClick: onCancel}), h(Button, {label: person === null ? t('accounts.add') : t('app.save'), tone: 'primary', type: 'submit'})),
  );
}

/** @param {{person: Person, onDone: () => Promise<void>, onCancel: () => void}} props */
function PasswordReset({person, onDone, onCancel}) {
  const {id, name} = person;
  const [password, setPassword] = useState('');
  const [isOnly, setOnly] = useState(false);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const submit = async () => {
    const wrong = passwordProblem(password);
    if (wrong) {
      setFailure(wrong);
      return;
    }
    try {
      await api.send('PUT', `${pathOf(id)}/password`, {password, only: isOnly});
      notify('success', 'accounts.passwordSet', {name});
      await onDone();
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return form(
    {
      className: 'key-form key-line-form',
      'aria-label': t('accounts.passwordOf', {name}),
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h(TextField, {label: t('accounts.passwordNew'), type: 'password', value: password, onChange: setPassword, autoFocus: true, autoComplete: 'new-password', hint: t('accounts.passwordSetHint'), error: failure}),
    h(CheckField, {label: t('accounts.passwordOnly'), checked: isOnly, onChange: setOnly, hint: t('accounts.passwordOnlyHint')}),
    div({className: 'key-form-foot'}, h(Button, {label: t('app.cancel'), onClick: onCancel}), h(Button, {label: t('accounts.passwordSetNow'), tone: 'primary', type: 'submit'})),
  );
}
