/**
 * The words of the interface: `t('area.key', {n: 3})`, from `static/locales/<locale>/<area>.json`, which the server sends as one
 * file. English fills gaps.
 */
import {createTranslator} from './core/i18n.js';
import {store} from './state/store.js';

export const LOCALES = Object.freeze({en: 'English', ru: 'Русский', zh: '中文'});

/** @type {(key: string, params?: Record<string, string | number>) => string} */
let translate = (key) => key;

/** What is translated from: the chosen language, its words, and the English ones. @type {{locale: string, own: Record<string, string>, fallback: Record<string, string>}} */
let known = {locale: 'en', own: {}, fallback: {}};
/** The areas whose words were asked for beside those that every visit begins with. @type {Set<string>} */
const areas = new Set();

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
 * An error of the server in the chosen language: the sentence for its code, and behind it the server's own words, for they may be
 * an upstream's, and nobody else says them. The server speaks English, so that language has no sentences here.
 * @param {string} code as in docs/errors.md
 * @param {string} message
 * @param {Record<string, any>} [details] facts that the sentence may name
 */
export function errorText(code, message, details) {
  const words = translated(`server.error.${code}`, details);
  return words === null || message.startsWith(words) ? message : `${words} (${message})`;
}

/**
 * A problem of a document in the chosen language: the sentence for its code, or for its code and the reason among its facts, filled
 * from the facts. In English, and for the codes of other packages, what the server says.
 * @param {{code: string, message: string, facts?: Record<string, any>}} problem as in docs/pipelines.md
 */
export function problemText({code, message, facts = {}}) {
  const named = Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, factText(fact)]));
  const key = `server.problem.${code}`;
  return (typeof facts.reason === 'string' ? translated(`${key}.${facts.reason}`, named) : null) ?? translated(key, named) ?? message;
}

/** A fact within a sentence: a list with commas, a long text cut. @param {any} fact */
function factText(fact) {
  if (typeof fact === 'number') return fact;
  const text = Array.isArray(fact) ? fact.join(', ') : String(fact);
  return text.length > MOST_OF_FACT ? `${text.slice(0, MOST_OF_FACT)}…` : text;
}

/** Characters: all names of nodes that are reached in one sentence, and no whole text. */
const MOST_OF_FACT = 200;

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
 * What an argument of a tool is: in the chosen language where the tool is one of the server's own, else as its maker says. Arguments
 * that mean the same in several tools have their words once.
 * @param {{name: string, provider_type?: string}} tool
 * @param {string} argument
 * @param {string} description "" where its maker says nothing
 */
export function argumentText({name, provider_type: maker}, argument, description) {
  if (maker !== 'builtin' || description === '') return description;
  return translated(`server.toolArgument.${name}.${argument}`) ?? translated(`server.toolArgument.${argument}`) ?? description;
}

/**
 * Load a language and use it from now on.
 * @param {string} locale one of LOCALES; others become English
 */
export async function loadLocale(locale) {
  const chosen = locale in LOCALES ? locale : 'en';
  const english = catalogue('en');
  const [fallback, own] = await Promise.all([english, chosen === 'en' ? english : catalogue(chosen)]);
  use(chosen, own, fallback);
  document.documentElement.lang = chosen === 'zh' ? 'zh-Hans' : chosen;
  store.set((state) => ({view: {...state.view, locale: chosen, words: state.view.words + 1}}));
}

/**
 * Load the words of an area that a first visit does without. What is on the page stays as it is.
 * @param {string} area
 */
export async function loadArea(area) {
  if (areas.has(area)) return;
  const {locale} = known;
  const english = wordsOfArea('en', area);
  const [fallback, own] = await Promise.all([english, locale === 'en' ? english : wordsOfArea(locale, area)]);
  areas.add(area);
  // Another language was chosen meanwhile: it has its own words by now, but for these.
  if (locale !== known.locale) await loadLocale(known.locale);
  else use(locale, {...known.own, ...own}, {...known.fallback, ...fallback});
}

/** Whether the words of an area are there. @param {string} area */
export function hasArea(area) {
  return areas.has(area);
}

/** @param {string} locale @param {Record<string, string>} own @param {Record<string, string>} fallback */
function use(locale, own, fallback) {
  known = {locale, own, fallback};
  translate = createTranslator(own, locale, fallback);
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
  const parts = await Promise.all([wordsAt(`${locale}.json`), ...[...areas].map((area) => wordsOfArea(locale, area))]);
  return Object.assign({}, ...parts);
}

/** @param {string} locale @param {string} area */
function wordsOfArea(locale, area) {
  return wordsAt(`${locale}/${area}.json`);
}

/** @param {string} name @returns {Promise<Record<string, string>>} none where they do not arrive */
async function wordsAt(name) {
  const found = await fetch(new URL(`../locales/${name}`, import.meta.url));
  return found.ok ? found.json() : {};
}
