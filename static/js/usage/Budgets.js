/** How much may be spent, of what, by whom and in which time; what of it is spent, held and left. Admins set budgets, others see their own. */
import {api} from '../api/client.js';
import {Fragment, h, tags, useEffect, useState} from '../h.js';
import {money, moment, number} from '../costs/amounts.js';
import {ask} from '../state/dialogs.js';
import {reasonOf} from '../state/failures.js';
import {notify, notifyFailure} from '../state/notices.js';
import {store, useStore} from '../state/store.js';
import {t, translated} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {CheckField, SelectField, TextField} from '../ui/fields.js';
import {FailureBox} from '../ui/failure.js';
import {Icon} from '../ui/icons.js';
import {seesAll, usePeople} from './people.js';

const {code, datalist, div, form, li, option, p, span, ul} = tags;

/**
 * @typedef {object} Budget as GET /budgets says
 * @property {string} id
 * @property {string} level
 * @property {string} subject
 * @property {string | null} subject_name
 * @property {string} unit
 * @property {string} period
 * @property {number} amount
 * @property {number} spent
 * @property {number} reserved
 * @property {number} left
 * @property {number | null} resets_at
 */
/** @typedef {{levels: string[], units: string[], periods: string[], unknown_price: 'refuse' | 'free', is_unknown_price_fixed: boolean, keeps_usage: boolean}} Rules as GET /budgets/settings says */
/** @typedef {{budgets: Budget[], rules: Rules}} Read */
/** @typedef {{code: string, level?: string, subject?: string, unit?: string, period?: string, left?: number, asked?: number, frees_at?: number | null, model?: string}} Refused what a call was refused for */

const NANO = 1_000_000_000;
/** What a number of the page holds to the last billionth of a dollar. */
const MOST_DOLLARS = 9_000_000;
/** A budget with no more than this part left is nearly used up. */
const NEARLY = 0.1;

/** @param {{refused: Refused | null}} props */
export function Budgets({refused}) {
  const mayChange = useStore(seesAll);
  const people = usePeople();
  const [read, setRead] = useState(/** @type {Read | {error: string} | null} */ (null));
  const [opened, setOpened] = useState(/** @type {string | null} */ (null));
  const load = async () => {
    try {
      const [budgets, rules] = await Promise.all([api.get('/budgets'), api.get('/budgets/settings')]);
      setRead({budgets: budgets.body.data, rules: rules.body.data});
    } catch (error) {
      setRead({error: reasonOf(error)});
    }
  };
  useEffect(() => void load(), []);
  const done = async () => {
    setOpened(null);
    await load();
  };
  if (read === null) return h(Waiting);
  if ('error' in read) return h(NotRead, null, read.error, ' ', h(Button, {label: t('library.again'), onClick: () => void load()}));
  const {budgets, rules} = read;
  return div(
    {className: 'usage-page'},
    refused === null ? null : h(Refusal, {refused, mayChange, isSeen: budgets.some((one) => isMeant(one, refused))}),
    p({className: 'text-soft'}, t(mayChange ? 'usage.budgetsText' : 'usage.budgetsOwn')),
    div(
      {className: 'usage-budget-tools'},
      mayChange && opened !== 'new' ? h(Button, {label: t('usage.budgetNew'), icon: 'add', tone: 'primary', onClick: () => setOpened('new')}) : null,
      h(Button, {label: t('usage.refresh'), icon: 'refresh', onClick: () => void load()}),
    ),
    opened === 'new' ? h(BudgetForm, {rules, budgets, onDone: done, onCancel: () => setOpened(null)}) : null,
    budgets.length === 0
      ? p({className: 'panel-empty'}, t(mayChange ? 'usage.budgetsNone' : 'usage.budgetsNoneOwn'))
      : ul({className: 'key-list', 'aria-label': t('usage.page.budgets')}, budgets.map((budget) => h(Line, {key: budget.id, budget, people, mayChange, isOpen: opened === budget.id, isMeant: isMeant(budget, refused), onOpen: setOpened, onDone: done}))),
    h(UnknownPrices, {rules, mayChange, onDone: done}),
  );
}

/** Whether a budget is the one that refused a call. @param {Budget} budget @param {Refused | null} refused */
function isMeant(budget, refused) {
  return refused !== null && budget.level === refused.level && budget.subject === refused.subject && budget.unit === refused.unit && budget.period === refused.period;
}

/** What led here. @param {{refused: Refused, mayChange: boolean, isSeen: boolean}} props */
function Refusal({refused, mayChange, isSeen}) {
  const {code: why, level, unit, period, left, asked, frees_at: frees, model} = refused;
  if (why === 'price_unknown') return h(FailureBox, {role: 'note'}, p(null, t(mayChange ? 'usage.refusedPrice' : 'usage.refusedPriceAsk', {model: model || t('usage.without.model')})));
  if (!level || !unit || !period) return h(FailureBox, {role: 'note'}, p(null, t('usage.refused')), mayChange ? null : p(null, t('usage.refusedAsk')));
  return h(
    FailureBox,
    {role: 'note'},
    p(null, t('usage.refusedBy', {level: levelName(level), what: ofWhat(unit, period)}), ' ', left === undefined || asked === undefined ? null : [t('usage.refusedAmounts', {left: shown(unit, left), asked: shown(unit, asked)}), ' '], frees ? t('usage.freesAt', {time: moment(frees)}) : t(unit === 'calls' ? 'usage.freesWithCalls' : 'usage.freesNever')),
    mayChange ? null : p(null, t(isSeen ? 'usage.refusedAsk' : 'usage.refusedUnseen')),
  );
}

/** A level in words; of one that this page has no words for, its own name. @param {string} level */
function levelName(level) {
  return translated(`usage.level.${level}`) ?? level;
}

/** What a budget is of: money a month, calls at once. @param {string} unit @param {string} period */
function ofWhat(unit, period) {
  const what = translated(`usage.unit.${unit}`) ?? unit;
  return unit === 'calls' ? what : `${what} ${translated(`usage.period.${period}`) ?? period}`;
}

/** @param {string} unit @param {number} amount */
function shown(unit, amount) {
  return unit === 'money' ? money(amount) : number(amount);
}

/** Whom a budget is of, in words. @param {Budget} budget @param {import('./people.js').People} people */
function whom({level, subject, subject_name: name}, people) {
  if (subject === '') return levelName(level);
  const me = store.get().server.me;
  const called = name ?? (level === 'account' ? people.get(subject) : undefined) ?? subject;
  return `${levelName(level)}: ${called}${level === 'account' && me?.account_id === subject ? ` (${t('usage.you')})` : ''}`;
}

/** @param {{budget: Budget, people: import('./people.js').People, mayChange: boolean, isOpen: boolean, isMeant: boolean, onOpen: (id: string | null) => void, onDone: () => Promise<void>}} props */
function Line({budget, people, mayChange, isOpen, isMeant: meant, onOpen, onDone}) {
  const {id, unit, period, amount, spent, reserved, left, resets_at: resets} = budget;
  const of = whom(budget, people);
  const title = `${of} · ${ofWhat(unit, period)}`;
  const isUsedUp = left <= 0;
  const isNearly = !isUsedUp && left <= amount * NEARLY;
  const remove = async () => {
    const answer = await ask({title: t('usage.budgetRemove', {name: title}), text: t('usage.budgetRemoveText'), choices: [{id: 'remove', label: t('usage.budgetRemoveNow'), tone: 'danger'}]});
    if (answer !== 'remove') return;
    try {
      await api.send('DELETE', `/budgets/${encodeURIComponent(id)}`);
      notify('success', 'usage.budgetRemoved', {name: title});
    } catch (error) {
      notifyFailure(error);
    }
    await onDone();
  };
  const facts = [
    unit === 'calls' ? t('usage.underWay', {amount: number(reserved)}) : t('usage.spent', {amount: shown(unit, spent)}),
    unit !== 'calls' && reserved > 0 ? t('usage.held', {amount: shown(unit, reserved)}) : '',
    t('usage.left', {amount: shown(unit, left)}),
    resets === null ? (unit === 'calls' ? '' : t('usage.noReset')) : t('usage.resets', {time: moment(resets)}),
  ];
  return li(
    {className: meant ? 'key-line usage-budget usage-meant' : 'key-line usage-budget', 'aria-label': title},
    h(Icon, {name: 'coins'}),
    div(
      {className: 'key-text'},
      span(
        null,
        of,
        budget.subject !== '' && budget.subject_name !== null && budget.subject_name !== budget.subject ? [' ', code({key: 'id', className: 'text-soft'}, budget.subject)] : null,
        isUsedUp ? [' ', span({key: 'up', className: 'chip chip-bad'}, t('usage.usedUp'))] : isNearly ? [' ', span({key: 'near', className: 'chip chip-warn'}, t('usage.nearlyUp'))] : null,
      ),
      span({className: 'usage-budget-amount'}, t('usage.amountOf', {amount: shown(unit, amount), what: unit === 'money' ? (translated(`usage.period.${period}`) ?? period) : ofWhat(unit, period)})),
      h(Meter, {label: title, budget}),
      span({className: 'text-soft'}, facts.filter(Boolean).join(' · ')),
      isUsedUp ? span({className: 'usage-up'}, resets === null ? t(unit === 'calls' ? 'usage.freesWithCalls' : mayChange ? 'usage.upForever' : 'usage.upForeverAsk') : t('usage.upUntil', {time: moment(resets)})) : null,
    ),
    mayChange ? h(Button, {label: t('usage.change'), icon: 'edit', onClick: () => onOpen(isOpen ? null : id), rest: {'aria-label': t('usage.changeNamed', {name: title}), 'aria-expanded': isOpen}}) : null,
    mayChange ? h(Button, {label: t('usage.budgetRemove', {name: title}), icon: 'trash', iconOnly: true, tone: 'quiet', onClick: () => void remove()}) : null,
    isOpen ? h(AmountForm, {budget, title, onDone, onCancel: () => onOpen(null)}) : null,
  );
}

/** What is spent and held of a budget, as a bar. @param {{label: string, budget: Budget}} props */
function Meter({label, budget: {unit, amount, spent, reserved, left}}) {
  const whole = Math.max(amount, spent + reserved, 1);
  /** @param {number} part */
  const width = (part) => ({width: `${(part / whole) * 100}%`});
  return div(
    {className: 'usage-meter', role: 'meter', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': amount, 'aria-valuenow': Math.min(spent + reserved, amount), 'aria-valuetext': t('usage.meter', {left: shown(unit, left), amount: shown(unit, amount)})},
    span({className: left <= 0 ? 'usage-meter-spent usage-meter-up' : 'usage-meter-spent', style: width(spent)}),
    span({className: 'usage-meter-held', style: width(reserved)}),
  );
}

/** An amount as it is typed: dollars, or a whole number; null where it is neither. @param {string} unit @param {string} text */
function amountOf(unit, text) {
  const typed = Number(text.trim().replace(',', '.'));
  if (text.trim() === '' || !(typed >= 0)) return null;
  if (unit === 'money') return typed <= MOST_DOLLARS ? Math.round(typed * NANO) : null;
  return Number.isSafeInteger(typed) ? typed : null;
}

/** @param {string} unit */
function amountWords(unit) {
  return unit === 'money' ? {label: t('usage.amount.money'), error: t('usage.amountWrong.money')} : {label: t('usage.amount.other', {unit: translated(`usage.unit.${unit}`) ?? unit}), error: t('usage.amountWrong.other')};
}

/** @param {{budget: Budget, title: string, onDone: () => Promise<void>, onCancel: () => void}} props */
function AmountForm({budget, title, onDone, onCancel}) {
  const {level, subject, unit, period, amount} = budget;
  const [typed, setTyped] = useState(String(unit === 'money' ? amount / NANO : amount));
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const words = amountWords(unit);
  const submit = async () => {
    const next = amountOf(unit, typed);
    if (next === null) {
      setFailure(words.error);
      return;
    }
    try {
      await api.send('PUT', '/budgets', {level, subject, unit, period, amount: next});
      notify('success', 'usage.budgetSet', {name: title});
      await onDone();
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return h(
    FormBox,
    {label: t('usage.changeNamed', {name: title}), onSubmit: submit, onCancel, confirm: t('app.save')},
    h(TextField, {label: words.label, value: typed, onChange: setTyped, autoFocus: true, selects: true, hint: t('usage.changeHint'), error: failure}),
  );
}

/** @param {{label: string, confirm: string, onSubmit: () => Promise<void>, onCancel: () => void, children?: import('../h.js').ReactNode}} props */
function FormBox({label, confirm, onSubmit, onCancel, children}) {
  return form(
    {
      className: 'key-form key-line-form',
      'aria-label': label,
      onSubmit: (event) => {
        event.preventDefault();
        void onSubmit();
      },
    },
    children,
    div({className: 'key-form-foot'}, h(Button, {label: t('app.cancel'), onClick: onCancel}), h(Button, {label: confirm, tone: 'primary', type: 'submit'})),
  );
}

/**
 * Where the ids of what a budget may be of are listed, by its level; of a level that this page does not know the id is typed.
 * @type {Record<string, () => Promise<{id: string, name: string}[]>>}
 */
const SUBJECTS = {
  account: async () => (await api.get('/accounts')).body.data,
  key: async () => {
    // One's own, and those of others that have called.
    const [own, used] = await Promise.all([api.get('/auth/keys').then(({body}) => body.items, () => []), api.get('/usage/sums?by=key&account=*')]);
    const found = [...own.map((/** @type {any} */ one) => [one.id, one.name || one.key_prefix]), ...used.body.data.map((/** @type {any} */ one) => [one.name, one.label ?? one.name])];
    return [...new Map(found.filter(([id]) => id))].map(([id, name]) => ({id, name}));
  },
  project: async () => (await api.get('/projects?limit=100')).body.data.map((/** @type {any} */ one) => ({id: one.id, name: one.name})),
};

/** The things that a budget of a level may be of. @param {string} level */
function useSubjects(level) {
  const [found, setFound] = useState(/** @type {{level: string, list: {id: string, name: string}[]}} */ ({level: '', list: []}));
  useEffect(() => {
    let isStale = false;
    // Where there is no list the id is typed.
    if (Object.hasOwn(SUBJECTS, level)) SUBJECTS[level]().then((list) => isStale || setFound({level, list}), () => null);
    return () => {
      isStale = true;
    };
  }, [level]);
  return found.level === level ? found.list : [];
}

/** @param {{rules: Rules, budgets: Budget[], onDone: () => Promise<void>, onCancel: () => void}} props */
function BudgetForm({rules, budgets, onDone, onCancel}) {
  const [typed, setTyped] = useState({level: rules.levels.includes('account') ? 'account' : rules.levels[0], subject: '', unit: 'money', period: 'month', amount: ''});
  const [isTried, setTried] = useState(false);
  const [failure, setFailure] = useState(/** @type {string | null} */ (null));
  const {level, unit} = typed;
  const subjects = useSubjects(level);
  const isOfServer = level === 'server';
  const isChosen = level === 'account' && subjects.length > 0;
  const subject = isOfServer ? '' : typed.subject.trim() || (isChosen ? subjects[0].id : '');
  const amount = amountOf(unit, typed.amount);
  const words = amountWords(unit);
  const period = unit === 'calls' ? 'ever' : typed.period;
  const there = budgets.find((one) => one.level === level && one.subject === subject && one.unit === unit && one.period === period);
  /** @param {Partial<typeof typed>} patch */
  const set = (patch) => {
    setTyped({...typed, ...patch});
    setFailure(null);
  };
  const submit = async () => {
    setTried(true);
    if (amount === null || (!isOfServer && subject === '')) return;
    try {
      await api.send('PUT', '/budgets', {level, subject, unit, period, amount});
      notify('success', 'usage.budgetSet', {name: `${levelName(level)} · ${ofWhat(unit, period)}`});
      await onDone();
    } catch (error) {
      setFailure(reasonOf(error));
    }
  };
  return h(
    FormBox,
    {label: t('usage.budgetNew'), onSubmit: submit, onCancel, confirm: t('usage.budgetMake')},
    h(SelectField, {label: t('usage.levelLabel'), value: level, autoFocus: true, onChange: (value) => set({level: value, subject: ''}), options: rules.levels.map((value) => ({value, label: levelName(value)})), hint: translated(`usage.levelHint.${level}`) ?? undefined}),
    isOfServer
      ? null
      : isChosen
        ? h(SelectField, {label: t('usage.subject.account'), value: subject, onChange: (value) => set({subject: value}), options: subjects.map(({id, name}) => ({value: id, label: name === id ? id : `${name} (${id})`}))})
        : h(
            Fragment,
            null,
            h(TextField, {label: translated(`usage.subject.${level}`) ?? t('usage.subject.other', {level: levelName(level)}), value: typed.subject, onChange: (value) => set({subject: value}), mono: true, list: 'usage-subjects', hint: t('usage.subjectHint'), error: isTried && subject === '' ? t('usage.subjectMissing') : null}),
            datalist({id: 'usage-subjects'}, subjects.map(({id, name}) => option({key: id, value: id}, name))),
          ),
    h(SelectField, {label: t('usage.unitLabel'), value: unit, onChange: (value) => set({unit: value}), options: rules.units.map((value) => ({value, label: translated(`usage.unitOf.${value}`) ?? value}))}),
    unit === 'calls' ? null : h(SelectField, {label: t('usage.periodLabel'), value: typed.period, onChange: (value) => set({period: value}), hint: t('usage.periodHint'), options: rules.periods.map((value) => ({value, label: translated(`usage.period.${value}`) ?? value}))}),
    h(TextField, {label: words.label, value: typed.amount, onChange: (value) => set({amount: value}), error: isTried && amount === null ? words.error : null, hint: there ? t('usage.isThere', {amount: shown(unit, there.amount)}) : undefined}),
    failure === null ? null : p({className: 'field-error', role: 'alert'}, failure),
  );
}

/** What becomes of calls whose price nobody knows. @param {{rules: Rules, mayChange: boolean, onDone: () => Promise<void>}} props */
function UnknownPrices({rules, mayChange, onDone}) {
  const isFree = rules.unknown_price === 'free';
  const words = t(isFree ? 'usage.unknownFree' : 'usage.unknownRefused');
  if (!mayChange) return p({className: 'text-soft'}, words);
  /** @param {boolean} free */
  const choose = async (free) => {
    try {
      await api.send('PUT', '/budgets/settings', {unknown_price: free ? 'free' : 'refuse'});
    } catch (error) {
      notifyFailure(error);
    }
    await onDone();
  };
  return div(
    {className: 'key-form'},
    h(CheckField, {label: t('usage.unknownSwitch'), checked: isFree, disabled: rules.is_unknown_price_fixed, onChange: (free) => void choose(free), hint: rules.is_unknown_price_fixed ? t('usage.unknownFixed') : words}),
  );
}
