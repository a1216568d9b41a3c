/** Macros in a code field: coloured by kind, unknown names marked, a hover with the last value, a jump to the defining node. */
import {valueAt} from '../core/doc.js';
import {tokenise} from '../core/macros.js';
import {select} from '../state/tabs.js';
import {setView} from '../state/view.js';
import {t} from '../words.js';
import {lint, state, view} from './codemirror.js';
import {lastValues, namesAt} from './names.js';

const {Decoration, EditorView, hoverTooltip, ViewPlugin} = view;
const {RangeSetBuilder} = state;

/** @typedef {import('../core/doc.js').Token} Token */
/** @typedef {{node: string | null, language: 'text' | 'json' | 'formula' | 'condition', secrets: boolean, prompt: boolean}} Where */

const HOVER_VALUE = 1500;
const MARKS = Object.fromEntries(
  ['var', 'out', 'short-out', 'prompt', 'name', 'secret', 'curly', 'error'].map((kind) => [kind, Decoration.mark({class: `macro macro-${kind}`})]),
);
/** The class of a diagnostic's mark where the server cannot read a macro. */
export const BROKEN = 'macro-broken';
/** The names of the context that have members. */
const WITH_MEMBERS = ['chat', 'params', 'incoming'];
const UNKNOWN = Decoration.mark({class: 'macro macro-unknown'});

/**
 * @param {() => Where} where read when needed, because the node may change
 */
export function macros(where) {
  return [marks(where), hover(where), jump(where)];
}

/** @param {() => Where} where */
function marks(where) {
  return ViewPlugin.fromClass(
    class {
      /** @param {import('./codemirror.js').view.EditorView} editor */
      constructor(editor) {
        this.decorations = decorate(editor, where());
      }
      /** @param {import('./codemirror.js').view.ViewUpdate} update */
      update(update) {
        if (update.docChanged || update.viewportChanged || update.transactions.some(isNews)) {
          this.decorations = decorate(update.view, where());
        }
      }
    },
    {decorations: (plugin) => plugin.decorations},
  );
}

/** Marks a transaction after which the names are looked up anew. */
export const refresh = state.Annotation.define();

/** @param {import('./codemirror.js').state.Transaction} one */
function isNews(one) {
  return one.annotation(refresh) || one.effects.some((effect) => effect.is(lint.setDiagnosticsEffect));
}

/**
 * @param {import('./codemirror.js').view.EditorView} editor
 * @param {Where} where
 */
function decorate(editor, where) {
  /** @type {import('./codemirror.js').state.RangeSetBuilder<import('./codemirror.js').view.Decoration>} */
  const builder = new RangeSetBuilder();
  const {from, to} = editor.viewport;
  const names = where.node === null ? null : knownNames(where.node);
  /** @type {number[]} */
  const broken = [];
  lint.forEachDiagnostic(editor.state, (one, at) => void (one.markClass === BROKEN && broken.push(at)));
  for (const token of tokenise(editor.state.doc.toString(), where.language)) {
    if (token.kind === 'text' || token.to < from || token.from > to) continue;
    const isBroken = broken.some((at) => token.from <= at && at < token.to);
    builder.add(token.from, token.to, isBroken ? MARKS.error : isUnknown(token, names) ? UNKNOWN : MARKS[token.kind]);
  }
  return builder.finish();
}

/** The names, their first steps, and `chat.` where the members of the context's `chat` are all that it may have. @param {string} node */
function knownNames(node) {
  const names = namesAt(node);
  const open = WITH_MEMBERS.filter((name) => names.some((one) => one.name === name && one.kind === 'context'));
  return new Set([...names.flatMap(({name}) => [name, name.split('.')[0]]), ...open.map((name) => `${name}.`)]);
}

/**
 * What can be wrong without a run: bare names, and members of the context, which are known unless a variable hides them. Deeper
 * paths may lead anywhere.
 * @param {Token} token
 * @param {Set<string> | null} names with the members of the context as `chat.last_user`
 */
function isUnknown(token, names) {
  if (names === null) return false;
  if (token.kind === 'name' && token.name !== undefined && !names.has(token.name)) return true;
  const [name, member] = token.paths?.[0]?.path ?? [];
  return member !== undefined && WITH_MEMBERS.includes(name) && names.has(`${name}.`) && !names.has(`${name}.${member}`);
}

/** @param {() => Where} where */
function hover(where) {
  return hoverTooltip((editor, position) => {
    const now = where();
    const token = tokenAt(editor, position, now);
    if (!token) return null;
    return {pos: token.from, end: token.to, above: true, create: () => ({dom: described(token, now.node)})};
  });
}

/**
 * @param {import('./codemirror.js').view.EditorView} editor
 * @param {number} position
 * @param {Where} where
 */
function tokenAt(editor, position, where) {
  const tokens = tokenise(editor.state.doc.toString(), where.language);
  return tokens.find((token) => token.kind !== 'text' && token.from <= position && position <= token.to) ?? null;
}

/**
 * What a macro is, where its value comes from and what it was in the last run.
 * @param {Token} token
 * @param {string | null} node
 */
function described(token, node) {
  const box = document.createElement('div');
  box.className = 'macro-hover';
  /** @param {string} name @param {string} text */
  const line = (name, text) => {
    const element = document.createElement('div');
    element.className = name;
    element.textContent = text;
    box.append(element);
  };
  line('macro-hover-kind', t(`code.kind.${token.kind}`));
  const found = node === null ? null : valueOf(token, node);
  if (found?.origin) line('macro-hover-origin', found.origin);
  if (found && found.value !== undefined) {
    line('macro-hover-label', t('code.lastValue'));
    const text = typeof found.value === 'string' ? found.value : (JSON.stringify(found.value, null, 1) ?? '');
    line('macro-hover-value', text.length > HOVER_VALUE ? `${text.slice(0, HOVER_VALUE)}…` : text);
  } else if (token.kind !== 'secret' && token.kind !== 'prompt' && token.kind !== 'error') line('macro-hover-label', t('code.noValue'));
  return box;
}

/**
 * @param {Token} token
 * @param {string} node
 * @returns {{origin: string, value: any} | null}
 */
function valueOf(token, node) {
  if (token.node !== undefined) {
    const out = lastValues(node).lastOut[token.node];
    const path = (token.path ?? []).filter((key, position) => !(position === 0 && (key === 'OUT' || key === token.node)));
    const rest = path[0] === token.node ? path.slice(1) : path;
    return {origin: t('code.fromNode', {node: token.node}), value: token.kind === 'short-out' ? bestText(out) : valueAt(out, rest)};
  }
  const path = token.path ?? (token.name ? [token.name] : []);
  const names = namesAt(node);
  const whole = names.find((one) => one.name === path.join('.') && one.value !== undefined);
  if (whole) return {origin: whole.detail, value: whole.value};
  const first = names.find((one) => one.name === path[0]);
  return first ? {origin: first.detail, value: valueAt(first.value, path.slice(1))} : null;
}

/** @param {any} out */
function bestText(out) {
  return typeof out?.response_text === 'string' ? out.response_text : undefined;
}

/** Ctrl+click, and F12 at the cursor. @param {() => Where} where */
function jump(where) {
  /** @param {import('./codemirror.js').view.EditorView} editor @param {number} position */
  const go = (editor, position) => {
    const now = where();
    const token = tokenAt(editor, position, now);
    const target = token && now.node !== null ? definingNode(token, now.node) : null;
    if (target === null) return false;
    select({nodes: [target]});
    setView({inspectorOpen: true, inspectorTab: 'settings'});
    return true;
  };
  return [
    EditorView.domEventHandlers({
      mousedown: (event, editor) => {
        if (!event.ctrlKey && !event.metaKey) return false;
        const position = editor.posAtCoords({x: event.clientX, y: event.clientY});
        return position !== null && go(editor, position);
      },
    }),
    view.keymap.of([{key: 'F12', run: (editor) => go(editor, editor.state.selection.main.head)}]),
  ];
}

/**
 * The node that gives a macro its value.
 * @param {Token} token
 * @param {string} node
 */
function definingNode(token, node) {
  if (token.node !== undefined) return token.node;
  const name = token.path?.[0] ?? token.name;
  return namesAt(node).find((one) => one.kind === 'variable' && one.name === name)?.origin ?? null;
}
