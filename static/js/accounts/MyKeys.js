/** One's own keys for other programs: made, seen once, given a successor, revoked. */
import {api} from '../api/client.js';
import {Fragment, h, tags, useEffect, useState} from '../h.js';
import {toClipboard} from '../state/copying.js';
import {ask} from '../state/dialogs.js';
import {reasonOf} from '../state/failures.js';
import {notify, notifyFailure} from '../state/notices.js';
import {useStore} from '../state/store.js';
import {timeInWords} from '../state/times.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {SelectField, TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {RestrictionFields, allowedOf, askedOf, keptTo, newAllowed} from './KeyRestrictions.js';

const {code, details, div, form, h3, input, li, p, span, summary, ul} = tags;

/**
 * @typedef {object} Key as GET /auth/keys says
 * @property {string} id
 * @property {string} client_id
 * @property {string | null} name
 * @property {string} key_prefix
 * @property {'active' | 'revoked'} status
 * @property {number | null} last_used_at
 * @property {number | null} expires_at
 * @property {number | null} previous_until
 * @property {number} created_at
 * @property {import('./KeyRestrictions.js').Restrictions | null} restrictions
 */
/** @typedef {{id: string, name: string, is_default: boolean, status: string}} Client */
/** @typedef {{keys: Key[], clients: Client[], budgets: import('./KeyRestrictions.js').Budget[]}} Mine */
/** @typedef {{id: string, name: string, secret: string}} Shown a key that was made just now */
/** @typedef {{id: string, form: 'rotate' | 'change'}} Opened the form of a key that is open */

const DAY_MS = 86_400_000;
/** For how many days a key may be made, beside one that never expires and one with a day of its own. */
const DAYS = ['30', '90', '365'];
/** For how long the key before is taken too, in seconds. */
const OVERLAPS = ['0', '3600', '86400', '604800', '2592000'];

/** @returns {Promise<Mine>} */
async function readMine() {
  const [keys, clients, budgets] = await Promise.all([api.get('/auth/keys'), api.get('/clients?limit=200'), api.get('/budgets')]);
  return {keys: keys.body.items, clients: clients.body.items, budgets: budgets.body.data};
}

/** @param {Key} key */
const pathOf = (key) => `/clients/${encodeURIComponent(key.client_id)}/api-keys/${encodeURIComponent(key.id)}`;

/** What people call a key. @param {Key} key */
const nameOf = (key) => key.name || key.key_prefix;

/** @param {Key} key */
const isGood = (key) => key.status === 'active' && (key.expires_at === null || key.expires_at > Date.now());

/** @param {{close: () => void}} props */
export function MyKeys({close}) {
  const isPerson = useStore((state) => state.server.me?.client_id === null);
  const [mine, setMine] = useState(/** @type {Mine | {error: string} | null} */ (null));
  const [isMaking, setMaking] = useState(false);
  const [opened, setOpened] = useState(/** @type {Opened | null} */ (null));
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const [isTaken, setTaken] = useState(false);
  const load = () => readMine().then(setMine, (error) => setMine({error: reasonOf(error)}));
  useEffect(() => {
    if (isPerson) void load();
  }, []);
  /** @param {Shown} key */
  const show = (key) => {
    setShown(key);
    setTaken(false);
    setMaking(false);
    setOpened(null);
    void load();
  };
  const changed = () => {
    setOpened(null);
    void load();
  };
  /** @param {string} id */
  const revoked = (id) => {
    // What counts no more need not be copied.
    if (shown?.id === id) setShown(null);
    void load();
  };
  /** Nobody can read it a second time. */
  const mayHide = async () =>
    shown === null || isTaken || (await ask({title: t('accounts.keyLeave'), text: t('accounts.keyLeaveText'), choices: [{id: 'leave', label: t('accounts.keyLeaveNow'), tone: 'danger'}]})) === 'leave';
  const leave = async () => {
    if (await mayHide()) close();
  };
  const hide = async () => {
    if (await mayHide()) setShown(null);
  };
  const isThere = mine !== null && !('error' in mine);
  return h(
    Dialog,
    {
      title: t('accounts.keys'),
      size: 'large',
      onClose: () => void leave(),
      actions: isThere && !isMaking && shown === null ? h(Button, {label: t('accounts.keyNew'), icon: 'add', tone: 'primary', onClick: () => setMaking(true)}) : null,
    },
    p({className: 'text-soft'}, t('accounts.keysText')),
    !isPerson
      ? p({className: 'panel-empty'}, t('accounts.byKeyOnly'))
      : mine === null
        ? h(Waiting)
        : 'error' in mine
          ? h(NotRead, null, mine.error, ' ', h(Button, {label: t('library.again'), onClick: () => void load()}))
          : h(
              Fragment,
              null,
              shown === null ? null : h(Secret, {key: shown.secret, shown, onTaken: () => setTaken(true), onHide: () => void hide()}),
              isMaking ? h(KeyForm, {clients: mine.clients, onMade: show, onCancel: () => setMaking(false)}) : null,
              h(Lists, {mine, opened, onOpen: setOpened, onRotated: show, onChanged: changed, onRevoked: revoked}),
            ),
  );
}

/** The key itself, this once. @param {{shown: Shown, onTaken: () => void, onHide: () => void}} props */
function Secret({shown, onTaken, onHide}) {
  return div(
    {className: 'key-form key-secret', role: 'group', 'aria-label': t('accounts.keyMade', {name: shown.name})},
    h3(null, t('accounts.keyMade', {name: shown.name})),
    p({role: 'status'}, t('accounts.keyOnce')),
    div(
      {className: 'key-secret-line'},
      input({
        className: 'input mono',
        readOnly: true,
        value: shown.secret,
        'aria-label': t('accounts.keyItself'),
        autoFocus: true,
        onFocus: (event) => event.target.select(),
        onCopy: onTaken,
      }),
      h(Button, {
        label: t('accounts.copy'),
        icon: 'copy',
        tone: 'primary',
        onClick: async () => {
          // A message that repeats what was copied would show it longer than it has to be.
          if (!(await toClipboard(shown.secret))) notify('error', 'app.copyFailed');
          else {
            onTaken();
            notify('success', 'accounts.keyCopied');
          }
        },
      }),
    ),
    div({className: 'key-form-foot'}, h(Button, {label: t('accounts.keyHave'), onClick: onHide})),
  );
}

/** @param {{mine: Mine, opened: Opened | null, onOpen: (form: Opened | null) => void, onRotated: (key: Shown) => void, onChanged: () => void, onRevoked: (id: string) => void}} props */
function Lists({mine, ...more}) {
  const good = mine.keys.filter(isGood);
  const gone = mine.keys.filter((key) => !isGood(key));
  const programs = new Map(mine.clients.filter((one) => !one.is_default).map((one) => [one.id, one.name]));
  /** @param {Key} key */
  const line = (key) => h(Line, {key: key.id, shown: key, program: programs.get(key.client_id) ?? null, budgets: mine.budgets.filter((one) => one.level === 'key' && one.subject === key.id), ...more});
  return h(
    Fragment,
    null,
    good.length === 0 ? p({className: 'panel-empty'}, t('accounts.keysNone')) : ul({className: 'key-list', 'aria-label': t('accounts.keys')}, good.map(line)),
    gone.length === 0 ? null : details({className: 'chat-details'}, summary(null, t('accounts.keysGone', {n: gone.length})), ul({className: 'key-list', 'aria-label': t('accounts.keysGone', {n: gone.length})}, gone.map(line))),
  );
}

/**
 * @param {{shown: Key, program: string | null, budgets: import('./KeyRestrictions.js').Budget[], opened: Opened | null, onOpen: (form: Opened | null) => void,
 *   onRotated: (key: Shown) => void, onChanged: () => void, onRevoked: (id: string) => void}} props `program`: of which it is, where that is not the default one
 */
function Line({shown, program, budgets, opened, onOpen, onRotated, onChanged, onRevoked}) {
  const name = nameOf(shown);
  const isUsable = isGood(shown);
  const revoke = async () => {
    const answer = await ask({title: t('accounts.keyRevoke', {name}), text: t('accounts.keyRevokeText'), choices: [{id: 'revoke', label: t('accounts.keyRevokeNow'), tone: 'danger'}]});
    if (answer !== 'revoke') return;
    try {
      await api.send('POST', `${pathOf(shown)}/revoke`);
      notify('success', 'accounts.keyRevoked', {name});
    } catch (error) {
      notifyFailure(error);
    }
    onRevoked(shown.id);
  };
  const facts = [
    t('accounts.keyCreated', {time: timeInWords(shown.created_at)}),
    shown.last_used_at === null ? t('accounts.keyUnused') : t('accounts.keyUsed', {time: timeInWords(shown.last_used_at)}),
    shown.expires_at === null ? t('accounts.keyForever') : t('accounts.keyExpires', {time: timeInWords(shown.expires_at)}),
    program === null ? '' : t('accounts.keyOf', {name: program}),
    keptTo(shown.restrictions),
  ];
  return li(
    {className: 'key-line'},
    h(Icon, {name: 'key'}),
    div(
      {className: 'key-text'},
      span(null, shown.name ? [shown.name, ' '] : null, code(null, `${shown.key_prefix}…`), ' ', isUsable ? null : span({className: 'chip chip-bad'}, t(shown.status === 'revoked' ? 'accounts.revoked' : 'accounts.expired'))),
      span({className: 'text-soft'}, facts.filter(Boolean).join(' · ')),
      isUsable && (shown.previous_until ?? 0) > Date.now() ? span({className: 'text-soft'}, t('accounts.keyPrevious', {time: timeInWords(shown.previous_until ?? 0)})) : null,
    ),
    isUsable ? h(Button, {label: t('accounts.change'), icon: 'edit', onClick: () => onOpen({id: shown.id, form: 'change'}), rest: {'aria-label': t('accounts.changeNamed', {name})}}) : null,
    isUsable ? h(Button, {label: t('accounts.rotate'), icon: 'refresh', onClick: () => onOpen({id: shown.id, form: 'rotate'}), rest: {'aria-label': t('accounts.rotateNamed', {name})}}) : null,
    isUsable ? h(Button, {label: t('accounts.revoke'), onClick: () => void revoke(), rest: {'aria-label': t('accounts.revokeNamed', {name})}}) : null,
    opened?.id !== shown.id
      ? null
      : opened.form === 'rotate'
        ? h(Rotation, {shown, onRotated, onCancel: () => onOpen(null)})
        : h(Change, {shown, budgets, onChanged, onCancel: () => onOpen(null)}),
  );
}

/** @param {{shown: Key, onRotated: (key: Shown) => void, onCancel: () => void}} props */
function Rotation({shown, onRotated, onCancel}) {
  const [overlap, setOverlap] = useState('86400');
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const name = nameOf(shown);
  const submit = async () => {
    try {
      const {body} = await api.send('POST', `${pathOf(shown)}/rotate`, {overlap_seconds: Number(overlap)});
      onRotated({id: shown.id, name, secret: body.secret});
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return form(
    {
      className: 'key-form key-line-form',
      'aria-label': t('accounts.rotateNamed', {name}),
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h(SelectField, {label: t('accounts.overlap'), value: overlap, onChange: setOverlap, hint: t('accounts.overlapHint'), error: failure, options: OVERLAPS.map((value) => ({value, label: t(`accounts.overlap.${value}`)}))}),
    div({className: 'key-form-foot'}, h(Button, {label: t('app.cancel'), onClick: onCancel}), h(Button, {label: t('accounts.rotateNow'), tone: 'primary', type: 'submit'})),
  );
}

/**
 * When a key ends, as it is chosen: a moment, null for never, undefined for a day that is over or none.
 * @param {string} ends
 * @param {string} day
 * @returns {number | null | undefined}
 */
function endOf(ends, day) {
  if (ends === 'never') return null;
  // A day counts to its end, where the person is.
  const at = ends === 'day' ? new Date(`${day}T23:59:59`).getTime() : Date.now() + Number(ends) * DAY_MS;
  return at > Date.now() ? at : undefined;
}

/** @param {{ends: string, day: string, error: string | null, kept?: string, onEnds: (ends: string) => void, onDay: (day: string) => void}} props `kept`: as it is, in words */
function EndFields({ends, day, error, kept, onEnds, onDay}) {
  return h(
    Fragment,
    null,
    h(SelectField, {
      label: t('accounts.keyEnds'),
      value: ends,
      onChange: onEnds,
      error: ends === 'day' ? null : error,
      options: [
        ...(kept === undefined ? [] : [{value: 'kept', label: kept}]),
        {value: 'never', label: t('accounts.keyNever')},
        ...DAYS.map((value) => ({value, label: t('accounts.keyDays', {n: Number(value)})})),
        {value: 'day', label: t('accounts.keyDay')},
      ],
    }),
    ends === 'day' ? h(TextField, {label: t('accounts.keyLastDay'), type: 'date', value: day, onChange: onDay, least: new Date().toISOString().slice(0, 10), error}) : null,
  );
}

/** @param {{shown: Key, budgets: import('./KeyRestrictions.js').Budget[], onChanged: () => void, onCancel: () => void}} props */
function Change({shown, budgets, onChanged, onCancel}) {
  const isAdmin = useStore((state) => state.server.me?.role === 'admin');
  const [name, setName] = useState(shown.name ?? '');
  const [ends, setEnds] = useState('kept');
  const [day, setDay] = useState('');
  const [allowed, setAllowed] = useState(() => allowedOf(shown.restrictions, budgets));
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const submit = async () => {
    const at = ends === 'kept' ? shown.expires_at : endOf(ends, day);
    if (at === undefined) {
      setFailure(t('accounts.keyDayWrong'));
      return;
    }
    try {
      const end = ends === 'kept' ? {} : {expires_at: at};
      await api.send('PATCH', pathOf(shown), {name: name.trim() || null, ...end, ...askedOf(allowed, isAdmin)});
      notify('success', 'accounts.changed', {name: name.trim() || nameOf(shown)});
      onChanged();
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  const kept = shown.expires_at === null ? t('accounts.keyForever') : t('accounts.keyExpires', {time: timeInWords(shown.expires_at)});
  return form(
    {
      className: 'key-form key-line-form',
      'aria-label': t('accounts.changeNamed', {name: nameOf(shown)}),
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h(TextField, {label: t('accounts.keyName'), value: name, onChange: setName, autoFocus: true}),
    h(EndFields, {ends, day, error: failure, kept, onEnds: setEnds, onDay: setDay}),
    h(RestrictionFields, {value: allowed, isAdmin, isOpen: true, onChange: setAllowed}),
    div({className: 'key-form-foot'}, h(Button, {label: t('app.cancel'), onClick: onCancel}), h(Button, {label: t('accounts.changeNow'), tone: 'primary', type: 'submit'})),
  );
}

/** @param {{clients: Client[], onMade: (key: Shown) => void, onCancel: () => void}} props */
function KeyForm({clients, onMade, onCancel}) {
  const usable = clients.filter((one) => one.status === 'active');
  const [client, setClient] = useState((usable.find((one) => one.is_default) ?? usable[0])?.id ?? '');
  const [name, setName] = useState('');
  const [ends, setEnds] = useState('never');
  const [day, setDay] = useState('');
  const isAdmin = useStore((state) => state.server.me?.role === 'admin');
  const [allowed, setAllowed] = useState(newAllowed);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const submit = async () => {
    const at = endOf(ends, day);
    if (at === undefined) {
      setFailure(t('accounts.keyDayWrong'));
      return;
    }
    try {
      const {body} = await api.send('POST', `/clients/${encodeURIComponent(client)}/api-keys`, {name: name.trim() || null, expires_at: at, ...askedOf(allowed, isAdmin)});
      onMade({id: body.item.id, name: nameOf(body.item), secret: body.secret});
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return form(
    {
      className: 'key-form',
      'aria-label': t('accounts.keyNew'),
      onSubmit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    h(TextField, {label: t('accounts.keyName'), value: name, onChange: setName, autoFocus: true, hint: t('accounts.keyNameHint')}),
    usable.length > 1 ? h(SelectField, {label: t('accounts.program'), value: client, onChange: setClient, options: usable.map((one) => ({value: one.id, label: one.is_default ? t('accounts.programDefault') : one.name}))}) : null,
    h(EndFields, {
      ends,
      day,
      error: failure,
      onEnds: (next) => {
        setEnds(next);
        setFailure(null);
      },
      onDay: setDay,
    }),
    h(RestrictionFields, {value: allowed, isAdmin, onChange: setAllowed}),
    div({className: 'key-form-foot'}, h(Button, {label: t('app.cancel'), onClick: onCancel}), h(Button, {label: t('accounts.keyMake'), tone: 'primary', type: 'submit'})),
  );
}
