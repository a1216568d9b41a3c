/** The kept versions of a file: name them, compare them with what is open, look at one, restore one. */
import {api} from '../api/client.js';
import {parseDocument, serialise} from '../core/doc.js';
import {h, tags, useEffect, useState} from '../h.js';
import {askText} from '../state/dialogs.js';
import {notifyFailure} from '../state/notices.js';
import {mayChange} from '../state/rights.js';
import {store, useStore} from '../state/store.js';
import {activateTab, docOf, drawBrokenText, edit, saveTab, setBrokenText, showDocument} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {Icon} from '../ui/icons.js';
import {Difference} from './Difference.js';

const {button, div, li, p, span, time, ul} = tags;

/** @typedef {{number: number, name: string, time: number, size: number}} Version */
/** @typedef {import('../core/doc.js').Pipeline} Pipeline */

/** @param {{id: string, close: () => void}} props */
export function Versions({id, close}) {
  const [versions, setVersions] = useState(/** @type {Version[] | null} */ (null));
  const [chosen, setChosen] = useState(/** @type {Version | null} */ (null));
  const [doc, setDoc] = useState(/** @type {Pipeline | null} */ (null));
  const tab = useStore((state) => state.tabs.find((one) => one.id === id && !one.readOnly) ?? null);
  const path = `/api/pipelines/${encodeURIComponent(id)}/versions`;

  const load = () =>
    api.get(path).then(
      ({body}) => setVersions(body),
      (error) => notifyFailure(error),
    );
  useEffect(() => void load(), [path]);
  useEffect(() => {
    // What was shown belongs to another version; restoring must never mean that one.
    setDoc(null);
    if (!chosen) return;
    let isStale = false;
    api.get(`${path}/${chosen.number}`).then(
      ({body}) => {
        const parsed = body.document ? parseDocument(JSON.stringify(body.document)) : null;
        if (!isStale) setDoc(parsed && 'document' in parsed ? parsed.document : null);
      },
      (error) => notifyFailure(error),
    );
    return () => {
      isStale = true;
    };
  }, [chosen?.number, path]);

  const rename = async () => {
    if (!chosen) return;
    const name = await askText({
      title: t('files.nameVersion'),
      label: t('files.name'),
      value: chosen.name,
      hint: t('files.nameVersionHint'),
      confirm: t('app.save'),
    });
    if (name === null) return;
    try {
      await api.send('PUT', `${path}/${chosen.number}/name`, {name});
      setChosen({...chosen, name});
      await load();
    } catch (error) {
      notifyFailure(error);
    }
  };
  const restore = async () => {
    if (!doc || !tab) return;
    close();
    activateTab(tab.key);
    if (tab.brokenText === null) edit('files.restored', () => doc);
    else {
      // A file that cannot be drawn is mended as a text.
      setBrokenText(tab.key, serialise(doc));
      drawBrokenText(tab.key);
    }
    await saveTab(tab.key);
  };
  const look = () => {
    if (!doc || !chosen) return;
    close();
    showDocument(doc, {kind: 'version', label: label(chosen)}, {id: null});
  };

  return h(
    Dialog,
    {
      title: t('files.versionsOf', {id}),
      size: 'large',
      onClose: close,
      actions: [
        h(Button, {key: 'name', label: t('files.nameVersion'), disabled: !chosen || !mayChange(id), onClick: () => void rename()}),
        h(Button, {key: 'look', label: t('files.openReadOnly'), icon: 'eye', disabled: !doc, onClick: look}),
        h(Button, {key: 'restore', label: t('files.restore'), tone: 'primary', disabled: !doc || !tab || !mayChange(id), title: mayChange(id) ? undefined : t('app.mayNotEdit'), onClick: () => void restore()}),
      ],
    },
    div(
      {className: 'versions'},
      versions === null
        ? p({className: 'panel-empty'}, h(Icon, {name: 'spinner', className: 'spin'}))
        : versions.length === 0
          ? p({className: 'panel-empty'}, t('files.noVersions'))
          : ul(
              {className: 'version-list'},
              versions.map((one) =>
                li(
                  {key: one.number},
                  button(
                    {type: 'button', 'aria-pressed': chosen?.number === one.number, onClick: () => setChosen(one)},
                    span({className: 'version-name'}, one.name || t('files.versionNumber', {number: one.number})),
                    time({dateTime: new Date(one.time).toISOString(), className: 'text-soft'}, when(one.time)),
                  ),
                ),
              ),
            ),
      div(
        {className: 'version-difference'},
        chosen && doc && tab
          ? h(Difference, {before: doc, after: docOf(tab), beforeLabel: label(chosen), afterLabel: t('files.asOpen')})
          : p({className: 'panel-empty'}, t('files.chooseVersion')),
      ),
    ),
  );
}

/** @param {Version} version */
function label(version) {
  return version.name || `${t('files.versionNumber', {number: version.number})}, ${when(version.time)}`;
}

/** @param {number} milliseconds */
function when(milliseconds) {
  return new Date(milliseconds).toLocaleString(store.get().view.locale);
}
