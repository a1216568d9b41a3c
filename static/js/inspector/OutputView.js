/** What a node left behind in the last run, and the value that is pinned in its place. */
import {h, tags, useEffect, useState} from '../h.js';
import {nodeIn} from '../core/walks.js';
import {api} from '../api/client.js';
import {isObject} from '../core/doc.js';
import {writePath} from '../core/names.js';
import {isLinked} from '../core/runlog.js';
import {copyText} from '../state/copying.js';
import {notifyFailure} from '../state/notices.js';
import {scopeIn} from '../state/runs.js';
import {useStore} from '../state/store.js';
import {activeTab, updateTab} from '../state/tabs.js';
import {errorText, t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {JsonTree} from '../ui/JsonTree.js';
import {JsonField} from '../fields/JsonField.js';

const {code, div, p, span} = tags;

const STATE_ICONS = /** @type {Record<string, string>} */ ({running: 'spinner', finished: 'check', failed: 'error', skipped: 'skip', pinned: 'pin', stopped: 'stop'});

/** @param {{node: import('../core/doc.js').PipelineNode}} props */
export function OutputView({node}) {
  const {id} = node;
  const mine = useStore((state) => {
    const last = activeTab(state)?.lastRun;
    const run = last ? state.runs.byId[last] : undefined;
    return run ? nodeIn(run, scopeIn(state, run), id, state.runs.iterations) : null;
  });
  const hasRun = useStore((state) => (activeTab(state)?.lastRun ?? '') in state.runs.byId);
  const pins = useStore((state) => activeTab(state)?.pins);
  const [isEditing, setEditing] = useState(false);
  const isPinned = pins !== undefined && Object.hasOwn(pins, id);
  const out = useWhole(mine?.out);
  const value = isPinned ? pins[id] : out.value;
  return div(
    {className: 'inspector-page'},
    div(
      {className: 'output-head'},
      isPinned
        ? span({className: 'chip chip-warn'}, h(Icon, {name: 'pin', size: 12}), t('inspector.pinned'))
        : mine
          ? span({className: 'chip'}, h(Icon, {name: STATE_ICONS[mine.state] ?? 'info', size: 12}), t(`inspector.state.${mine.state}`))
          : null,
      !isPinned && mine?.started != null && mine.ended != null ? span({className: 'text-soft'}, t('inspector.milliseconds', {n: Math.round(mine.ended - mine.started)})) : null,
      span({className: 'inspector-space'}),
      isPinned ? h(Button, {label: t('inspector.editPin'), icon: 'edit', tone: 'quiet', className: 'inspector-mini', pressed: isEditing, onClick: () => setEditing(!isEditing)}) : null,
      h(Button, {
        label: t(isPinned ? 'inspector.unpin' : 'inspector.pin'),
        icon: 'pin',
        tone: 'quiet',
        className: 'inspector-mini',
        pressed: isPinned,
        // One OUT cannot stand for all iterations.
        disabled: !isPinned && (out.isLoading || typeof node.parent === 'string'),
        onClick: () => {
          if (isPinned) unpin(id);
          else pin(id, out.value ?? {});
          setEditing(!isPinned && out.value === undefined);
        },
      }),
    ),
    p({className: 'field-hint'}, t(isPinned ? 'inspector.pinnedHint' : typeof node.parent === 'string' ? 'inspector.pinInLoop' : 'inspector.pinHint')),
    mine?.error && !isPinned
      ? div({className: 'inspector-note inspector-note-bad'}, h(Icon, {name: 'error'}), span(null, errorText(mine.error.code, mine.error.message), ' ', code(null, mine.error.code)))
      : null,
    mine?.reason && !isPinned ? p({className: 'field-hint'}, t('inspector.skippedBecause', {reason: mine.reason})) : null,
    isPinned && isEditing
      ? h(JsonField, {
          label: t('inspector.pinnedValue'),
          value,
          lines: 8,
          check: (next) => (isObject(next) ? null : t('inspector.wrongKind', {wanted: t('inspector.kind.object')})),
          onChange: (next) => pin(id, next),
        })
      : value !== undefined
        ? h(JsonTree, {label: t('inspector.output'), value, depth: 2, aside: (path) => h(CopyMacro, {path: [id, ...path]})})
        : p({className: 'inspector-empty'}, t(out.isLoading ? 'app.loading' : hasRun ? 'inspector.noOutput' : 'inspector.noRun')),
  );
}

/** Copies the macro that reads a part of OUT: `[[OUT:n1.text]]`. @param {{path: string[]}} props */
function CopyMacro({path}) {
  return h(Button, {
    label: t('inspector.copyMacro', {path: `OUT.${writePath(path)}`}),
    icon: 'copy',
    iconOnly: true,
    tone: 'quiet',
    className: 'inspector-mini json-copy',
    onClick: () => void copyText(`[[OUT:${writePath(path)}]]`),
  });
}

/**
 * The whole of a value that came as its beginning and a link.
 * @param {any} out
 * @returns {{value: any, isLoading: boolean}}
 */
function useWhole(out) {
  const link = isLinked(out) ? out.link : null;
  const [got, setGot] = useState(/** @type {{link: string, value: any} | null} */ (null));
  useEffect(() => {
    if (link === null || got?.link === link) return;
    api
      .get(link)
      .then(({body}) => setGot({link, value: body.data}))
      .catch(notifyFailure);
  }, [link]);
  if (link === null) return {value: out, isLoading: false};
  return got?.link === link ? {value: got.value, isLoading: false} : {value: undefined, isLoading: true};
}

/** @param {string} id @param {any} value */
function pin(id, value) {
  const tab = activeTab();
  if (tab) updateTab(tab.key, {pins: {...tab.pins, [id]: value}});
}

/** @param {string} id */
function unpin(id) {
  const tab = activeTab();
  if (tab) updateTab(tab.key, {pins: Object.fromEntries(Object.entries(tab.pins).filter(([one]) => one !== id))});
}
