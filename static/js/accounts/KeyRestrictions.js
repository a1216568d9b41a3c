/** What a key may be used for, as people set it: fields, and what they mean for the server. */
import {Fragment, h, tags} from '../h.js';
import {t} from '../words.js';
import {CheckField, TextField} from '../ui/fields.js';

const {details, fieldset, legend, summary} = tags;

/**
 * @typedef {object} Restrictions as the server tells them; null: not kept to anything of this kind
 * @property {string[] | null} pipelines
 * @property {string[] | null} models
 * @property {string[] | null} routes
 * @property {string[] | null} addresses
 * @property {boolean} admin
 */
/** @typedef {{level: string, subject: string, unit: string, period: string, amount: number}} Budget */
/**
 * @typedef {object} Allowed what stands in the fields
 * @property {string} pipelines
 * @property {string} models
 * @property {string} addresses
 * @property {string[]} routes
 * @property {boolean} admin
 * @property {string} requests a minute
 * @property {string} tokens a minute
 * @property {string} calls at once
 * @property {Budget[]} others limits of the key that have no field here, and stay
 */

const FAMILIES = ['chat', 'embeddings', 'images', 'audio', 'moderations', 'batches', 'memory', 'page', 'administration'];
const LISTS = /** @type {const} */ (['pipelines', 'models', 'addresses']);
/** The limits that have a field, with their periods. */
const LIMITS = /** @type {const} */ ({requests: 'minute', tokens: 'minute', calls: 'ever'});
const UNITS = /** @type {(keyof typeof LIMITS)[]} */ (Object.keys(LIMITS));

/** What stands in the fields of a new key: an admin's makes no further admins unless somebody wants that. @returns {Allowed} */
export const newAllowed = () => ({pipelines: '', models: '', addresses: '', routes: [], admin: false, requests: '', tokens: '', calls: '', others: []});

/**
 * What stands in the fields of a key that there is.
 * @param {Restrictions | null} restrictions
 * @param {Budget[]} budgets its own
 * @returns {Allowed}
 */
export function allowedOf(restrictions, budgets) {
  /** @param {string[] | null | undefined} names */
  const line = (names) => (names ?? []).join(', ');
  /** @param {keyof typeof LIMITS} unit */
  const amount = (unit) => String(budgets.find((one) => one.unit === unit && one.period === LIMITS[unit])?.amount ?? '');
  return {
    pipelines: line(restrictions?.pipelines),
    models: line(restrictions?.models),
    addresses: line(restrictions?.addresses),
    routes: [...(restrictions?.routes ?? [])],
    admin: restrictions?.admin ?? true,
    requests: amount('requests'),
    tokens: amount('tokens'),
    calls: amount('calls'),
    others: budgets.filter((one) => !UNITS.some((unit) => unit === one.unit && LIMITS[unit] === one.period)),
  };
}

/**
 * The fields as the server takes them. `isAdmin`: whose key it is; nobody else's could manage accounts.
 * @param {Allowed} allowed
 * @param {boolean} isAdmin
 */
export function askedOf(allowed, isAdmin) {
  /** @param {string} line */
  const names = (line) => {
    const found = line.split(',').map((one) => one.trim()).filter(Boolean);
    return found.length === 0 ? null : found;
  };
  const [pipelines, models, addresses] = LISTS.map((name) => names(allowed[name]));
  const restrictions = {pipelines, models, addresses, routes: allowed.routes.length === 0 ? null : allowed.routes, admin: allowed.admin || !isAdmin};
  const limits = [
    ...UNITS.filter((unit) => allowed[unit].trim() !== '').map((unit) => ({unit, period: LIMITS[unit], amount: Number(allowed[unit])})),
    ...allowed.others.map(({unit, period, amount}) => ({unit, period, amount})),
  ];
  return {restrictions, limits};
}

/** What a key is kept to, in a few words; empty where it may all. @param {Restrictions | null} restrictions */
export function keptTo(restrictions) {
  if (restrictions === null) return '';
  const kinds = [...LISTS.filter((name) => restrictions[name] !== null).map((name) => t(`accounts.kept.${name}`)), ...(restrictions.routes ?? []).map((name) => t(`accounts.family.${name}`))];
  if (!restrictions.admin) kinds.push(t('accounts.kept.admin'));
  return kinds.length === 0 ? '' : t('accounts.keptTo', {kinds: kinds.join(', ')});
}

/** @param {{value: Allowed, isAdmin: boolean, isOpen?: boolean, onChange: (allowed: Allowed) => void}} props */
export function RestrictionFields({value, isAdmin, isOpen, onChange}) {
  /** @param {Partial<Allowed>} change */
  const set = (change) => onChange({...value, ...change});
  /** @param {'requests' | 'tokens' | 'calls'} unit */
  const limit = (unit) => h(TextField, {key: unit, label: t(`accounts.limit.${unit}`), value: value[unit], type: 'number', onChange: (next) => set({[unit]: next})});
  return h(
    Fragment,
    null,
    isAdmin ? h(CheckField, {label: t('accounts.keyAdmin'), checked: value.admin, hint: t('accounts.keyAdminHint'), onChange: (admin) => set({admin})}) : null,
    details(
      {className: 'chat-details', open: isOpen},
      summary(null, t('accounts.keyMay')),
      LISTS.map((name) => h(TextField, {key: name, label: t(`accounts.only.${name}`), value: value[name], hint: t(`accounts.only.${name}Hint`), onChange: (next) => set({[name]: next})})),
      fieldset(
        {className: 'key-families'},
        legend(null, t('accounts.only.routes')),
        FAMILIES.map((name) =>
          h(CheckField, {
            key: name,
            label: t(`accounts.family.${name}`),
            checked: value.routes.includes(name),
            onChange: (isOn) => set({routes: FAMILIES.filter((one) => (one === name ? isOn : value.routes.includes(one)))}),
          }),
        ),
      ),
      UNITS.map(limit),
    ),
  );
}
