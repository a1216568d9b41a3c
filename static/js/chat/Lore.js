/** Which entries of lorebooks joined a prompt, by which key of which message, and which nearly did. */
import {h, Fragment, tags} from '../h.js';
import {t, translated} from '../words.js';
import {Icon} from '../ui/icons.js';

const {details, div, h3, li, mark, p, section, span, summary, ul} = tags;

const DRAWN = 200;
/** Why an entry does not join although nothing was found of it: nothing kept it out that a person might not expect. */
const USUAL = new Set(['no_match', 'no_keys', 'disabled']);

/** @param {{lore: any}} props `runtime_trace.worldbook` */
export function Lore({lore}) {
  const matches = /** @type {any[]} */ (lore.matches ?? []);
  const unused = /** @type {any[]} */ (lore.unused ?? []);
  if (matches.length + unused.length === 0) return null;
  const near = unused.filter((one) => one.first_match || !USUAL.has(one.reason));
  const far = unused.filter((one) => !near.includes(one));
  return section(
    {'aria-label': t('chat.lore'), className: 'chat-lore'},
    h3(null, t('chat.lore')),
    matches.length === 0 ? p({className: 'field-hint'}, t('chat.loreNone')) : h(Entries, {entries: matches, draw: Joined}),
    lore.is_cut ? p({className: 'chat-warning'}, h(Icon, {name: 'warning', size: 14}), t('chat.loreCut')) : null,
    near.length === 0 ? null : h(Fragment, null, h3(null, t('chat.loreNear')), h(Entries, {entries: near, draw: Unused})),
    far.length === 0 ? null : details(null, summary(null, t('chat.loreFar', {n: far.length})), h(Entries, {entries: far, draw: Unused})),
  );
}

/** @param {{entries: any[], draw: (props: {one: any}) => import('../h.js').ReactNode}} props */
function Entries({entries, draw}) {
  return ul({className: 'chat-lore-list'}, entries.slice(0, DRAWN).map((one, index) => li({key: index}, h(draw, {one}))));
}

/** @param {{one: any}} props */
function Joined({one}) {
  const {activation, insertion} = one;
  return div(
    null,
    h(Name, {one}),
    span({className: 'chip'}, placeOf(insertion)),
    h(Found, {match: activation.first_match, otherwise: t(activation.mode === 'constant' ? 'chat.loreConstant' : 'chat.loreSticky')}),
    activation.recursion_level > 0 ? span({className: 'text-soft'}, t('chat.loreRecursion', {n: activation.recursion_level})) : null,
  );
}

/** @param {{one: any}} props */
function Unused({one}) {
  const reason = translated(`chat.loreReason.${one.reason}`) ?? one.reason;
  return div(
    null,
    h(Name, {one}),
    span({className: 'chip chip-warn'}, [reason, one.detail].filter(Boolean).join(': ')),
    h(Found, {match: one.first_match, otherwise: ''}),
  );
}

/** The entry and its book. @param {{one: any}} props */
function Name({one}) {
  return h(
    Fragment,
    null,
    span({className: 'chat-section-name'}, one.comment || t('chat.loreUnnamed', {uid: String(one.uid)})),
    span({className: 'text-soft'}, one.source.worldbook_name || translated(`chat.loreBook.${one.source.kind}`) || one.source.kind),
  );
}

/** The key that was found, and where, in its words. @param {{match: any, otherwise: string}} props */
function Found({match, otherwise}) {
  if (!match) return otherwise === '' ? null : span({className: 'text-soft'}, otherwise);
  const where = match.message_index_from_latest;
  const place =
    where === undefined
      ? (translated(`chat.loreIn.${match.source_kind}`) ?? match.source_kind)
      : where === 0 ? t('chat.loreInNewest') : t('chat.loreInMessage', {n: where});
  return div({className: 'chat-lore-found'}, t('chat.loreKey', {key: match.matched_key, place}), ' ', excerptOf(match));
}

/** The words around the key, with what was found marked. @param {any} match */
function excerptOf({excerpt, char_start: start, char_end: end, matched_key: key}) {
  const length = end - start;
  // The excerpt begins at most 30 characters before the match; a plain key is found in it as it is written.
  const plain = excerpt.toLowerCase().indexOf(key.toLowerCase());
  const at = plain >= 0 ? plain : Math.min(start, 30);
  const size = plain >= 0 ? key.length : length;
  return span({className: 'chat-lore-excerpt'}, '…', excerpt.slice(0, at), mark(null, excerpt.slice(at, at + size)), excerpt.slice(at + size), '…');
}

/** Where an entry stands, in words. @param {any} insertion */
function placeOf({position, depth, outlet}) {
  return translated(`chat.lorePlace.${position}`, {depth: depth ?? 0, outlet: outlet ?? ''}) ?? position;
}
