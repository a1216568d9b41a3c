/** Prompt Blocks: the conversation that is sent, as cards in their order. */
import {classes, h, tags, useId} from '../h.js';
import {CodeField} from '../code/Field.js';
import {isObject} from '../core/doc.js';
import {estimateTokens} from '../core/estimate.js';
import {ask, askText} from '../state/dialogs.js';
import {announce, notify} from '../state/notices.js';
import {useStore} from '../state/store.js';
import {activeTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Button, FileButton} from '../ui/buttons.js';
import {CheckField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {MenuButton} from '../ui/menu.js';
import {behind, CONVERSATION, enabled, inOrder, withBlock, withoutOrder} from './blocks.js';
import {useFolding} from '../fields/folding.js';
import {focusField} from '../fields/form.js';
import {SOURCE_RULES, SOURCES, SourceFields, sourceWord} from './LibraryBlocks.js';
import {booleanRule, choiceRule, countRule, isDrawn, numberRule, OddFields, textRule} from './OddFields.js';
import {useRowKeys} from '../fields/rowkeys.js';
import {moved, sortClasses, useSorting} from '../ui/sorting.js';
import {importTavernPreset} from './tavernPreset.js';
import {WrongValue} from '../fields/WrongValue.js';

const {div, input, label: labelTag, option, p, select, span} = tags;

/** @typedef {import('../fields/form.js').Form} Form */

const ROLES = ['system', 'user', 'assistant'];
const EMPTY = Object.freeze(/** @type {any[]} */ ([]));
/** With more blocks than this all are folded at first: so many text editors at once would keep the page busy for seconds. */
const MOST_UNFOLDED = 40;
const MAX_IMPORT_BYTES = 16 * 1024 * 1024;
const RULES = {
  kind: choiceRule(['text', 'history', ...Object.keys(SOURCES)]),
  role: choiceRule(ROLES),
  text: textRule(''),
  language: choiceRule(['hadtavern', 'sillytavern']),
  name: textRule(),
  enabled: booleanRule,
  order: numberRule,
  last: countRule,
  system: booleanRule,
  ...SOURCE_RULES,
};

/** @param {{form: Form}} props */
export function PromptBlocks({form}) {
  const value = form.values.blocks;
  if (value !== undefined && !Array.isArray(value)) {
    return div(
      {className: 'inspector-page'},
      h(WrongValue, {
        label: t('inspector.blocks'),
        value,
        wanted: 'inspector.kind.list',
        field: 'blocks',
        node: form.node,
        onChange: (next) => form.set(['blocks'], next),
        fallback: [],
      }),
    );
  }
  return h(BlockList, {form, blocks: value ?? EMPTY});
}

/** @param {{form: Form, blocks: readonly any[]}} props */
function BlockList({form, blocks}) {
  const order = inOrder(blocks);
  const keys = useRowKeys(blocks);
  const folding = useFolding({keys, most: MOST_UNFOLDED, node: form.node, field: 'blocks'});
  /** @param {any[]} next @param {string} [label] */
  const set = (next, label = 'inspector.edit.blocks') => form.set(['blocks'], next, {once: true, label});
  const sorting = useSorting({announce, count: blocks.length, onMove: (from, to) => set(moved(order, from, to).map((index) => withoutOrder(blocks[index])), 'inspector.edit.move')});
  /** @param {any} block */
  const add = (block) => {
    const next = withBlock(blocks, block);
    set(next);
    if (block.kind === 'text') focusField(form.node, `blocks.${next.findIndex((one, index) => index >= blocks.length && one.kind === 'text')}.text`);
  };
  const tokens = enabled(blocks).reduce((sum, block) => sum + tokensOf(block), 0);
  const areFolded = blocks.length > 0 && keys.every(folding.isFolded);
  return div(
    {className: 'inspector-page blocks'},
    div(
      {className: 'blocks-head'},
      span({className: 'blocks-total'}, blocks.length ? t('inspector.tokensTotal', {n: tokens}) : t('inspector.blocksNone')),
      blocks.length > 1
        ? h(Button, {
            label: t(areFolded ? 'inspector.unfoldAll' : 'inspector.foldAll'),
            icon: areFolded ? 'chevronDown' : 'chevronRight',
            iconOnly: true,
            tone: 'quiet',
            className: 'inspector-mini',
            onClick: () => folding.all(!areFolded),
          })
        : null,
      h(FileButton, {
        label: t('inspector.importTavern'),
        fileLabel: t('inspector.importTavernFile'),
        icon: 'import',
        tone: 'quiet',
        className: 'inspector-mini',
        onFile: (file) =>
          void importFile(file, (imported, isReplacing) => set(isReplacing ? imported : [...blocks, ...behind(blocks, imported)], 'inspector.edit.import')),
      }),
    ),
    p({className: 'field-hint'}, t(blocks.length ? 'inspector.blocksHint' : 'inspector.blocksEmpty')),
    div(
      {ref: sorting.list, className: 'block-list', role: 'list', 'aria-label': t('inspector.blocks')},
      order.map((index, position) =>
        h(BlockCard, {
          key: keys[index],
          form,
          block: blocks[index],
          index,
          position,
          sorting,
          isFolded: folding.isFolded(keys[index]),
          onFold: () => folding.toggle(keys[index]),
          onRemove: () => set(blocks.filter((_, at) => at !== index), 'inspector.edit.remove'),
          onDuplicate: () => set(blocks.flatMap((block, at) => (at === index ? [block, structuredClone(block)] : [block])), 'inspector.edit.duplicate'),
        }),
      ),
    ),
    h(MenuButton, {
      label: t('inspector.addBlock'),
      icon: 'add',
      className: 'inspector-add',
      items: () => [
        ...ROLES.map((role) => ({label: t('inspector.addText', {role: t(`inspector.role.${role}`)}), icon: 'block', run: () => add({kind: 'text', role, text: ''})})),
        {label: t('inspector.history'), icon: 'chat', run: () => add({...CONVERSATION})},
        {label: t('inspector.assembled'), icon: 'preset', run: () => add({kind: 'assembled'})},
        {label: t('inspector.image'), icon: 'eye', run: () => add({kind: 'image', role: 'user', text: ''})},
        {label: t('library.one.character'), icon: 'user', run: () => add({kind: 'character', role: 'system', asset: ''})},
        {label: t('library.one.worldbook'), icon: 'note', run: () => add({kind: 'lorebook', role: 'system', asset: ''})},
      ],
    }),
  );
}

/**
 * @param {{form: Form, block: any, index: number, position: number, sorting: import('../ui/sorting.js').Sorting, isFolded: boolean,
 *   onFold: () => void, onRemove: () => void, onDuplicate: () => void}} props `index` in the file, `position` as it is sent
 */
function BlockCard({form, block, index, position, sorting, isFolded, onFold, onRemove, onDuplicate}) {
  const path = ['blocks', index];
  const body = useId();
  const row = {'data-row': position, role: 'listitem'};
  const remove = h(Button, {
    label: t('inspector.removeNamed', {name: t('inspector.blockNumber', {position: position + 1})}),
    icon: 'trash',
    iconOnly: true,
    tone: 'quiet',
    className: 'inspector-mini',
    onClick: onRemove,
  });
  if (!isObject(block)) {
    return div(
      {...row, className: 'block'},
      div({className: 'block-head'}, sorting.handle(position, String(position + 1)), span({className: 'block-name'}), remove),
      h(WrongValue, {
        label: t('inspector.blockNumber', {position: position + 1}),
        value: block,
        wanted: 'inspector.kind.object',
        field: path.join('.'),
        node: form.node,
        onChange: (next) => form.set(path, next),
        fallback: {text: ''},
      }),
    );
  }
  const isHistory = block.kind === 'history';
  const source = sourceWord(block.kind);
  const isText = !isHistory && source === null;
  const isImage = block.kind === 'image';
  const role = RULES.role.is(block.role) ? String(block.role) : 'system';
  const isOn = block.enabled !== false;
  const isTavern = block.language === 'sillytavern';
  const title = typeof block.name === 'string' && block.name ? block.name : isHistory ? t('inspector.history') : titleOf(block, source) ?? t('inspector.blockNumber', {position: position + 1});
  return div(
    {
      ...row,
      className: classes('block', `block-${isHistory || block.kind === 'assembled' ? block.kind : role}`, !isOn && 'block-off', sortClasses(sorting, position)),
      'aria-label': title,
    },
    div(
      {className: 'block-head'},
      sorting.handle(position, title),
      h(Button, {
        label: t(isFolded ? 'inspector.unfold' : 'inspector.fold', {name: title}),
        icon: isFolded ? 'chevronRight' : 'chevronDown',
        iconOnly: true,
        tone: 'quiet',
        className: 'inspector-mini',
        onClick: onFold,
        rest: {'aria-expanded': !isFolded, 'aria-controls': body},
      }),
      isHistory ? span({className: 'block-role'}, h(Icon, {name: 'chat', size: 13}), t('inspector.history')) : null,
      source === null ? null : span({className: 'chip'}, source),
      isHistory || isImage || block.kind === 'assembled'
        ? null
        : select(
            {
              className: 'block-role',
              'aria-label': t('inspector.roleOf', {name: title}),
              'data-field': [...path, 'role'].join('.'),
              value: role,
              onChange: (event) => form.set([...path, 'role'], event.target.value, {once: true}),
            },
            ROLES.map((one) => option({key: one, value: one}, t(`inspector.role.${one}`))),
          ),
      input({
        className: 'block-name',
        'aria-label': t('inspector.nameOfBlock', {position: position + 1}),
        value: typeof block.name === 'string' ? block.name : '',
        placeholder: isFolded ? excerpt(block, title) : t('inspector.name'),
        spellCheck: false,
        onChange: (event) => form.set([...path, 'name'], event.target.value || undefined),
      }),
      isTavern && isText ? span({className: 'chip', title: t('inspector.tavernHint')}, t('inspector.mode.sillytavern')) : null,
      typeof block.order === 'number' ? span({className: 'chip block-order', title: t('inspector.orderNumber')}, `#${block.order}`) : null,
      h(CheckField, {
        label: t('inspector.enabledNamed', {name: title}),
        hideLabel: true,
        className: 'switch',
        checked: isOn,
        onChange: (next) => form.set([...path, 'enabled'], next ? undefined : false, {once: true}),
      }),
      sorting.arrows(position, title),
      h(MenuButton, {
        label: t('inspector.moreNamed', {name: title}),
        icon: 'more',
        iconOnly: true,
        className: 'inspector-mini',
        items: () => /** @type {import('../ui/menu.js').MenuItem[]} */ ([
          {label: t('inspector.duplicate'), icon: 'copy', run: onDuplicate},
          source === null
            ? {
                label: t(isHistory ? 'inspector.makeText' : 'inspector.makeHistory'),
                icon: isHistory ? 'block' : 'chat',
                run: () => form.set([...path, 'kind'], isHistory ? 'text' : 'history', {once: true}),
              }
            : null,
          !isText
            ? null
            : {
                label: t(isTavern ? 'inspector.makeTemplate' : 'inspector.makeTavern'),
                icon: 'code',
                run: () => form.set([...path, 'language'], isTavern ? undefined : 'sillytavern', {once: true}),
              },
          {label: t('inspector.orderNumber'), icon: 'list', run: () => void askOrder(form, path, block.order)},
          {},
          {label: t('inspector.delete'), icon: 'trash', tone: 'danger', run: onRemove},
        ].filter(Boolean)),
      }),
    ),
    div(
      {id: body, className: 'block-body', hidden: isFolded},
      // A folded card keeps no editor: hundreds of blocks stay light.
      isFolded ? null : h(isHistory ? HistoryFields : isText || isImage ? TextOfBlock : SourceFields, {form, path, block, title}),
      isFolded ? null : h(OddFields, {form, path, rules: RULES}),
    ),
  );
}

/** @param {{form: Form, path: (string | number)[], block: any, title: string}} props */
function TextOfBlock({form, path, block, title}) {
  if (!isDrawn(block, RULES, 'text')) return null;
  const text = block.text ?? '';
  const isImage = block.kind === 'image';
  return div(
    null,
    h(CodeField, {
      // The other language gets an editor of its own.
      key: block.language,
      label: t('inspector.textOf', {name: title}),
      language: block.language === 'sillytavern' ? 'formula' : 'text',
      hideLabel: true,
      value: text,
      onChange: (next) => form.set([...path, 'text'], next),
      node: form.node,
      field: [...path, 'text'].join('.'),
      lines: 2,
      maxLines: 18,
      placeholder: t(isImage ? 'inspector.imagePlaceholder' : 'inspector.blockPlaceholder'),
    }),
    isImage ? null : span({className: 'block-tokens'}, t('inspector.tokens', {n: estimateTokens(text)})),
  );
}

/** @param {{form: Form, path: (string | number)[], block: any, title: string}} props */
function HistoryFields({form, path, block, title}) {
  const sample = useStore((state) => activeTab(state)?.sample.request.body);
  const last = isDrawn(block, RULES, 'last') ? block.last ?? null : null;
  const id = useId();
  return div(
    {className: 'block-history'},
    div(
      {className: 'block-last'},
      labelTag({htmlFor: id}, t('inspector.lastMessages')),
      input({
        id,
        className: 'input inspector-number',
        type: 'number',
        min: 1,
        step: 1,
        value: last ?? '',
        placeholder: t('inspector.allMessages'),
        'aria-label': `${t('inspector.lastMessages')}: ${title}`,
        onChange: (event) => {
          const n = Math.trunc(Number(event.target.value));
          form.set([...path, 'last'], event.target.value === '' ? undefined : Number.isFinite(n) && n >= 1 ? n : last ?? undefined);
        },
      }),
    ),
    h(CheckField, {
      label: t('inspector.withSystem'),
      className: 'inspector-check',
      checked: block.system !== false,
      onChange: (next) => form.set([...path, 'system'], next ? undefined : false, {once: true}),
    }),
    span({className: 'block-tokens'}, t('inspector.tokensOfSample', {n: estimateTokens(messagesText(sample, last))})),
  );
}

/** The texts of a sample request's messages, as far as they are plain. @param {any} body @param {number | null} last */
function messagesText(body, last) {
  const messages = isObject(body) && Array.isArray(body.messages) ? body.messages : [];
  const chosen = last === null ? messages : messages.slice(-last);
  return chosen.map((/** @type {any} */ message) => (typeof message?.content === 'string' ? message.content : '')).join('\n');
}

/** @param {any} block */
function tokensOf(block) {
  return (block.kind ?? 'text') === 'text' && typeof block.text === 'string' ? estimateTokens(block.text) : 0;
}

/** What a block that stands for something is called: by its asset or its section, else by its kind. @param {any} block @param {string | null} source */
function titleOf(block, source) {
  const named = block.kind === 'assembled' ? block.section : block.asset;
  return source !== null && typeof named === 'string' && named.trim() ? named : source;
}

/** The first line of a block that is folded. @param {any} block @param {string} title */
function excerpt(block, title) {
  const text = typeof block.text === 'string' ? block.text.trim().split('\n')[0] : '';
  return text ? text.slice(0, 80) : title;
}

/** @param {Form} form @param {(string | number)[]} path @param {any} now */
async function askOrder(form, path, now) {
  const text = await askText({
    title: t('inspector.orderNumber'),
    label: t('inspector.orderNumber'),
    hint: t('inspector.orderHint'),
    value: typeof now === 'number' ? String(now) : '',
    confirm: t('inspector.set'),
    check: (typed) => (typed.trim() === '' || Number.isFinite(Number(typed)) ? null : t('inspector.misfit.type', {type: t('inspector.kind.number')})),
  });
  if (text !== null) form.set([...path, 'order'], text.trim() === '' ? undefined : Number(text), {once: true});
}

/**
 * Read a file and ask where its blocks go, with everything that was left out.
 * @param {File} file
 * @param {(blocks: any[], isReplacing: boolean) => void} take
 */
async function importFile(file, take) {
  if (file.size > MAX_IMPORT_BYTES) return void notify('error', 'inspector.import.tooLarge', {name: file.name});
  const imported = parsedPreset(await file.text());
  if (!imported || imported.blocks.length === 0) return void notify('error', 'inspector.import.none', {name: file.name});
  const answer = await ask({
    title: t('inspector.import.title', {name: file.name}),
    text: t('inspector.import.text', {n: imported.blocks.length}),
    details: imported.remarks.map(({code, params}) => t(`inspector.import.${code}`, params)),
    choices: [
      {id: 'append', label: t('inspector.import.append')},
      {id: 'replace', label: t('inspector.import.replace'), tone: 'primary'},
    ],
  });
  if (answer) take(imported.blocks, answer === 'replace');
}

/** @param {string} text */
function parsedPreset(text) {
  try {
    return importTavernPreset(JSON.parse(text));
  } catch {
    return null;
  }
}
