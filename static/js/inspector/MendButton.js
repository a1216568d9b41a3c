/** What mends a problem with one click, by the code that the server's check gave it. */
import {h} from '../h.js';
import {setConfig} from '../core/commands.js';
import {isObject, nodeById} from '../core/doc.js';
import {edit} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {withConversation} from './blocks.js';

/** @typedef {import('../state/types.js').Problem} Problem */

/** @type {Record<string, {label: string, mend: (config: any) => any}>} `mend`: the parts of the node's configuration that change */
const MENDS = {
  'blocks.no_conversation': {
    label: 'inspector.mend.conversation',
    mend: (config) => ({blocks: withConversation(Array.isArray(config.blocks) ? config.blocks : [])}),
  },
};

/** The button that mends a problem; nothing where a person has to decide. @param {{problem: Problem}} props */
export function MendButton({problem}) {
  const known = Object.hasOwn(MENDS, problem.code) ? MENDS[problem.code] : null;
  if (!known) return null;
  const run = () =>
    void edit(known.label, (doc) => {
      const config = nodeById(doc, problem.node ?? '')?.config;
      return isObject(config) ? setConfig(doc, problem.node ?? '', known.mend(config)) : doc;
    });
  return h(Button, {label: t(known.label), icon: 'add', className: 'inspector-mini mend', onClick: run});
}
