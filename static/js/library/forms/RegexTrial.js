/** A text, and what the scripts of a profile make of it in each of the four channels. */
import {h, tags, useMemo, useState} from '../../h.js';
import {t} from '../../words.js';
import {SelectField, TextField} from '../../ui/fields.js';
import {textOf} from './fields.js';
import {useTrial} from './trial.js';

const {div, h3, h4, li, p, pre, section, span, ul} = tags;

const CHANNELS = ['persist', 'prompt', 'display', 'edit'];
const MOST_SCRIPTS = 500;

/**
 * @typedef {object} Tried
 * @property {string} text
 * @property {number} milliseconds
 * @property {{name: string, matches: number, skipped: string | null, error: string}[]} trace
 */

/** @param {{scripts: any[], placements: Readonly<Record<number, string>>}} props */
export function RegexTrial({scripts, placements}) {
  const [text, setText] = useState('');
  const [placement, setPlacement] = useState('2');
  const [depth, setDepth] = useState('');
  const body = useMemo(
    () => (text === '' || scripts.length === 0 || scripts.length > MOST_SCRIPTS ? null : {scripts, text, placement: Number(placement), depth: depth.trim() === '' ? null : Number(depth)}),
    [scripts, text, placement, depth],
  );
  /** @type {import('./trial.js').Trial<Record<string, Tried>>} */
  const {result, error} = useTrial('/regex-profiles/test', body);
  return section(
    {className: 'library-aside library-trial', 'aria-label': t('library.trial')},
    h3(null, t('library.trial')),
    h(TextField, {label: t('library.trialText'), rows: 4, value: text, onChange: setText}),
    div(
      {className: 'library-row'},
      h(SelectField, {label: t('library.placement'), value: placement, onChange: setPlacement, options: Object.entries(placements).map(([value, name]) => ({value, label: t(`library.placement.${name}`)}))}),
      h(TextField, {label: t('library.depth'), type: 'number', value: depth, onChange: setDepth}),
    ),
    error === null ? null : p({role: 'alert', className: 'field-error'}, error),
    result === null ? p({className: 'text-soft'}, t('library.trialHint')) : CHANNELS.map((name) => h(Channel, {key: name, name, tried: result[name], text})),
  );
}

/** @param {{name: string, tried: Tried, text: string}} props */
function Channel({name, tried, text}) {
  return section(
    {'aria-label': t(`library.channel.${name}`)},
    div(
      {className: 'library-row library-between'},
      h4(null, t(`library.channel.${name}`)),
      span({className: 'library-tokens'}, tried.text === text ? t('library.unchanged') : t('library.milliseconds', {n: tried.milliseconds})),
    ),
    pre({className: 'library-result'}, tried.text),
    ul(
      {className: 'library-trace'},
      tried.trace.map((one, index) => li({key: index}, `${textOf(one.name) || t('library.scriptNumber', {number: String(index + 1)})}: ${fateOf(one)}`)),
    ),
  );
}

/** @param {Tried['trace'][number]} one */
function fateOf({matches, skipped, error}) {
  if (skipped === null) return t('library.matches', {n: matches});
  const told = t(`library.skipped.${skipped}`);
  return error ? `${told} (${error})` : told;
}
