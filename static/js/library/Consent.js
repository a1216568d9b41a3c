/** Whether the regex scripts that came inside a character or a prompt preset run: not before somebody says so. */
import {h, tags, useEffect, useState} from '../h.js';
import {t} from '../words.js';
import {CheckField} from '../ui/fields.js';
import {tried} from './commands.js';
import {allowScripts, areScriptsAllowed} from './contents.js';

const {div} = tags;

/** How many scripts a content brings. @param {any} content @returns {number} */
export function scriptsIn(content) {
  const scripts = content?.extensions?.regex_scripts;
  return Array.isArray(scripts) ? scripts.length : 0;
}

/**
 * @param {{kind: import('./kinds.js').Kind, asset: import('./contents.js').Opened, isChanged: boolean, onAllowed: () => void}} props `isChanged`: the form
 *   holds what is not saved yet, which reading anew would lose
 */
export function Consent({kind, asset, isChanged, onAllowed}) {
  const [isAllowed, setAllowed] = useState(/** @type {boolean | null} */ (null));
  useEffect(() => {
    let isGone = false;
    void tried(() => areScriptsAllowed(kind, asset)).then((found) => !isGone && setAllowed(found));
    return () => {
      isGone = true;
    };
  }, [kind, asset]);
  return div(
    {className: 'library-consent'},
    h(CheckField, {
      label: t('library.scriptsRun', {n: scriptsIn(asset.content)}),
      hint: t('library.scriptsRunHint'),
      checked: isAllowed === true,
      disabled: isAllowed === null || isChanged,
      onChange: (allowed) => void tried(() => allowScripts(kind, asset, allowed)).then((done) => done !== null && onAllowed()),
    }),
  );
}
