/** Prompt Blocks that stand for what the library has: a character, a lorebook, the prompt of the session or a section of it. */
import {h, tags, useEffect, useId, useState} from '../h.js';
import {readMemory, withQuery} from '../state/memory.js';
import {t} from '../words.js';
import {CheckField, TextField} from '../ui/fields.js';
import {booleanRule, countRule, isDrawn, textRule} from './OddFields.js';

const {datalist, div, input, label: labelTag, legend, fieldset, option} = tags;

/** @typedef {import('../fields/form.js').Form} Form */
/** @typedef {import('../fields/paths.js').Path} Path */
/** @typedef {import('./OddFields.js').Rule} Rule */
/** @typedef {{form: Form, path: Path, block: any, title: string}} BlockProps */

/** The kinds of blocks that stand for something, with the word for each. @type {Record<string, string>} */
export const SOURCES = {assembled: 'inspector.assembled', image: 'inspector.image', character: 'library.one.character', lorebook: 'library.one.worldbook'};

/** How a kind of blocks that stand for something is called; null for others. @param {unknown} kind */
export function sourceWord(kind) {
  return typeof kind === 'string' && Object.hasOwn(SOURCES, kind) ? t(SOURCES[kind]) : null;
}

const PATHS = {character: '/characters', lorebook: '/worldbooks'};
/** How many names are offered at once. */
const MOST_OFFERED = 50;
/** The places of SillyTavern's own prompts, in its usual order, and what stands behind all. */
const SECTIONS = [
  'main',
  'worldInfoBefore',
  'personaDescription',
  'charDescription',
  'charPersonality',
  'scenario',
  'enhanceDefinitions',
  'nsfw',
  'worldInfoAfter',
  'dialogueExamples',
  'chatHistory',
  'jailbreak',
  'ending',
];
/** The texts of a character, with the word for each. @type {Record<string, string>} */
const TEXTS = {
  description: 'library.description',
  personality: 'library.personality',
  scenario: 'library.scenario',
  system_prompt: 'library.systemPrompt',
  examples: 'library.examples',
  post_history: 'library.postHistory',
  first_message: 'library.firstMessage',
};
/** The places of a lorebook's entries, with the word for each. @type {Record<string, string>} */
const POSITIONS = {
  before: 'library.lorePosition.0',
  after: 'library.lorePosition.1',
  examples_top: 'library.lorePosition.5',
  examples_bottom: 'library.lorePosition.6',
  note_top: 'library.lorePosition.2',
  note_bottom: 'library.lorePosition.3',
  at_depth: 'library.lorePosition.4',
  outlet: 'library.lorePosition.7',
};
/** What an empty list of texts means. */
const USUAL_TEXTS = ['description', 'personality', 'scenario'];

/** @param {string[]} values @returns {Rule} */
const listRule = (values) => ({is: (value) => Array.isArray(value) && value.every((one) => values.includes(one)), kind: 'list', fallback: undefined});

/** What the members of such blocks may hold. @type {Record<string, Rule>} */
export const SOURCE_RULES = {
  section: textRule(),
  asset: textRule(),
  fields: listRule(Object.keys(TEXTS)),
  positions: listRule(Object.keys(POSITIONS)),
  apart: booleanRule,
  depth: {is: (value) => value === null || (Number.isInteger(value) && value >= 0 && value <= 1000), kind: 'number', fallback: undefined},
  budget: countRule,
};

/** The fields of a block that stands for something. @param {BlockProps} props */
export function SourceFields(props) {
  const kind = props.block.kind;
  if (kind === 'assembled') return h(SectionField, props);
  return div(
    {className: 'block-source'},
    h(AssetField, {...props, kind}),
    kind === 'character' ? h(ChosenField, {...props, field: 'fields', words: TEXTS, usual: USUAL_TEXTS, label: t('inspector.characterTexts')}) : h(LoreFields, props),
  );
}

/** @param {BlockProps} props */
function SectionField({form, path, block}) {
  const id = useId();
  if (!isDrawn(block, SOURCE_RULES, 'section')) return null;
  return div(
    null,
    datalist({id}, SECTIONS.map((name) => option({key: name, value: name}))),
    h(TextField, {
      label: t('inspector.section'),
      hint: t('inspector.sectionHint'),
      value: block.section ?? '',
      placeholder: t('inspector.sectionAll'),
      list: id,
      onChange: (next) => form.set([...path, 'section'], next || undefined),
    }),
  );
}

/** An asset by its name; the library's are offered while one types. @param {BlockProps & {kind: 'character' | 'lorebook'}} props */
function AssetField({form, path, block, kind}) {
  const id = useId();
  const name = typeof block.asset === 'string' ? block.asset : '';
  const offered = useOffered(kind, name);
  if (!isDrawn(block, SOURCE_RULES, 'asset')) return null;
  return div(
    null,
    datalist({id}, offered.map((one) => option({key: one, value: one}))),
    h(TextField, {
      label: t('inspector.asset'),
      hint: t('inspector.assetHint'),
      value: name,
      placeholder: t('inspector.assetChoose'),
      list: id,
      onChange: (next) => form.set([...path, 'asset'], next),
    }),
  );
}

/**
 * The names of the library's assets that contain what was typed. Where the library does not answer there are none: the check of
 * the pipeline tells why.
 * @param {'character' | 'lorebook'} kind
 * @param {string} typed
 * @returns {string[]}
 */
function useOffered(kind, typed) {
  const [names, setNames] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    let isNewest = true;
    readMemory(withQuery(PATHS[kind], {keyword: typed.trim(), sort_by: 'name', sort_order: 'asc', limit: MOST_OFFERED})).then(
      ({data}) => isNewest && setNames([...new Set(/** @type {{name: string}[]} */ (data).map((one) => one.name))]),
      () => isNewest && setNames([]),
    );
    return () => {
      isNewest = false;
    };
  }, [kind, typed]);
  return names;
}

/** @param {BlockProps} props */
function LoreFields(props) {
  const {form, path, block} = props;
  return div(
    null,
    h(ChosenField, {...props, field: 'positions', words: POSITIONS, usual: Object.keys(POSITIONS).filter((one) => one !== 'outlet'), label: t('inspector.lorePositions')}),
    h(CountField, {...props, field: 'depth', least: 0, label: t('inspector.loreDepth'), placeholder: '2'}),
    h(CountField, {...props, field: 'budget', least: 1, label: t('inspector.loreBudget'), placeholder: '2048'}),
    h(CheckField, {
      label: t('inspector.loreApart'),
      className: 'inspector-check',
      checked: block.apart === true,
      onChange: (next) => form.set([...path, 'apart'], next || undefined, {once: true}),
    }),
  );
}

/** Some of a few; the usual ones where none is named. @param {BlockProps & {field: string, words: Record<string, string>, usual: string[], label: string}} props */
function ChosenField({form, path, block, field, words, usual, label}) {
  if (!isDrawn(block, SOURCE_RULES, field)) return null;
  /** @type {string[]} */
  const named = block[field] ?? [];
  const chosen = named.length ? named : usual;
  /** @param {string} one @param {boolean} isOn */
  const set = (one, isOn) => {
    const next = isOn ? [...chosen, one] : chosen.filter((other) => other !== one);
    const isUsual = next.length === 0 || (next.length === usual.length && next.every((other, index) => other === usual[index]));
    form.set([...path, field], isUsual ? undefined : next, {once: true});
  };
  return fieldset(
    {className: 'block-chosen'},
    legend(null, label),
    Object.entries(words).map(([one, word]) => h(CheckField, {key: one, label: t(word), checked: chosen.includes(one), onChange: (isOn) => set(one, isOn)})),
  );
}

/** A whole number, or the usual one. @param {BlockProps & {field: string, least: number, label: string, placeholder: string}} props */
function CountField({form, path, block, field, least, label, placeholder, title}) {
  const id = useId();
  const value = isDrawn(block, SOURCE_RULES, field) ? block[field] ?? null : null;
  return div(
    {className: 'block-last'},
    labelTag({htmlFor: id}, label),
    input({
      id,
      className: 'input inspector-number',
      type: 'number',
      min: least,
      step: 1,
      value: value ?? '',
      placeholder,
      'aria-label': `${label}: ${title}`,
      onChange: (event) => {
        const n = Math.trunc(Number(event.target.value));
        form.set([...path, field], event.target.value === '' ? undefined : Number.isFinite(n) && n >= least ? n : value ?? undefined);
      },
    }),
  );
}
