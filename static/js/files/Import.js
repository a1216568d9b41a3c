/** Import by drop, choice or paste. Nothing runs and nothing is saved; where keys would go is said first. */
import {api, ApiFailure} from '../api/client.js';
import {parseDocument} from '../core/doc.js';
import {findLiteralKeys} from '../core/redact.js';
import {h, tags, useEffect, useState} from '../h.js';
import {notifyFailure} from '../state/notices.js';
import {store} from '../state/store.js';
import {newPipeline} from '../state/tabs.js';
import {t} from '../words.js';
import {Thumbnail} from '../canvas/thumbnail.js';
import {Button, FileButton} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {convertHadTavern, isHadTavern} from './hadtavern.js';

const {code, div, h3, li, p, ul} = tags;

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */
/** @typedef {import('./hadtavern.js').HadTavernReport} HadTavernReport */
/** @typedef {{document: Pipeline, hosts: string[], problems: number, unknown: string[], keys: number, report: HadTavernReport | null}} Found */

/** Notes of a conversion that are listed. */
const MOST_NOTES = 100;

/** @param {{text?: string, close: () => void}} props */
export function Import({text: given = '', close}) {
  const [text, setText] = useState(given);
  const [found, setFound] = useState(/** @type {Found | null} */ (null));
  const [error, setError] = useState(/** @type {string | null} */ (null));

  useEffect(() => {
    setFound(null);
    setError(null);
    if (text.trim() === '') return;
    const parsed = parseDocument(text);
    if (!('document' in parsed)) {
      const {message, line, column} = parsed.error;
      setError(t('files.notJson', {message, line, column}));
      return;
    }
    const value = JSON.parse(text);
    const isForeign = isHadTavern(value);
    if (parsed.document.nodes.length === 0 && !isForeign) {
      setError(t('files.noNodes'));
      return;
    }
    let isStale = false;
    const look = async () => {
      const {document, report} = isForeign ? await convertHadTavern(value) : {document: parsed.document, report: null};
      const {body} = await api.send('POST', '/api/validate', {document});
      const known = store.get().nodeTypes;
      const unknown = [...new Set(document.nodes.map((node) => node.type).filter((type) => !Object.hasOwn(known, type)))];
      const keys = findLiteralKeys(document).length;
      if (!isStale) setFound({document, hosts: body.hosts, problems: body.problems.length, unknown, keys, report});
    };
    look().catch((failure) => {
      if (isStale) return;
      // What is wrong with the file stands below it.
      if (failure instanceof ApiFailure && failure.status >= 400 && failure.status < 500) setError(failure.message);
      else notifyFailure(failure);
    });
    return () => {
      isStale = true;
    };
  }, [text]);

  /** @param {File | undefined} file */
  const read = async (file) => {
    try {
      if (file) setText(await file.text());
    } catch (failure) {
      // It was moved, or may not be read.
      notifyFailure(failure);
    }
  };
  const open = () => {
    if (!found) return;
    close();
    newPipeline(found.document);
  };

  return h(
    Dialog,
    {
      title: t('files.action.import'),
      size: 'large',
      onClose: close,
      actions: [
        h(Button, {key: 'cancel', label: t('app.cancel'), onClick: close}),
        h(Button, {key: 'open', label: t('files.openImported'), tone: 'primary', disabled: !found, onClick: open}),
      ],
    },
    div(
      {
        className: 'drop-zone',
        onDragOver: (event) => event.preventDefault(),
        onDrop: (event) => {
          event.preventDefault();
          event.stopPropagation();
          void read(event.dataTransfer.files[0]);
        },
      },
      h(Icon, {name: 'import', size: 22}),
      p(null, t('files.dropHere')),
      h(FileButton, {label: t('files.chooseFile'), onFile: (file) => void read(file)}),
    ),
    h(TextField, {label: t('files.orPaste'), value: text, onChange: setText, rows: 6, mono: true, error}),
    found ? h(Report, {found}) : null,
  );
}

/** @param {{found: Found}} props */
function Report({found}) {
  const {document, hosts, problems, unknown, keys, report} = found;
  return div(
    {className: 'import-report', role: 'status'},
    h3(null, t('files.whereKeysGo')),
    hosts.length ? ul(null, hosts.map((host) => li({key: host}, code(null, host)))) : p(null, t('files.noHosts')),
    unknown.length ? p({className: 'text-warn'}, t('files.unknownTypes', {types: unknown.join(', ')})) : null,
    keys ? p({className: 'text-warn'}, t('files.literalKeys', {n: keys})) : null,
    problems ? p({className: 'text-warn'}, t('app.problemCount', {n: problems})) : null,
    report ? h(Conversion, {report}) : null,
    h3(null, document.name || t('app.untitled')),
    p({className: 'text-soft'}, document.description ?? ''),
    h(Thumbnail, {document, className: 'import-drawing'}),
  );
}

/** What could not be taken from a file of HadTavern's as it stood. @param {{report: HadTavernReport}} props */
function Conversion({report}) {
  const {nodes, edges, notes, more} = report;
  const count = notes.length + more;
  return div(
    null,
    h3(null, t('files.fromHadTavern')),
    p(null, t('files.converted', {nodes, edges})),
    count === 0 ? null : p({className: 'text-warn'}, t('files.conversionNotes', {n: count})),
    count === 0
      ? null
      : ul(
          {className: 'import-notes'},
          notes.slice(0, MOST_NOTES).map((note, index) =>
            li({key: index}, `${t(`files.conversion.${note.kind}`)} `, code(null, [note.node, note.field].filter(Boolean).join(' · ') || '{}'), ` ${note.message}`),
          ),
        ),
    count > MOST_NOTES ? p({className: 'text-soft'}, t('files.conversionMore', {n: count - MOST_NOTES})) : null,
  );
}
