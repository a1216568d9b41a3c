/** Sheets that a first visit does without. */

/** @type {Map<string, Promise<void>>} */
const sheets = new Map();

/**
 * Load `css/NAME.css`, once; the page looks right from then on. One that does not come is asked for again by the next who wants it.
 * @param {string} name
 * @returns {Promise<void>}
 */
export function loadSheet(name) {
  const known = sheets.get(name);
  if (known) return known;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = String(new URL(`../css/${name}.css`, import.meta.url));
  const coming = new Promise((done, fail) => {
    link.onload = () => done(undefined);
    link.onerror = () => {
      sheets.delete(name);
      link.remove();
      fail(new Error(`${name}.css`));
    };
  });
  sheets.set(name, /** @type {Promise<void>} */ (coming));
  document.head.append(link);
  return /** @type {Promise<void>} */ (coming);
}
