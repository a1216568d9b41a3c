/** Export: the document as a file or on the clipboard, without the keys that somebody wrote into it. */
import {serialise} from '../core/doc.js';
import {redactDocument} from '../core/redact.js';
import {h, tags, useMemo, useState} from '../h.js';
import {copyText, downloadJson} from '../state/copying.js';
import {useStore} from '../state/store.js';
import {activeTab, docOf} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Dialog} from '../ui/dialog.js';
import {CheckField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {freeId} from './pipelinefiles.js';

const {code, li, p, pre, ul} = tags;

/** @param {{close: () => void}} props */
export function Export({close}) {
  const tab = useStore((state) => activeTab(state));
  const doc = tab ? docOf(tab) : null;
  const [isRedacted, setRedacted] = useState(true);
  const redacted = useMemo(() => (doc ? redactDocument(doc) : null), [doc]);
  if (!doc || !redacted) return null;
  const text = serialise(isRedacted ? redacted.document : doc);
  const name = `${tab?.id ?? freeId(doc.name)}.json`;

  const download = () => {
    downloadJson(name, text);
    close();
  };
  return h(
    Dialog,
    {
      title: t('files.action.export'),
      size: 'large',
      onClose: close,
      actions: [
        h(Button, {key: 'copy', label: t('files.copy'), icon: 'copy', onClick: () => void copyText(text)}),
        h(Button, {key: 'download', label: t('files.download', {name}), icon: 'export', tone: 'primary', onClick: download}),
      ],
    },
    redacted.report.length
      ? [
          p({key: 'text', className: 'text-warn'}, h(Icon, {name: 'key'}), ' ', t('files.keysFound', {n: redacted.report.length})),
          ul(
            {key: 'list', className: 'key-report'},
            redacted.report.map((one, position) =>
              li(
                {key: position},
                code(null, [one.node, one.field].join(' · ')),
                ` ${one.masked} → `,
                code(null, one.suggestion ?? '[redacted]'),
              ),
            ),
          ),
          h(CheckField, {key: 'check', label: t('files.redact'), checked: isRedacted, onChange: setRedacted, hint: t('files.redactHint')}),
        ]
      : p(null, h(Icon, {name: 'check', className: 'text-good'}), ' ', t('files.noKeys')),
    pre({className: 'export-text', tabIndex: 0, 'aria-label': name}, text),
  );
}
