/** The only module that imports CodeMirror. */
import {autocomplete, commands, highlight, langJson, language, lint, merge, search, state, view} from '../../vendor/codemirror.js';

export {autocomplete, commands, highlight, langJson, language, lint, merge, search, state, view};

/** The nonce that lets CodeMirror's style element through the page's Content-Security-Policy. */
export const NONCE = document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? '';
