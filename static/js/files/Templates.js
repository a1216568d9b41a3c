/** The gallery: pipelines to begin with, drawn small. */
import {api} from '../api/client.js';
import {Thumbnail} from '../canvas/thumbnail.js';
import {parseDocument} from '../core/doc.js';
import {h, tags, useEffect, useState} from '../h.js';
import {notifyFailure} from '../state/notices.js';
import {newPipeline} from '../state/tabs.js';
import {t} from '../words.js';
import {Dialog} from '../ui/dialog.js';
import {Icon} from '../ui/icons.js';

const {button, div, h3, li, p, span, ul} = tags;

/** @typedef {{id: string, name: string, description: string, document: import('../core/doc.js').Pipeline}} Template */

/** @param {{close: () => void}} props */
export function Templates({close}) {
  const [templates, setTemplates] = useState(/** @type {Template[] | null} */ (null));
  useEffect(() => {
    api.get('/api/templates').then(
      ({body}) => setTemplates(body.map(completed)),
      (error) => {
        close();
        notifyFailure(error);
      },
    );
  }, []);
  /** @param {Template} template */
  const use = (template) => {
    close();
    newPipeline(template.document);
  };
  return h(
    Dialog,
    {title: t('files.action.templates'), size: 'large', onClose: close},
    p({className: 'text-soft'}, t('files.templatesText')),
    templates === null ? h(Icon, {name: 'spinner', className: 'spin'}) : null,
    ul(
      {className: 'template-grid'},
      (templates ?? []).map((one) =>
        li(
          {key: one.id},
          button(
            {type: 'button', className: 'template', onClick: () => use(one)},
            h(Thumbnail, {document: one.document}),
            div({className: 'template-text'}, h3(null, one.name), span(null, one.description)),
          ),
        ),
      ),
    ),
  );
}

/** @param {Template} template */
function completed(template) {
  const parsed = parseDocument(JSON.stringify(template.document));
  return 'document' in parsed ? {...template, document: parsed.document} : template;
}
