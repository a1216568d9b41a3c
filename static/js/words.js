/** The words of the interface: `t('area.key', {n: 3})`, from `static/locales/<locale>/<area>.json`. English fills gaps. */
import {createTranslator} from './core/i18n.js';
import {store} from './state/store.js';

export const LOCALES = Object.freeze({en: 'English', ru: 'Русский', zh: '中文'});
const AREAS = ['app', 'canvas', 'inspector', 'code', 'run', 'variables', 'files', 'help'];

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
 * @param {string} locale
 * @returns {Promise<Record<string, string>>}
 */
async function catalogue(locale) {
  const parts = await Promise.all(AREAS.map((area) => fetch(new URL(`../locales/${locale}/${area}.json`, import.meta.url))));
  const texts = await Promise.all(parts.filter((part) => part.ok).map((part) => part.json()));
  return Object.assign({}, ...texts);
}
