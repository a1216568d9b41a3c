/** The skill rules by their groups: those that come with the server, to read, and one's own. */
import {Fragment, h, tags, useEffect, useState} from '../../h.js';
import {ask, openDialog} from '../../state/dialogs.js';
import {reasonOf} from '../../state/failures.js';
import {mayEdit} from '../../state/rights.js';
import {t} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {Dialog} from '../../ui/dialog.js';
import {NotRead, Waiting} from '../../ui/empty.js';
import {tried} from '../commands.js';
import {deleteRule, readRules} from './files.js';

const {div, h3, li, p, span, ul} = tags;

/** @typedef {import('./files.js').RuleLine} RuleLine */

/** @param {{close: () => void}} props */
export function RuleList({close}) {
  const [rules, setRules] = useState(/** @type {RuleLine[] | {error: string} | null} */ (null));
  const load = () => readRules().then(setRules, (error) => setRules({error: reasonOf(error)}));
  useEffect(() => void load(), []);
  const isThere = rules !== null && !('error' in rules);
  return h(
    Dialog,
    {
      title: t('library.rules'),
      size: 'large',
      onClose: close,
      actions: isThere && mayEdit() ? h(Button, {label: t('library.ruleNew'), icon: 'add', tone: 'primary', onClick: () => void openDialog('rule', {rules, onChanged: load})}) : null,
    },
    p({className: 'text-soft'}, t('library.rulesText')),
    mayEdit() ? null : p({className: 'text-soft'}, t('app.mayNotEdit')),
    rules === null
      ? h(Waiting)
      : 'error' in rules
        ? h(NotRead, null, rules.error)
        : groupsOf(rules).map(([group, own]) =>
            h(
              Fragment,
              {key: group},
              h3({className: 'rule-group'}, group),
              ul({className: 'key-list', 'aria-label': group}, own.map((rule) => h(Line, {key: rule.name, rule, rules, onChanged: load}))),
            )),
  );
}

/** @param {RuleLine[]} rules @returns {[string, RuleLine[]][]} */
function groupsOf(rules) {
  /** @type {Map<string, RuleLine[]>} */
  const groups = new Map();
  for (const rule of rules) {
    const own = groups.get(rule.group);
    if (own) own.push(rule);
    else groups.set(rule.group, [rule]);
  }
  return [...groups];
}

/** @param {{rule: RuleLine, rules: RuleLine[], onChanged: () => Promise<void>}} props */
function Line({rule, rules, onChanged}) {
  const {group, name, desc, when, always_load: isAlways, shipped, problem} = rule;
  const isFixed = shipped || !mayEdit();
  const remove = async () => {
    const answer = await ask({title: t('library.ruleRemove', {name}), text: t('library.ruleRemoveText'), choices: [{id: 'remove', label: t('library.delete'), tone: 'danger'}]});
    if (answer !== 'remove') return;
    await tried(() => deleteRule(group, name));
    await onChanged();
  };
  return li(
    {className: 'key-line'},
    div(
      {className: 'key-text'},
      span(
        null,
        name,
        ' ',
        shipped ? span({className: 'chip'}, t('library.ruleShipped')) : null,
        ' ',
        isAlways ? span({className: 'chip chip-good'}, t('library.ruleAlways')) : null,
      ),
      problem === null ? span({className: 'text-soft'}, [desc, when].filter(Boolean).join(' · ')) : span({className: 'field-error'}, problem),
    ),
    h(Button, {label: t(isFixed ? 'library.ruleRead' : 'library.ruleEdit', {name}), icon: isFixed ? 'list' : 'edit', onClick: () => void openDialog('rule', {rule, rules, onChanged})}),
    isFixed ? null : h(Button, {label: t('library.ruleRemove', {name}), icon: 'trash', iconOnly: true, tone: 'quiet', onClick: () => void remove()}),
  );
}
