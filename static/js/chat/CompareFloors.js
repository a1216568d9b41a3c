/** What was sent for two floors of a chat, compared: texts side by side, lore, macros, parameters, rules, what was left out. */
import {Fragment, h, tags, useEffect, useState} from '../h.js';
import {isObject} from '../core/doc.js';
import {reasonOf} from '../state/failures.js';
import {writeMemory} from '../state/memory.js';
import {preview} from '../state/values.js';
import {t, translated} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {Waiting} from '../ui/empty.js';
import {SelectField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {titleOf} from './sections.js';
import {useTalk} from './talk.js';
import {questionOf} from './versions.js';

const {caption, code, div, h3, h4, li, mark, p, section, span, table, tbody, td, th, thead, tr, ul} = tags;

const WORDS = 60;
const MOST = 200;
/** The kinds of changes, what people ask for first. */
const GROUPS = ['section', 'message', 'lore', 'macro', 'parameter', 'tool', 'asset', 'trim', 'exclusion', 'policy', 'scope', 'diagnostics', 'governance'];

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

/** What differs: texts side by side, everything else by its path. @param {{found: any}} props */
function Changes({found}) {
  const groups = GROUPS.map((group) => ({group, changes: /** @type {any[]} */ (found[`${group}_changes`] ?? [])})).filter(({changes}) => changes.length > 0);
  return div(
    null,
    groups.length === 0 ? p({className: 'field-hint'}, t('chat.noDifference')) : null,
    groups.map(({group, changes}) => {
      const title = t(`chat.changes.${group}`);
      return section(
        {key: group, 'aria-label': title},
        h3(null, title),
        changes.some((one) => isText(one.left) || isText(one.right)) ? h(Texts, {changes}) : h(Paths, {changes, title}),
      );
    }),
    found.limitations?.length ? ul({className: 'run-remarks'}, found.limitations.map((/** @type {any} */ one, /** @type {number} */ index) => li({key: index}, typeof one === 'string' ? one : one.message))) : null,
  );
}

/** Whether one side of a change is a text of the prompt. @param {any} side */
function isText(side) {
  return isObject(side) && typeof side.text === 'string';
}

/** @param {{changes: any[]}} props */
function Texts({changes}) {
  return h(
    Fragment,
    null,
    changes.slice(0, MOST).map((one, index) => {
      const [left, right] = [one.left, one.right].map((side) => (isText(side) ? side : null));
      const name = one.name ?? one.path;
      return div(
        {key: index, className: 'compare-text'},
        h4(null, titleOf({...(right ?? left ?? {}), name})),
        left === null && right === null
          ? div({className: 'compare-sides'}, shown(one.left), shown(one.right))
          : div({className: 'compare-sides'}, h(Side, {side: left, other: right}), h(Side, {side: right, other: left})),
      );
    }),
  );
}

/** A text of one side, with what the other one has otherwise marked. @param {{side: any, other: any}} props */
function Side({side, other}) {
  if (side === null) return div({className: 'compare-side compare-none'}, t('chat.notThere'));
  const {before, middle, after} = apart(side.text, other?.text ?? side.text);
  const facts = [
    other !== null && other.role !== side.role ? t(`chat.role.${side.role}`) : '',
    side.kept === false ? (translated(`chat.reason.${side.why}`) ?? t('chat.leftOut')) : '',
  ].filter(Boolean);
  return div(
    {className: 'compare-side'},
    facts.map((fact) => span({key: fact, className: 'chip chip-warn'}, fact)),
    before,
    middle === '' ? null : mark(null, middle),
    after,
    side.is_cut ? '…' : '',
  );
}

/** A text in three: what both begin with, what differs, and what both end with; cut between words. @param {string} text @param {string} other */
function apart(text, other) {
  const [mine, its] = [text, other].map((one) => one.match(/\s+|[\p{L}\p{N}_]+|./gsu) ?? []);
  const most = Math.min(mine.length, its.length);
  let start = 0;
  while (start < most && mine[start] === its[start]) start += 1;
  let end = 0;
  while (end < most - start && mine[mine.length - 1 - end] === its[its.length - 1 - end]) end += 1;
  return {before: mine.slice(0, start).join(''), middle: mine.slice(start, mine.length - end).join(''), after: mine.slice(mine.length - end).join('')};
}

/** @param {{changes: any[], title: string}} props */
function Paths({changes, title}) {
  return div(
    {className: 'variables-scroll', tabIndex: 0, role: 'group', 'aria-label': title},
    table(
      {className: 'variables-table'},
      caption({className: 'visually-hidden'}, title),
      thead(null, tr(null, ['what', 'left', 'right'].map((head) => th({key: head, scope: 'col'}, t(`chat.${head}`))))),
      tbody(
        null,
        changes.slice(0, MOST).map((one, index) =>
          tr({key: index}, th({scope: 'row'}, one.name ? one.name : code(null, String(one.path))), td(null, shown(one.left)), td(null, shown(one.right)))),
      ),
    ),
  );
}

/** @param {any} value */
function shown(value) {
  return value === undefined || value === null ? '—' : code(null, preview(value));
}
