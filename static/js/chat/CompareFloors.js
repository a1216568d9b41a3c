/** What was sent for two floors of a chat, compared: scope, rules, assets, what was trimmed and left out. */
import {h, tags, useEffect, useState} from '../h.js';
import {reasonOf} from '../state/failures.js';
import {writeMemory} from '../state/memory.js';
import {preview} from '../state/values.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {Waiting} from '../ui/empty.js';
import {SelectField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {useTalk} from './talk.js';
import {questionOf} from './versions.js';

const {caption, code, div, li, p, table, tbody, td, th, thead, tr, ul} = tags;

const WORDS = 60;
const MOST = 200;

/** @param {{place: import('./talk.js').Place, left: string, right: string, close: () => void}} props */
export function CompareFloors({place, left: first, right: second, close}) {
  const {floors} = useTalk(place);
  const [left, setLeft] = useState(first);
  const [right, setRight] = useState(second);
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    let isStale = false;
    setFound(null);
    setError(null);
    if (left === right) return undefined;
    writeMemory('POST', `/sessions/${encodeURIComponent(place.session)}/prompt-runtime/compare`, {left: {floor_id: left}, right: {floor_id: right}}).then(
      ({data}) => isStale || setFound(data),
      (failure) => isStale || setError(reasonOf(failure)),
    );
    return () => {
      isStale = true;
    };
  }, [left, right]);
  const options = floors.map((floor) => ({value: floor.id, label: `${floor.floor_no} · ${(questionOf(floor)?.content ?? '').slice(0, WORDS)}`}));
  return h(
    Dialog,
    {title: t('chat.compareTitle'), size: 'large', onClose: close, actions: h(Button, {label: t('app.close'), onClick: close})},
    div(
      {className: 'variables-tools'},
      h(SelectField, {label: t('chat.left'), value: left, onChange: setLeft, options}),
      h(SelectField, {label: t('chat.right'), value: right, onChange: setRight, options}),
    ),
    error !== null ? p({className: 'field-error', role: 'alert'}, error) : null,
    left === right ? p({className: 'panel-empty'}, h(Icon, {name: 'info'}), t('chat.sameFloor')) : null,
    left !== right && found === null && error === null ? h(Waiting) : null,
    found ? h(Changes, {found}) : null,
  );
}

/** @param {{found: any}} props */
function Changes({found}) {
  const rows = Object.entries(found)
    .filter(([name, list]) => name.endsWith('_changes') && Array.isArray(list))
    .flatMap(([name, list]) => list.map((/** @type {any} */ one) => ({...one, group: name.slice(0, -'_changes'.length)})));
  return div(
    null,
    rows.length === 0
      ? p({className: 'field-hint'}, t('chat.noDifference'))
      : div(
          {className: 'variables-scroll', tabIndex: 0, role: 'region', 'aria-label': t('chat.compareTitle')},
          table(
            {className: 'variables-table'},
            caption({className: 'visually-hidden'}, t('chat.compareTitle')),
            thead(null, tr(null, ['what', 'left', 'right'].map((head) => th({key: head, scope: 'col'}, t(`chat.${head}`))))),
            tbody(
              null,
              rows.slice(0, MOST).map((one, index) =>
                tr({key: index}, th({scope: 'row'}, code(null, String(one.path))), td(null, shown(one.left)), td(null, shown(one.right)))),
            ),
          ),
        ),
    found.limitations?.length ? ul({className: 'run-remarks'}, found.limitations.map((/** @type {any} */ one, /** @type {number} */ index) => li({key: index}, typeof one === 'string' ? one : one.message))) : null,
  );
}

/** @param {any} value */
function shown(value) {
  return value === undefined || value === null ? '—' : code(null, preview(value));
}
