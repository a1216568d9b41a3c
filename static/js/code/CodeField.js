/** A field for templates and formulas: macros coloured, completed and explained; problems at their place. */
import {classes, Fragment, h, tags, useEffect, useId, useRef, useState} from '../h.js';
import {store, useStore} from '../state/store.js';
import {activeTab, isFrontLocked} from '../state/tabs.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {t} from '../words.js';
import {autocomplete, commands, langJson, language as languages, lint, search, state, view} from './codemirror.js';
import {completion} from './completion.js';
import {look} from './look.js';
import {BROKEN, macros, refresh} from './macros.js';

const {div, label: labelTag, p, span} = tags;
const {Compartment, EditorState} = state;
const {EditorView} = view;

/** Marks a change that came from outside, which must not be handed back. */
const fromOutside = state.Annotation.define();

/**
 * @typedef {object} CodeFieldProps
 * @property {string} label
 * @property {string} value
 * @property {(value: string) => void} [onChange]
 * @property {'text' | 'json' | 'formula' | 'condition'} [language]
 * @property {string | null} [node] whose names are completed; null: no macros
 * @property {string} [field] the field's dotted path in the node's config, for problems and for going to them
 * @property {boolean} [secrets] whether `[[SECRET:..]]` may stand here
 * @property {boolean} [prompt] whether `[[PROMPT]]` may stand here
 * @property {boolean} [hideLabel]
 * @property {boolean} [singleLine]
 * @property {number} [lines] how many are shown at least
 * @property {number} [maxLines] from where on it scrolls
 * @property {string} [placeholder]
 * @property {string} [hint]
 * @property {string | null} [error]
 * @property {boolean} [readOnly]
 * @property {import('../h.js').ReactNode} [aside] beside the label
 * @property {boolean} [isWhole] takes all the room that there is, and offers no larger one
 */

/** @param {CodeFieldProps} props */
export function CodeField(props) {
  const [isLarge, setLarge] = useState(false);
  return h(
    Fragment,
    null,
    h(Field, {...props, onEnlarge: props.singleLine || props.isWhole ? undefined : () => setLarge(true)}),
    isLarge
      ? h(
          Dialog,
          {title: props.label, size: 'full', className: 'code-dialog', onClose: () => setLarge(false)},
          h(Field, {...props, hideLabel: true, aside: undefined, isWhole: true}),
        )
      : null,
  );
}

/** @param {CodeFieldProps & {onEnlarge?: () => void}} props */
function Field(props) {
  const {label, value, language = 'text', node = null, field, hideLabel, singleLine = false, lines = 1, maxLines = 24, placeholder, hint, error, readOnly: isAsked = false} = props;
  // A node's fields are those of the document in front.
  const isLocked = useStore((state) => node !== null && isFrontLocked(state));
  const readOnly = isAsked || isLocked;
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  const editor = useRef(/** @type {import('./codemirror.js').view.EditorView | null} */ (null));
  const now = useRef(props);
  now.current = props;
  const id = useId();
  const modes = useRef({language: new Compartment(), readOnly: new Compartment()});
  useEffect(() => {
    if (!host.current) return;
    const where = () => ({
      node: now.current.node ?? null,
      language: now.current.language ?? 'text',
      secrets: now.current.secrets ?? false,
      prompt: now.current.prompt ?? false,
    });
    const made = new EditorView({
      parent: host.current,
      doc: now.current.value,
      extensions: [
        look,
        commands.history(),
        autocomplete.closeBrackets(),
        completion(where),
        macros(where),
        search.highlightSelectionMatches(),
        lint.linter(null),
        EditorState.phrases.of(phrases()),
        EditorView.lineWrapping,
        replacing,
        // Asked anew with every update: a row that is renamed or moved has another label and another field.
        EditorView.contentAttributes.of(() => contentAttributes(now.current, id)),
        placeholder ? view.placeholder(placeholder) : [],
        singleLine ? oneLine : [],
        modes.current.language.of(grammar(language)),
        modes.current.readOnly.of(EditorState.readOnly.of(readOnly)),
        view.keymap.of([
          ...autocomplete.completionKeymap,
          ...autocomplete.closeBracketsKeymap,
          ...search.searchKeymap.filter((one) => one.key !== 'Mod-f' || !singleLine),
          ...commands.historyKeymap,
          ...commands.defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || update.transactions.some((one) => one.annotation(fromOutside))) return;
          now.current.onChange?.(update.state.doc.toString());
        }),
      ],
    });
    editor.current = made;
    return () => {
      editor.current = null;
      made.destroy();
    };
    // The view lives as long as the field; what changes later is dispatched to it below.
  }, []);

  useEffect(() => {
    const text = editor.current?.state.doc.toString();
    if (editor.current && text !== value) {
      editor.current.dispatch({changes: {from: 0, to: text?.length ?? 0, insert: value}, annotations: fromOutside.of(true)});
    }
  }, [value]);
  useEffect(() => {
    editor.current?.dispatch({effects: modes.current.language.reconfigure(grammar(language))});
  }, [language]);
  useEffect(() => {
    editor.current?.dispatch({effects: modes.current.readOnly.reconfigure(EditorState.readOnly.of(readOnly))});
  }, [readOnly]);

  // Behind the effect that makes the view, because effects run in their order.
  useProblems(editor, node, field);
  useFocus(editor, node, field);

  // New runs, pins and stored values change what is known of the names.
  const known = useStore((all) => {
    const tab = activeTab(all);
    return tab?.lastRun ? all.runs.byId[tab.lastRun]?.state : null;
  });
  const names = useStore((all) => all.session.names);
  const document = useStore((all) => activeTab(all)?.history.present);
  useEffect(() => {
    editor.current?.dispatch({annotations: refresh.of(true)});
  }, [known, names, document, node, label, field, hint, error]);

  return div(
    {className: classes('field', 'code-field', props.isWhole && 'code-whole', error && 'field-wrong')},
    hideLabel && !props.aside
      ? null
      : div(
          {className: 'field-head'},
          labelTag(
            {className: hideLabel ? 'visually-hidden' : undefined, 'aria-hidden': true, onClick: () => editor.current?.focus()},
            label,
          ),
          props.aside,
        ),
    div(
      {className: classes('code-place', props.onEnlarge && 'code-place-large')},
      div({
        ref: host,
        className: classes('code-box', singleLine && 'code-line', readOnly && 'code-read-only'),
        style: /** @type {any} */ ({'--lines': lines, '--max-lines': maxLines}),
      }),
      props.onEnlarge
        ? h(Button, {label: t('code.enlarge', {label}), icon: 'fit', iconOnly: true, tone: 'quiet', className: 'code-enlarge', onClick: props.onEnlarge})
        : null,
    ),
    hint || error
      ? div(
          {id: `${id}-texts`},
          error ? p({className: 'field-error', role: 'alert'}, error) : null,
          hint ? span({className: 'field-hint'}, hint) : null,
        )
      : null,
  );
}

/**
 * What screen readers and the rest of the editor know of a field.
 * @param {CodeFieldProps} props
 * @param {string} id
 * @returns {Record<string, string>}
 */
function contentAttributes({label, singleLine = false, field, hint, error}, id) {
  return {
    'aria-label': label,
    'aria-multiline': String(!singleLine),
    'data-field': field ?? '',
    spellcheck: 'false',
    ...(hint || error ? {'aria-describedby': `${id}-texts`} : {}),
    ...(error ? {'aria-invalid': 'true'} : {}),
  };
}

/**
 * Typing over a selection is done here: Chromium would do it in the page first, with a style attribute that the
 * Content-Security-Policy refuses and logs.
 */
const replacing = EditorView.domEventHandlers({
  beforeinput: (event, editor) => {
    const {from, to} = editor.state.selection.main;
    const text = event.data;
    if (event.inputType !== 'insertText' || !text || from === to || editor.composing || editor.state.readOnly) return false;
    event.preventDefault();
    const insert = () => editor.state.update(editor.state.replaceSelection(text), {userEvent: 'input.type', scrollIntoView: true});
    const isTaken = editor.state.facet(EditorView.inputHandler).some((handler) => handler(editor, from, to, text, insert));
    if (!isTaken) editor.dispatch(insert());
    return true;
  },
});

/** Line breaks become blanks: a header or an address has one line. */
const oneLine = EditorState.transactionFilter.of((change) => {
  if (!change.docChanged || change.newDoc.lines === 1 || change.annotation(fromOutside)) return change;
  const text = change.newDoc.toString().replace(/\s*\n\s*/g, ' ');
  return [{changes: {from: 0, to: change.startState.doc.length, insert: text}, selection: {anchor: Math.min(change.newSelection.main.head, text.length)}}];
});

/** @param {'text' | 'json' | 'formula' | 'condition'} language */
function grammar(language) {
  if (language !== 'json') return [];
  // No checker on the source: a body template is not JSON until it is rendered.
  return [langJson.json(), languages.bracketMatching()];
}

/** CodeMirror's own words in the chosen language. */
function phrases() {
  const english = ['Find', 'Replace', 'next', 'previous', 'all', 'match case', 'regexp', 'by word', 'replace', 'replace all', 'close', 'Completions'];
  return Object.fromEntries(english.map((phrase) => [phrase, t(`code.phrase.${phrase}`)]));
}

/**
 * Show the server's problems of this field at their place.
 * @param {{current: import('./codemirror.js').view.EditorView | null}} editor
 * @param {string | null} node
 * @param {string | undefined} field
 */
function useProblems(editor, node, field) {
  const problems = useStore((all) => activeTab(all)?.problems);
  useEffect(() => {
    const made = editor.current;
    if (!made || !field) return;
    const mine = (problems ?? []).filter((one) => one.node === node && one.field === field);
    const diagnostics = mine.map((one) => {
      const from = offsetOf(made.state.doc, one.line, one.column);
      const word = made.state.doc.sliceString(from, Math.min(from + 80, made.state.doc.length));
      const length = Math.max(1, /^[\w.:-]+/.exec(word)?.[0].length ?? 1);
      const to = one.line === null ? made.state.doc.length : Math.min(from + length, made.state.doc.length);
      const markClass = one.code.startsWith('template.') ? BROKEN : undefined;
      return {from: Math.min(from, to), to, severity: one.severity, message: one.message, markClass};
    });
    made.dispatch(lint.setDiagnostics(made.state, diagnostics));
  }, [problems, node, field]);
}

/**
 * Take the cursor to a place that somebody wants to see.
 * @param {{current: import('./codemirror.js').view.EditorView | null}} editor
 * @param {string | null} node
 * @param {string | undefined} field
 */
function useFocus(editor, node, field) {
  const focus = useStore((all) => activeTab(all)?.focus ?? null);
  useEffect(() => {
    const made = editor.current;
    if (!made || !focus || !field || focus.node !== node || focus.field !== field) return;
    const anchor = offsetOf(made.state.doc, focus.line ?? 1, focus.column ?? 1);
    made.dispatch({selection: {anchor}, effects: EditorView.scrollIntoView(anchor)});
    made.focus();
    store.set((all) => ({tabs: all.tabs.map((tab) => (tab.focus === focus ? {...tab, focus: null} : tab))}));
  }, [focus, node, field]);
}

/**
 * The offset of a line and column that count from 1; within the text whatever they say.
 * @param {import('./codemirror.js').state.Text} doc
 * @param {number | null} line
 * @param {number | null} column
 */
function offsetOf(doc, line, column) {
  const at = doc.line(Math.max(1, Math.min(line ?? 1, doc.lines)));
  return Math.min(at.from + Math.max(0, (column ?? 1) - 1), at.to);
}

/**
 * Where the cursor or the selection is in the field with this content element.
 * @param {HTMLElement} content
 * @returns {{from: number, to: number} | null}
 */
export function selectionIn(content) {
  const main = EditorView.findFromDOM(content)?.state.selection.main;
  return main ? {from: main.from, to: main.to} : null;
}
