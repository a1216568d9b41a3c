/** A file that the canvas cannot show, as text: what is wrong with it, and a field to mend it in. */
import {CodeField} from '../code/Field.js';
import {isObject, lostOf, parseDocument} from '../core/doc.js';
import {h, tags, useMemo} from '../h.js';
import {useStore} from '../state/store.js';
import {activeTab, drawBrokenText, setBrokenText} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';

const {div, h2, p} = tags;

export function BrokenFile() {
  const tab = useStore((state) => activeTab(state));
  const text = tab?.brokenText ?? null;
  const {remark, canDraw, isWhole} = useMemo(() => judged(text ?? ''), [text]);
  if (!tab || text === null) return null;
  return div(
    {className: 'broken-file'},
    h2(null, h(Icon, {name: 'error', className: 'text-bad'}), t('files.broken')),
    p({className: isWhole ? 'text-good' : 'text-bad', role: 'status'}, remark),
    h(CodeField, {
      label: t('files.brokenLabel', {id: tab.id ?? ''}),
      value: text,
      onChange: (next) => setBrokenText(tab.key, next),
      language: 'json',
      lines: 12,
      maxLines: 40,
      hint: t('files.brokenHint'),
    }),
    div(
      {className: 'broken-file-foot'},
      h(Button, {
        label: t(canDraw && !isWhole ? 'files.brokenDrawAnyway' : 'files.brokenDraw'),
        tone: isWhole ? 'primary' : 'plain',
        disabled: !canDraw,
        onClick: () => void drawBrokenText(tab.key),
      }),
    ),
  );
}

/**
 * What is wrong with a text, in words; whether it can be drawn, and whether nothing would be lost.
 * @param {string} text
 */
function judged(text) {
  const parsed = parseDocument(text);
  if (!('document' in parsed)) return {remark: t('files.brokenJson', parsed.error), canDraw: false, isWhole: false};
  const value = JSON.parse(text);
  const place = isObject(value) ? lostOf(value) : null;
  return {remark: place === null ? t('files.brokenWhole') : t('files.brokenShape', {place}), canDraw: true, isWhole: place === null};
}
