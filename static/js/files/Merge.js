/** Somebody saved in between: mine, theirs, both together, or mine as a copy. */
import {mergeDocuments} from '../core/compare.js';
import {emptyDocument, parseDocument} from '../core/doc.js';
import {push, startHistory} from '../core/history.js';
import {Fragment, h, tags, useMemo, useState} from '../h.js';
import {openDialog} from '../state/dialogs.js';
import {store} from '../state/store.js';
import {docOf, resettleTab, saveTab, updateTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {SelectField} from '../ui/fields.js';
import {Tablist} from '../ui/tablist.js';
import {Difference} from './Difference.js';

const {code, div, li, p, ul} = tags;

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */

/**
 * @param {object} props
 * @param {string} props.tab
 * @param {string} props.id
 * @param {unknown} props.theirs the document on the server; null when it is gone or is no object
 * @param {string | null} props.etag of theirs
 * @param {() => void} props.close
 */
export function Merge({tab: key, id, theirs: raw, etag, close}) {
  const tab = store.get().tabs.find((one) => one.key === key);
  const [side, setSide] = useState('theirs');
  const [winner, setWinner] = useState('mine');
  const mine = tab ? docOf(tab) : emptyDocument('');
  const theirs = useMemo(() => readable(raw), [raw]);
  const base = tab?.saved ?? emptyDocument(mine.name);
  const merged = useMemo(
    () => (theirs === null ? null : winner === 'mine' ? mergeDocuments(base, mine, theirs) : mergeDocuments(base, theirs, mine)),
    [base, mine, theirs, winner],
  );
  if (!tab) return null;

  const keepMine = () => {
    close();
    if (theirs === null && etag === null) resettleTab(key, {id: null, etag: null});
    void saveTab(key, etag === null ? {id} : {overwrite: etag, id});
  };
  const takeTheirs = () => {
    close();
    if (theirs) resettleTab(key, {history: push(tab.history, theirs, 'files.tookTheirs'), saved: theirs, etag, onDisk: null});
  };
  const takeBoth = () => {
    close();
    if (theirs && merged) updateTab(key, {history: push(tab.history, merged.document, 'files.mergedLabel'), saved: theirs, etag, onDisk: null});
    void saveTab(key);
  };
  const saveCopy = () => {
    close();
    // The tab goes on as a new document; what is on the server stays as it is.
    resettleTab(key, {id: null, etag: null, saved: null, onDisk: null, history: startHistory(mine)});
    openDialog('save-as', {tab: key});
  };

  const label = {mine: t('files.mine'), theirs: t('files.theirs'), both: t('files.both')};
  return h(
    Dialog,
    {
      title: t('files.mergeTitle', {id}),
      size: 'large',
      onClose: close,
      actions: [
        h(Button, {key: 'copy', label: t('files.saveCopy'), onClick: saveCopy}),
        theirs ? h(Button, {key: 'theirs', label: t('files.takeTheirs'), onClick: takeTheirs}) : null,
        h(Button, {key: 'mine', label: t('files.keepMine'), tone: 'danger', onClick: keepMine}),
        merged ? h(Button, {key: 'both', label: t('files.saveBoth'), tone: 'primary', onClick: takeBoth}) : null,
      ],
    },
    p(null, t(theirs ? 'files.mergeText' : etag === null ? 'files.goneText' : 'files.brokenText')),
    theirs && merged
      ? h(
          Fragment,
          null,
          merged.conflicts.length
            ? div(
                {className: 'conflicts'},
                p(null, t('files.conflicts', {n: merged.conflicts.length})),
                ul(null, merged.conflicts.map((one, position) => li({key: position}, code(null, [one.node, one.path].filter(Boolean).join(' · '))))),
                h(SelectField, {
                  label: t('files.conflictWinner'),
                  value: winner,
                  onChange: setWinner,
                  options: [
                    {value: 'mine', label: label.mine},
                    {value: 'theirs', label: label.theirs},
                  ],
                }),
              )
            : p({className: 'text-good'}, t('files.noConflicts')),
          h(Tablist, {
            label: t('files.compare'),
            tabs: [
              {id: 'theirs', label: t('files.whatTheyDid')},
              {id: 'mine', label: t('files.whatIDid')},
              {id: 'both', label: label.both},
            ],
            value: side,
            onChange: setSide,
            children:
              side === 'theirs'
                ? h(Difference, {before: base, after: theirs, beforeLabel: t('files.base'), afterLabel: label.theirs})
                : side === 'mine'
                  ? h(Difference, {before: base, after: mine, beforeLabel: t('files.base'), afterLabel: label.mine})
                  : h(Difference, {before: mine, after: merged.document, beforeLabel: label.mine, afterLabel: label.both}),
          }),
        )
      : null,
  );
}

/** @param {unknown} document @returns {Pipeline | null} */
function readable(document) {
  if (document === null || typeof document !== 'object') return null;
  const parsed = parseDocument(JSON.stringify(document));
  return 'document' in parsed ? parsed.document : null;
}
