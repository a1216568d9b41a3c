/** The models of a call, offered beside its field: those of the preset, and what the provider lists for the key that the call sends. */
import {Fragment, h, tags, useRef, useState} from '../h.js';
import {api} from '../api/client.js';
import {isObject} from '../core/doc.js';
import {notifyFailure} from '../state/notices.js';
import {mayEdit} from '../state/rights.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Chooser} from '../ui/Chooser.js';

const {span} = tags;

/** @typedef {import('../fields/form.js').Form} Form */

/**
 * @param {{form: Form, provider: string, models: string[]}} props `provider`: the dialect to ask in, `caller` where nobody knows it;
 *   `models`: those that are known without asking
 */
export function ModelChooser({form, provider, models}) {
  const [open, setOpen] = useState(/** @type {{x: number, y: number} | null} */ (null));
  const [listed, setListed] = useState(/** @type {{asked: string, models: string[]} | null} */ (null));
  const element = useRef(/** @type {HTMLSpanElement | null} */ (null));
  const {base_url = '', headers, proxy = ''} = form.values;
  const canAsk = provider !== 'caller' && mayEdit();
  if (!canAsk && models.length === 0) return null;
  const body = {provider, base_url, headers: isObject(headers) ? headers : {}, proxy};
  const asked = JSON.stringify(body);
  const found = listed?.asked === asked ? listed.models : [];
  const begin = () => {
    const box = element.current?.getBoundingClientRect();
    setOpen(box ? {x: box.left, y: box.bottom + 4} : null);
    if (!canAsk || listed?.asked === asked) return;
    setListed({asked, models: []});
    api.send('POST', '/api/models', body).then(
      ({body: answer}) => setListed({asked, models: answer.map((/** @type {{id: string}} */ one) => one.id)}),
      (error) => {
        setListed(null);
        if (models.length === 0) notifyFailure(error, 'inspector.modelsFailed', 'models');
      },
    );
  };
  const names = [...new Set([...models, ...found])];
  return h(
    Fragment,
    null,
    span(
      {ref: element, className: 'menu-anchor'},
      h(Button, {
        label: t('inspector.models'),
        icon: 'list',
        iconOnly: true,
        tone: 'quiet',
        className: 'inspector-mini',
        onClick: begin,
        rest: {'aria-haspopup': 'dialog', 'aria-expanded': open !== null},
      }),
    ),
    open
      ? h(Chooser, {
          label: t('inspector.models'),
          placeholder: t('inspector.modelFind'),
          empty: t('inspector.modelsNone'),
          at: open,
          choices: names.map((name) => ({key: name, title: name, icon: form.values.model === name ? 'check' : 'message'})),
          onChoose: (name) => {
            form.set(['model'], name, {once: true});
            setOpen(null);
          },
          onClose: () => setOpen(null),
        })
      : null,
  );
}
