/** The gallery: pipelines to begin with, drawn small. */
import {api} from '../api/client.js';
import {Thumbnail} from '../canvas/thumbnail.js';
import {parseDocument} from '../core/doc.js';
import {findByWords} from '../core/search.js';
import {h, tags, useEffect, useId, useState} from '../h.js';
import {notifyFailure} from '../state/notices.js';
import {newPipeline} from '../state/tabs.js';
import {t} from '../words.js';
import {Dialog} from '../ui/dialog.js';
import {TextField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';

const {button, div, h3, h4, li, p, section, span, ul} = tags;

/** @typedef {{id: string, name: string, description: string, document: import('../core/doc.js').Pipeline}} Template */

/** What the gallery is sorted by: the `category` of its documents. One without stands at the end. */
const CATEGORIES = ['connect', 'models', 'steps', 'tools', 'chats', 'rules', 'other'];

/** @param {{close: () => void}} props */
export function Templates({close}) {
  const [templates, setTemplates] = useState(/** @type {Template[] | null} */ (null));
  const [query, setQuery] = useState('');
  useEffect(() => {
    api.get('/api/templates').then(
      ({body}) => setTemplates(body.map(completed)),
      (error) => {
        close();
        notifyFailure(error);
      },
    );
  }, []);
  const found = findByWords(query, templates ?? [], (one) => one.name, (one) => `${one.name} ${one.description}`);
  /** @param {Template} template */
  const use = (template) => {
    close();
    newPipeline(template.document);
  };
  return h(
    Dialog,
    {title: t('files.action.templates'), size: 'large', onClose: close},
    p({className: 'text-soft'}, t('files.templatesText')),
    h(TextField, {label: t('files.templatesSearch'), value: query, onChange: setQuery, autoFocus: true}),
    templates === null ? h(Icon, {name: 'spinner', className: 'spin'}) : null,
    templates !== null && found.length === 0 ? p({className: 'panel-empty', role: 'status'}, t('files.templatesNone')) : null,
    CATEGORIES.map((category) => {
      const own = found.filter((one) => categoryOf(one) === category);
      return own.length === 0 ? null : h(Category, {key: category, title: t(`files.templateCategory.${category}`), templates: own, onUse: use});
    }),
  );
}

/** @param {{title: string, templates: Template[], onUse: (template: Template) => void}} props */
function Category({title, templates, onUse}) {
  const id = useId();
  return section(
    {'aria-labelledby': id},
    h3({id, className: 'template-category'}, title),
    ul(
      {className: 'template-grid'},
      templates.map((one) =>
        li(
          {key: one.id},
          button(
            {type: 'button', className: 'template', onClick: () => onUse(one)},
            h(Thumbnail, {document: one.document}),
            div({className: 'template-text'}, h4(null, one.name), span(null, one.description)),
          ),
        ),
      ),
    ),
  );
}

/** @param {Template} template */
function categoryOf({document}) {
  const said = String(document.category ?? '');
  return CATEGORIES.includes(said) ? said : 'other';
}

/** @param {Template} template */
function completed(template) {
  const parsed = parseDocument(JSON.stringify(template.document));
  return 'document' in parsed ? {...template, document: parsed.document} : template;
}
