/** Keys by name: a menu that inserts `[[SECRET:name]]`, and a warning where a key stands as it is. */
import {h, tags} from '../h.js';
import {findLiteralKeys, redactDocument} from '../core/redact.js';
import {askText, openDialog} from '../state/dialogs.js';
import {store, useStore} from '../state/store.js';
import {valueAt} from '../core/doc.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';
import {MenuButton} from '../ui/menu.js';

const {div, span} = tags;
const SECRET_NAME = /^[A-Za-z0-9_.-]{1,100}$/;

/**
 * A menu with the names of the stored keys.
 * @param {{header?: string, value: string, onChange: (value: string) => void}} props
 */
export function SecretMenu({header = '', value, onChange}) {
  const secrets = useStore((state) => state.library.secrets);
  /** @param {string} name */
  const insert = (name) => onChange(withSecret(value, name, header));
  const another = async () => {
    const name = await askText({
      title: t('inspector.secretAnother'),
      label: t('inspector.secretName'),
      hint: t('inspector.secretHow'),
      confirm: t('inspector.insert'),
      check: (text) => (SECRET_NAME.test(text.trim()) ? null : t('inspector.secretNameWrong')),
    });
    if (name !== null) insert(name.trim());
  };
  return h(MenuButton, {
    label: t('inspector.secretInsert'),
    icon: 'key',
    iconOnly: true,
    className: 'inspector-mini',
    items: () => [
      ...secrets.map((secret) => ({label: secret.name, icon: 'key', keys: secret.origins?.join(', '), run: () => insert(secret.name)})),
      ...(secrets.length ? [{}] : []),
      {label: t('inspector.secretAdd'), icon: 'add', run: () => void openDialog('keys', {add: '', onStored: insert})},
      {label: t('inspector.secretAnother'), icon: 'edit', run: () => void another()},
    ],
  });
}

/**
 * The value with the key's macro: in place of the key that it had, else after what is there.
 * @param {string} value
 * @param {string} name
 * @param {string} header
 */
function withSecret(value, name, header) {
  const macro = `[[SECRET:${name}]]`;
  const isBearer = header.toLowerCase() === 'authorization';
  if (/\[\[\s*SECRET\s*:[^\]]*\]\]/.test(value)) return value.replace(/\[\[\s*SECRET\s*:[^\]]*\]\]/, () => macro);
  const cleaned = redacted(header, value);
  if (cleaned !== value) return cleaned.replace(/\[\[SECRET:[^\]]*\]\]/, () => macro);
  if (value.trim() === '') return isBearer ? `Bearer ${macro}` : macro;
  return `${value}${/\s$/.test(value) || isBearer === false ? '' : ' '}${macro}`;
}

/**
 * A line under a field that holds a key as it is, with the offer to write the name of a stored one.
 * @param {{header: string, value: string, onChange: (value: string) => void}} props
 */
export function LiteralKeyWarning({header, value, onChange}) {
  const [found] = findLiteralKeys(oneHeader(header, value));
  if (!found) return null;
  const secrets = store.get().library.secrets;
  const cleaned = redacted(header, value);
  const known = secrets.find((secret) => secret.name.toLowerCase() === found.kind);
  const offered = known ? cleaned.replace(/\[\[SECRET:[^\]]*\]\]/, () => `[[SECRET:${known.name}]]`) : cleaned;
  const macro = /\[\[SECRET:[^\]]*\]\]/.exec(offered)?.[0] ?? '';
  return div(
    {className: 'inspector-note inspector-note-warn', role: 'status'},
    h(Icon, {name: 'warning'}),
    span(null, t('inspector.literalKey', {masked: found.masked})),
    macro
      ? h(Button, {label: t('inspector.literalKeyReplace', {macro}), tone: 'plain', className: 'inspector-mini', onClick: () => onChange(offered)})
      : null,
  );
}

/** @param {string} header @param {string} value @returns {any} */
function oneHeader(header, value) {
  const node = {id: 'n1', type: 'ProviderCall', config: {headers: {[header || 'Authorization']: value}}, position: {x: 0, y: 0}};
  return {format: 1, name: '', nodes: [node], edges: []};
}

/** @param {string} header @param {string} value @returns {string} */
function redacted(header, value) {
  const {document} = redactDocument(oneHeader(header, value));
  return valueAt(document.nodes[0].config, ['headers', header || 'Authorization']) ?? value;
}
