/**
 * The words of the interface: `t('area.key', {n: 3})`, from `static/locales/<locale>/<area>.json`, which the server sends as one
 * file. English fills gaps.
 */
import {createTranslator} from './core/i18n.js';
import {store} from './state/store.js';

export const LOCALES = Object.freeze({en: 'English', ru: 'Русский', zh: '中文'});

/** @type {(key: string, params?: Record<string, string | number>) => string} */
let translate = (key) => key;

/**
 * The words for a key in the chosen language; the key itself where no catalogue has it.
 * @param {string} key
 * @param {Record<string, string | number>} [params]
 */
export function t(key, params) {
  return translate(key, params);
}

/** The words for a key, or null where the chosen language has none. @param {string} key @param {Record<string, any>} [params] */
export function translated(key, params) {
  const words = translate(key, params);
  return words === key ? null : words;
}

/**
 * What the server says, in the chosen language: the sentence for its code. Behind that of an error stand the server's own words, for
 * they may be an upstream's, and nobody else says them; behind that of a problem the names that those put in quotes. The server
 * speaks English, so that language has no sentences here.
 * @param {'error' | 'problem'} kind
 * @param {string} code as in docs/errors.md and docs/pipelines.md
 * @param {string} message
 * @param {Record<string, any>} [params] facts that the sentence may name: the details of an error, the place of a problem
 */
export function serverText(kind, code, message, params) {
  const words = translated(`server.${kind}.${code}`, params);
  if (words === null || message.startsWith(words)) return message;
  if (kind === 'error') return `${words} (${message})`;
  const names = [...new Set([...message.matchAll(QUOTED)].map((found) => found[1]).filter((name) => !words.includes(name)))];
  return names.length ? `${words.replace(/[.。]$/u, '')}: ${names.slice(0, MOST_NAMES).join(', ')}` : words;
}

/** What a message names as it stands: an id, a field, what somebody wrote. */
const QUOTED = /'([^'\n]{1,80})'/g;
const MOST_NAMES = 4;

/**
 * What people call a type of node: in their language where it is known there, else as the server says.
 * @param {{title?: string} | null | undefined} type
 * @param {string} name the type's name, for a type that the server does not know
 */
export function typeTitle(type, name) {
  return translated(`canvas.type.${name}`) ?? type?.title ?? name;
}

/**
 * What a tool does: in the chosen language where it is one of the server's own, else as its maker says.
 * @param {{name: string, description: string, provider_type?: string}} tool
 */
export function toolText({name, description, provider_type: maker}) {
  return (maker === 'builtin' ? translated(`server.tool.${name}`) : null) ?? description;
}

/**
 * Load a language and use it from now on.
 * @param {string} locale one of LOCALES; others become English
 */
export async function loadLocale(locale) {
  const chosen = locale in LOCALES ? locale : 'en';
  const english = catalogue('en');
  const [fallback, own] = await Promise.all([english, chosen === 'en' ? english : catalogue(chosen)]);
  translate = createTranslator(own, chosen, fallback);
  document.documentElement.lang = chosen === 'zh' ? 'zh-Hans' : chosen;
  store.set((state) => ({view: {...state.view, locale: chosen, words: state.view.words + 1}}));
}

/** The browser's language where there is a catalogue of it, else English. */
export function preferredLocale() {
  return navigator.languages.map((tag) => tag.toLowerCase().split('-')[0]).find((tag) => tag in LOCALES) ?? 'en';
}

/**
 * The words of one language; none where they do not arrive.
 * @param {string} locale
 * @returns {Promise<Record<string, string>>}
 */
async function catalogue(locale) {
  const found = await fetch(new URL(`../locales/${locale}.json`, import.meta.url));
  return found.ok ? found.json() : {};
}
