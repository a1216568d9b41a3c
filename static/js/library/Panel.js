/** The library: characters, users, prompt presets, lorebooks and regex profiles, to find, import, make and open. */
import {runAction} from '../actions.js';
import {h, tags, useEffect, useMemo, useState} from '../h.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead} from '../ui/empty.js';
import {SelectField} from '../ui/fields.js';
import {Assets} from './Assets.js';
import {createAsset, showKind} from './commands.js';
import {KINDS} from './kinds.js';
import {refresh, show, useListing} from './lists.js';

const {datalist, div, input, option, p, span} = tags;
const TAGS = 'library-known-tags';
const SEARCH_MS = 250;
const SORTS = /** @type {const} */ (['updated_at', 'created_at', 'name']);

export function Library() {
  const kind = useListing((state) => state.kind);
  const sort = useListing((state) => state.sort);
  const total = useListing((state) => state.total);
  const error = useListing((state) => state.error);
  const isSought = useListing(({keyword, tag}) => keyword !== '' || tag !== '');
  useEffect(() => void refresh(), []);
  return div(
    {className: 'library'},
    div(
      {className: 'library-head'},
      h(SelectField, {
        label: t('library.kind'),
        hideLabel: true,
        value: kind,
        onChange: (next) => showKind(/** @type {any} */ (next)),
        options: KINDS.map((one) => ({value: one, label: t(`library.kind.${one}`)})),
      }),
      h(Button, {label: t(`library.new.${kind}`), icon: 'add', iconOnly: true, tone: 'quiet', onClick: () => void createAsset(kind)}),
      h(Button, {label: t('library.import'), icon: 'import', iconOnly: true, tone: 'quiet', onClick: () => void runAction('library.import')}),
    ),
    h(Search, {key: `search ${kind}`}),
    div(
      {className: 'library-head'},
      h(SelectField, {
        label: t('library.sort'),
        hideLabel: true,
        value: sort,
        onChange: (next) => show({sort: /** @type {any} */ (next)}),
        options: SORTS.map((one) => ({value: one, label: t(`library.sort.${one}`)})),
      }),
      span({className: 'library-count', role: 'status'}, total === null ? '' : t('library.count', {n: total})),
    ),
    error !== null
      ? h(NotRead, null, span(null, error), h(Button, {label: t('library.again'), onClick: () => void refresh()}))
      : total === 0
        ? p({className: 'panel-empty'}, t(isSought ? 'library.noneFound' : `library.none.${kind}`))
        : h(Assets, {key: kind}),
  );
}

/** What is searched for: words of the name, and a tag; offered are the tags of what was read. */
function Search() {
  const keyword = useListing((state) => state.keyword);
  const tag = useListing((state) => state.tag);
  const parts = useListing((state) => state.parts);
  const known = useMemo(() => [...new Set(Object.values(parts).flatMap((part) => part.flatMap((one) => one.tags)))].sort(), [parts]);
  const [typed, setTyped] = useState({keyword, tag});
  useEffect(() => {
    if (typed.keyword === keyword && typed.tag === tag) return undefined;
    const timer = setTimeout(() => show(typed), SEARCH_MS);
    return () => clearTimeout(timer);
  }, [typed, keyword, tag]);
  return div(
    {className: 'library-head'},
    h(SearchField, {label: t('library.find'), value: typed.keyword, onChange: (value) => setTyped({...typed, keyword: value})}),
    h(SearchField, {label: t('library.tag'), value: typed.tag, onChange: (value) => setTyped({...typed, tag: value}), list: TAGS}),
    datalist({id: TAGS}, known.map((one) => option({key: one, value: one}))),
  );
}

/** @param {{label: string, value: string, onChange: (value: string) => void, list?: string}} props `list`: the id of what is offered */
function SearchField({label, value, onChange, list}) {
  return input({className: 'input', type: 'search', 'aria-label': label, placeholder: label, value, list, spellCheck: false, onChange: (event) => onChange(event.target.value)});
}
