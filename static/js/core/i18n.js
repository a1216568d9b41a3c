// Words in the language of the person: a flat catalogue of texts with {names} in them.

/**
 * Texts by key. A text that depends on a number has one key for each plural form: `x.one`, `x.few`, `x.many`, `x.other`.
 * @typedef {{[key: string]: string}} Catalogue
 * @typedef {{[name: string]: string | number | boolean | null | undefined}} Params
 * @typedef {(key: string, params?: Params) => string} Translator
 */

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * A function that gives the text of a key. With a number `n` among the parameters the plural form of the language is taken
 * where there is one. Numbers are written as the language writes them. A key that nobody translated comes back as it is, so
 * that it is seen; a name without a value stays as it is written.
 * @param {Catalogue} catalogue
 * @param {string} locale a BCP 47 tag
 * @param {Catalogue} [fallback] the texts to take where the catalogue has none
 * @returns {Translator}
 */
export function createTranslator(catalogue, locale, fallback = {}) {
  const own = grammarOf(locale);
  // The texts of the fallback are English: their plural forms are those of English.
  const other = grammarOf('en');
  return (key, params = {}) => {
    const [text, grammar] = find(catalogue, key, params, own) ?? find(fallback, key, params, other) ?? [key, own];
    return text.replace(PLACEHOLDER, (written, name) => worded(params[name], grammar.numbers) ?? written);
  };
}

/**
 * @typedef {{plurals: Intl.PluralRules, numbers: Intl.NumberFormat}} Grammar
 * @param {string} locale
 * @returns {Grammar}
 */
function grammarOf(locale) {
  return {plurals: new Intl.PluralRules(locale), numbers: new Intl.NumberFormat(locale)};
}

/**
 * @param {Catalogue} catalogue
 * @param {string} key
 * @param {Params} params
 * @param {Grammar} grammar
 * @returns {[string, Grammar] | null}
 */
function find(catalogue, key, params, grammar) {
  const {n} = params;
  const keys = typeof n === 'number' ? [`${key}.${grammar.plurals.select(n)}`, `${key}.other`, key] : [key];
  for (const each of keys) {
    if (Object.hasOwn(catalogue, each)) return [/** @type {string} */ (catalogue[each]), grammar];
  }
  return null;
}

/**
 * @param {Params[string]} value
 * @param {Intl.NumberFormat} numbers
 * @returns {string | null}
 */
function worded(value, numbers) {
  if (value === undefined || value === null) return null;
  return typeof value === 'number' ? numbers.format(value) : String(value);
}
