/** How an asset was before: its versions, what differs from now, and the way back. */
import {readable} from '../core/readable.js';
import {Differences} from '../code/Differences.js';
import {h, tags, useEffect, useState} from '../h.js';
import {reasonOf} from '../state/failures.js';
import {timeInWords} from '../state/times.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {tried} from './commands.js';
import {readVersions, rollBack} from './contents.js';

const {button, div, li, p, span, time, ul} = tags;

/**
 * @param {{kind: import('./kinds.js').Kind, asset: import('./contents.js').Opened, isChanged: boolean, onRolledBack: () => void}} props `isChanged`: the form
 *   holds what is not saved yet, and going back would lose it
 */
export function Versions({kind, asset, isChanged, onRolledBack}) {
  const [versions, setVersions] = useState(/** @type {import('./contents.js').Version[] | null} */ (null));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  const [chosen, setChosen] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    let isGone = false;
    readVersions(kind, asset.id).then((found) => !isGone && setVersions(found), (failure) => !isGone && setError(reasonOf(failure)));
    return () => {
      isGone = true;
    };
  }, [kind, asset.id, asset.version]);
  const version = versions?.find(({id}) => id === chosen);
  const back = async () => {
    if (version !== undefined && (await tried(() => rollBack(kind, asset, version.id).then(() => true)))) onRolledBack();
  };
  if (error !== null) return h(NotRead, null, span(null, error));
  return div(
    {className: 'versions library-versions'},
    versions === null
      ? h(Waiting)
      : ul(
          {className: 'version-list', 'aria-label': t('library.versions')},
          versions.map(({id, number, created_at, isCurrent}) =>
            li(
              {key: id},
              button(
                {type: 'button', 'aria-pressed': id === chosen, onClick: () => setChosen(id)},
                span({className: 'version-name'}, t('library.versionNumber', {number: String(number)}), isCurrent ? ` · ${t('library.current')}` : ''),
                time({dateTime: new Date(created_at).toISOString(), className: 'text-soft'}, timeInWords(created_at)),
              ),
            ),
          ),
        ),
    div(
      {className: 'version-difference'},
      version === undefined
        ? p({className: 'panel-empty'}, t('library.chooseVersion'))
        : div(
            null,
            div(
              {className: 'library-row library-between'},
              span(null, t('library.differs', {number: String(version.number)})),
              h(Button, {label: t('library.rollBack'), icon: 'undo', tone: 'primary', disabled: version.isCurrent || isChanged, title: isChanged ? t('library.saveFirst') : undefined, onClick: () => void back()}),
            ),
            h(Differences, {before: readable(version.content), after: readable(asset.content), labels: [t('library.differs', {number: String(version.number)})], className: 'library-difference'}),
          ),
    ),
  );
}
