/** How code looks: colours come from the style sheet's custom properties, so themes need no second editor. */
import {highlight, language, NONCE, view} from './codemirror.js';

const {EditorView} = view;
const {tags} = highlight;

/** Extensions that every code field has. */
export const look = [
  EditorView.cspNonce.of(NONCE),
  EditorView.theme({
    '&': {color: 'var(--text)', backgroundColor: 'transparent', fontSize: 'var(--size-small)', height: '100%'},
    '&.cm-focused': {outline: 'none'},
    '.cm-scroller': {fontFamily: 'var(--font-mono)', lineHeight: '1.55', overflow: 'auto'},
    '.cm-content': {padding: '5px 0', caretColor: 'var(--text)'},
    '.cm-line': {padding: '0 8px'},
    '.cm-cursor': {borderLeftColor: 'var(--text)'},
    '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
      backgroundColor: 'var(--accent-soft)',
    },
    '.cm-gutters': {backgroundColor: 'transparent', color: 'var(--text-faint)', border: 'none'},
    '.cm-activeLine': {backgroundColor: 'transparent'},
    '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {backgroundColor: 'var(--bg-active)', outline: 'none'},
    '.cm-placeholder': {color: 'var(--text-faint)'},
    '.cm-tooltip': {
      backgroundColor: 'var(--bg-raised)',
      color: 'var(--text)',
      border: '1px solid var(--line-strong)',
      borderRadius: 'var(--radius)',
      boxShadow: 'var(--shadow)',
    },
    '.cm-tooltip-autocomplete > ul': {fontFamily: 'var(--font)', maxHeight: '16em'},
    '.cm-tooltip-autocomplete > ul > li': {padding: '3px 8px', lineHeight: '1.5'},
    '.cm-tooltip-autocomplete > ul > li[aria-selected]': {backgroundColor: 'var(--accent-strong)', color: 'var(--on-accent)'},
    '.cm-tooltip-autocomplete > ul > li[aria-selected] .cm-completionDetail': {color: 'var(--on-accent)'},
    '.cm-completionDetail': {color: 'var(--text-soft)', fontStyle: 'normal', marginLeft: '12px'},
    '.cm-completionMatchedText': {textDecoration: 'none', fontWeight: '700'},
    '.cm-completionInfo': {padding: '6px 10px', maxWidth: '380px'},
    '.cm-lintRange-error': {backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)', textDecorationSkipInk: 'none'},
    '.cm-lintRange-warning': {backgroundImage: 'none', textDecoration: 'underline wavy var(--warn)', textDecorationSkipInk: 'none'},
    '.cm-diagnostic': {padding: '4px 10px', fontFamily: 'var(--font)'},
    '.cm-diagnostic-error': {borderLeft: '3px solid var(--bad)'},
    '.cm-diagnostic-warning': {borderLeft: '3px solid var(--warn)'},
    '.cm-panels': {backgroundColor: 'var(--bg-raised)', color: 'var(--text)', borderColor: 'var(--line)'},
    '.cm-searchMatch': {backgroundColor: 'var(--warn-soft)'},
    '.cm-searchMatch-selected': {backgroundColor: 'var(--accent-soft)'},
  }),
  language.syntaxHighlighting(
    language.HighlightStyle.define([
      {tag: tags.propertyName, color: 'var(--accent)'},
      {tag: tags.string, color: 'var(--text)'},
      {tag: [tags.number, tags.bool, tags.null], color: 'var(--kind-data)'},
      {tag: [tags.separator, tags.squareBracket, tags.brace], color: 'var(--text-soft)'},
    ]),
  ),
];
