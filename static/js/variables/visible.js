/** The names that a node can read, in groups, with what hides what. */
import {isEnabled, isObject, nodeById} from '../core/doc.js';
import {order, upstream} from '../core/graph.js';
import {writePath} from '../core/names.js';
import {TIERS} from '../core/tiers.js';

/** @typedef {import('../core/doc.js').VisibleName} VisibleName */
/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('../core/tiers.js').Tier} Tier */

const PLAIN = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}\p{N}_$@-]+)*$/u;

/**
 * @typedef {object} Shown a name as the list shows it
 * @property {string} name
 * @property {string} insert the whole macro
 * @property {VisibleName['kind']} kind
 * @property {string | null} node the node that gives it
 * @property {string} detail the node's title, or the tier
 * @property {any} [value]
 * @property {boolean} isHidden whether the name means something else here, or its value is not the one that a plain name gives
 * @property {string | null} by what hides it: a node's id or a tier
 *
 * @typedef {object} NameGroup
 * @property {string} id
 * @property {'own' | 'variable' | 'out' | 'stored' | 'context'} kind
 * @property {string | null} origin the node or the tier of the whole group
 * @property {string} detail
 * @property {Shown[]} names
 */

/**
 * What is visible, by where it comes from.
 * @param {VisibleName[]} names what `namesAt` says
 * @param {Pipeline} doc
 * @param {string} node
 * @param {{names: string[], paths: string[]}} contextNames
 * @returns {NameGroup[]}
 */
export function grouped(names, doc, node, contextNames) {
  const meaning = new Map(names.map((one) => [one.name, one]));
  /** @type {Map<string, NameGroup>} */
  const groups = new Map();
  /** @param {NameGroup['kind']} kind @param {string | null} origin @param {string} detail @param {Shown} shown */
  const put = (kind, origin, detail, shown) => {
    const id = `${kind}:${origin ?? ''}`;
    const group = groups.get(id) ?? {id, kind, origin, detail, names: []};
    group.names.push(shown);
    groups.set(id, group);
  };
  for (const one of names) {
    const kind = one.kind === 'short-out' ? 'out' : one.kind;
    if (one.kind === 'stored') {
      const tier = /** @type {Tier} */ (one.origin);
      // Each stored variable stands once, under its tier; how its plain name is read is said there.
      if (!one.name.startsWith('vars')) continue;
      const key = storedKey(one.name, tier);
      const plain = meaning.get(key);
      const isPlain = plain?.kind === 'stored' && plain.origin === tier;
      put('stored', tier, tier, {
        ...shownOf(one),
        name: key,
        insert: isPlain ? plain.insert : one.insert,
        isHidden: plain !== undefined && !isPlain,
        by: plain !== undefined && !isPlain ? plain.origin : null,
      });
    } else put(kind, kind === 'out' ? one.origin : null, kind === 'out' ? one.detail : '', shownOf(one));
  }
  for (const {name, id, title} of overwritten(doc, node)) {
    put('variable', null, '', {name, insert: `{{ ${name} }}`, kind: 'variable', node: id, detail: title, isHidden: true, by: meaning.get(name)?.origin ?? null});
  }
  for (const name of contextNames.names) {
    const over = meaning.get(name);
    if (over && over.kind !== 'context') put('context', null, '', {name, insert: `[[VAR:${name}]]`, kind: 'context', node: null, detail: '', isHidden: true, by: over.origin});
  }
  const rank = ['own', 'variable', 'out', 'stored', 'context'];
  return [...groups.values()].sort((a, b) => rank.indexOf(a.kind) - rank.indexOf(b.kind) || tierRank(a) - tierRank(b));
}

/** @param {NameGroup} group */
function tierRank({kind, origin}) {
  return kind === 'stored' ? TIERS.indexOf(/** @type {Tier} */ (origin)) : 0;
}

/** @param {VisibleName} name @returns {Shown} */
function shownOf({name, insert, kind, origin, detail, value}) {
  return {name, insert, kind, node: kind === 'context' || kind === 'stored' ? null : origin, detail, value, isHidden: false, by: null};
}

/** The variable's own name in `vars.branch.gold` or `vars.branch["a b"]`. @param {string} path @param {string} tier */
function storedKey(path, tier) {
  const rest = path.slice(`vars.${tier}`.length);
  return rest.startsWith('.') ? rest.slice(1) : JSON.parse(rest.slice(1, -1));
}

/** Rows of earlier SetVars whose name a later one sets again. @param {Pipeline} doc @param {string} node */
function overwritten(doc, node) {
  const before = upstream(doc, node);
  before.delete(node);
  const set = order(doc)
    .filter((id) => before.has(id))
    .flatMap((id) => {
      const one = nodeById(doc, id);
      const rows = one && isEnabled(one) && one.type === 'SetVars' && Array.isArray(one.config?.variables) ? one.config.variables : [];
      return rows
        .filter((row) => isObject(row) && typeof row.name === 'string' && row.name !== '' && (row.tier ?? 'run') === 'run')
        .map((row) => ({name: /** @type {any} */ (row).name, id, title: one?.title || one?.type || id}));
    });
  return set.filter((row, at) => set.some((later, position) => position > at && later.name === row.name && later.id !== row.id));
}

/**
 * How a stored variable is read: by its plain name, where that can be one, and by its tier.
 * @param {string} key
 * @param {Tier} tier
 * @returns {{plain: string | null, byTier: string}}
 */
export function macrosOf(key, tier) {
  return {plain: PLAIN.test(key) ? `{{ ${key} }}` : null, byTier: `{{ ${writePath(['vars', tier, key])} }}`};
}
