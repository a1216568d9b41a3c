/** Completion after `[[`, `{{`, `.` and `|`: what is really visible at the node, with its last value. */
import {valueAt} from '../core/doc.js';
import {CONDITION_CALLS, CONDITION_WORDS, contextAt} from '../core/macros.js';
import {store} from '../state/store.js';
import {t} from '../words.js';
import {autocomplete} from './codemirror.js';
import {lastValues, namesAt, shown} from './names.js';

/** @typedef {import('./codemirror.js').autocomplete.Completion} Completion */
/** @typedef {import('../core/macros.js').CompletionContext} Place */

/** Parts of a result behind which no dot can follow. */
const WHOLE = new Set(['response_text', 'finish_reason']);

/**
 * @param {() => import('./macros.js').Where} where read when asked, because the node may change
 */
export function completion(where) {
  return autocomplete.autocompletion({
    override: [(context) => complete(context, where())],
    activateOnTyping: true,
    icons: false,
    closeOnBlur: true,
    interactionDelay: 0,
  });
}

/**
 * @param {import('./codemirror.js').autocomplete.CompletionContext} context
 * @param {import('./macros.js').Where} where
 * @returns {import('./codemirror.js').autocomplete.CompletionResult | null}
 */
function complete(context, where) {
  if (where.language === 'condition') return where.node === null ? null : completeCondition(context, where.node);
  const place = contextAt(context.state.doc.toString(), context.pos);
  // A formula knows no macros.
  if (!place || where.node === null || where.language === 'formula') return null;
  const options = optionsFor(place, where.node, where);
  return options.length ? {from: place.from, to: context.pos, options, validFor: /^[\p{L}\p{N}_-]*$/u} : null;
}

/**
 * In a condition names stand alone, and words compare them.
 * @param {import('./codemirror.js').autocomplete.CompletionContext} context
 * @param {string} node
 * @returns {import('./codemirror.js').autocomplete.CompletionResult | null}
 */
function completeCondition(context, node) {
  const before = context.state.sliceDoc(0, context.pos);
  // Not in a string, and after a space only where somebody asks.
  if ((before.match(/(?<!\\)"/g)?.length ?? 0) % 2 === 1) return null;
  const written = /(?:[\p{L}_][\p{L}\p{N}_]*\.(?:[\p{L}\p{N}_$@-]+\.)*)?[\p{L}\p{N}_$@-]*$/u.exec(before)?.[0] ?? '';
  if (written === '' && before !== '' && !context.explicit) return null;
  const steps = written.split('.');
  const word = steps.pop() ?? '';
  const place = /** @type {Place} */ ({kind: 'curly', word, path: steps, from: context.pos - word.length, to: context.pos, closed: true});
  const options =
    steps[0] === 'OUT'
      ? outOptions(node, {...place, path: steps.slice(1)})
      : steps.length
        ? optionsFor(place, node, {secrets: false, prompt: false})
        : [...nameOptions(place, node, {secrets: false, prompt: false}, ''), ...contextOptions(node), ...wordOptions()];
  return options.length ? {from: place.from, to: context.pos, options, validFor: /^[\p{L}\p{N}_-]*$/u} : null;
}

/** The first steps of what every node can read. @param {string} node @returns {Completion[]} */
function contextOptions(node) {
  const firsts = new Set(contextPaths(node).filter((path) => !path.startsWith('loop.')).filter((path) => path.includes('.')).map((path) => path.split('.')[0]));
  return [...firsts].map((label) => goOn(`${label}.`, t('code.context')));
}

/** What compares, and the functions. @returns {Completion[]} */
function wordOptions() {
  return [
    ...CONDITION_WORDS.map((label) => ({label, detail: t('code.comparison'), type: 'keyword', boost: -2})),
    ...CONDITION_CALLS.map((label) => ({
      label: `${label}()`,
      detail: t('code.function'),
      type: 'function',
      boost: -3,
      apply: (/** @type {import('./codemirror.js').view.EditorView} */ view, /** @type {Completion} */ _option, /** @type {number} */ from, /** @type {number} */ to) =>
        view.dispatch({changes: {from, to, insert: `${label}()`}, selection: {anchor: from + label.length + 1}}),
    })),
  ];
}

/**
 * @param {Place} place
 * @param {string} node
 * @param {{secrets: boolean, prompt: boolean}} allowed
 * @returns {Completion[]}
 */
function optionsFor(place, node, allowed) {
  const end = place.closed ? '' : place.kind === 'curly' || place.kind === 'filter' ? ' }}' : ']]';
  if (place.kind === 'filter') return filterOptions(place.closed);
  if (place.kind === 'secret') return secretOptions(end);
  if (place.kind === 'out') return outOptions(node, place);
  if (place.kind === 'var') return pathOptions(contextPaths(node), place.path);
  if (place.kind === 'curly' && place.path.length > 0) return [...pathOptions(contextPaths(node), place.path), ...valueOptions(node, place.path)];
  return nameOptions(place, node, allowed, end);
}

/**
 * @param {Place} place
 * @param {string} node
 * @param {{secrets: boolean, prompt: boolean}} allowed
 * @param {string} end
 */
function nameOptions(place, node, allowed, end) {
  const isSquare = place.kind === 'square';
  /** @type {Completion[]} */
  const options = isSquare
    ? [
        goOn('VAR:', t('code.var')),
        goOn('OUT:', t('code.out')),
        ...(allowed.prompt ? [{label: 'PROMPT', apply: whole(`PROMPT${end}`), detail: t('code.prompt'), type: 'keyword'}] : []),
        ...(allowed.secrets ? [goOn('SECRET:', t('code.secret'))] : []),
      ]
    : [goOn('OUT.', t('code.out')), ...(loopPaths(node).length ? [goOn('loop.', t('code.loop'))] : [])];
  for (const name of namesAt(node)) {
    // The Prompt Blocks can be read in a body template only.
    if (name.kind === 'own' && (!allowed.prompt || name.name === 'PROMPT')) continue;
    // `OUT.n1` and longer paths have steps of their own.
    if (name.kind === 'out' || !/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name.name)) continue;
    options.push({
      label: name.name,
      apply: mayGoOn(name) && !isSquare ? name.name : whole(`${name.name}${end}`),
      detail: [name.detail, shown(name.value)].filter(Boolean).join(' = '),
      type: name.kind,
      boost: name.kind === 'variable' ? 3 : name.kind === 'stored' ? 2 : 0,
    });
  }
  return options;
}

/** Whether a dot may follow: then the macro is not closed. @param {{value?: unknown}} name */
function mayGoOn(name) {
  return name.value !== null && typeof name.value === 'object';
}

/**
 * Insert the end of a macro: the cursor goes behind the brackets that closed it already, where the text goes on.
 * @param {string} insert
 * @returns {(view: import('./codemirror.js').view.EditorView, option: Completion, from: number, to: number) => void}
 */
function whole(insert) {
  return (view, _option, from, to) => {
    const closing = /^[^\S\n]*(?:\]\]|\}\})/.exec(view.state.sliceDoc(to, to + 8))?.[0].length ?? 0;
    view.dispatch({changes: {from, to, insert}, selection: {anchor: from + insert.length + closing}, userEvent: 'input.complete'});
  };
}

/** A form that wants more behind it. @param {string} label @param {string} detail @returns {Completion} */
function goOn(label, detail) {
  return {
    label,
    detail,
    type: 'keyword',
    boost: -1,
    apply: (view, _option, from, to) => {
      view.dispatch({changes: {from, to, insert: label}, selection: {anchor: from + label.length}});
      autocomplete.startCompletion(view);
    },
  };
}

/** @param {boolean} isClosed @returns {Completion[]} */
function filterOptions(isClosed) {
  return Object.entries(store.get().contextNames.filters).map(([name, most]) => ({
    label: name,
    detail: t(`code.filter.${name}`),
    type: 'function',
    apply: (view, _option, from, to) => {
      const insert = most > 0 ? `${name}()` : name;
      const text = isClosed ? insert : `${insert} }}`;
      view.dispatch({changes: {from, to, insert: text}, selection: {anchor: from + insert.length - (most > 0 ? 1 : 0)}});
    },
  }));
}

/** @param {string} end @returns {Completion[]} */
function secretOptions(end) {
  return store.get().library.secrets.map((secret) => ({
    label: secret.name,
    apply: whole(`${secret.name}${end}`),
    detail: secret.origins?.join(', ') ?? '',
    type: 'secret',
  }));
}

/**
 * Nodes that ran before, then what is in their results.
 * @param {string} node
 * @param {Place} place
 * @returns {Completion[]}
 */
function outOptions(node, place) {
  if (place.path.length === 0) {
    return namesAt(node)
      .filter((name) => name.kind === 'out' && name.origin !== null)
      .filter((name, position, all) => all.findIndex((one) => one.origin === name.origin) === position)
      .map((name) => goOnPath(/** @type {string} */ (name.origin), name.detail));
  }
  const [id, ...path] = place.path;
  const value = valueAt(lastValues(node).lastOut[id], path);
  const known = memberOptions(value);
  if (known.length || path.length) return known;
  const documented = ['response_text', 'result', 'usage', 'finish_reason', 'tool_calls', 'vars', 'error'];
  return documented.map((label) => ({label, apply: WHOLE.has(label) ? whole(label) : label, detail: t('code.notRunYet'), type: 'property'}));
}

/** The paths of the context. @param {string} node @returns {string[]} */
function contextPaths(node) {
  return [...store.get().contextNames.paths, ...loopPaths(node)];
}

/** What a node in a body reads of the iteration. @param {string} node @returns {string[]} */
function loopPaths(node) {
  return namesAt(node).flatMap(({name}) => (name.startsWith('loop.') ? [name] : []));
}

/**
 * The next steps of known paths.
 * @param {string[]} paths
 * @param {string[]} before
 * @returns {Completion[]}
 */
function pathOptions(paths, before) {
  const start = before.length ? `${before.join('.')}.` : '';
  const next = new Set(paths.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length).split('.')[0]));
  const isWhole = (/** @type {string} */ label) => before.length > 0 && !paths.some((path) => path.startsWith(`${start}${label}.`));
  return [...next].filter(Boolean).map((label) => ({label, apply: isWhole(label) ? whole(label) : label, detail: t('code.context'), type: 'context'}));
}

/**
 * Members of a variable's last value.
 * @param {string} node
 * @param {string[]} path
 */
function valueOptions(node, path) {
  const name = namesAt(node).find((one) => one.name === path[0]);
  return memberOptions(valueAt(name?.value, path.slice(1)));
}

/** @param {any} value @returns {Completion[]} */
function memberOptions(value) {
  if (value === null || typeof value !== 'object') return [];
  const keys = Array.isArray(value) ? value.map((_, index) => String(index)) : Object.keys(value);
  return keys
    .filter((key) => /^[\p{L}\p{N}_-]+$/u.test(key))
    .slice(0, 200)
    .map((key) => {
      const member = value[/** @type {any} */ (key)];
      return member !== null && typeof member === 'object' ? goOnPath(key, shown(member)) : {label: key, apply: whole(key), detail: shown(member), type: 'property'};
    });
}

/** A step behind which a dot and another step may follow. @param {string} label @param {string} detail @returns {Completion} */
function goOnPath(label, detail) {
  return {label, detail, type: 'out'};
}
