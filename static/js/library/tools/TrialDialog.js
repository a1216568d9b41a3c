/** Tries any tool by its name: what it does, a form of its arguments, and what a model would be told. */
import {h, tags} from '../../h.js';
import {t, toolText} from '../../words.js';
import {Button} from '../../ui/buttons.js';
import {Dialog} from '../../ui/dialog.js';
import {tryTool} from './definitions.js';
import {ToolTrial} from './ToolTrial.js';

const {p} = tags;

/**
 * @param {{tool: import('./ToolTrial.js').Tried & {description: string}, place?: {session: string, branch: string} | null, close: () => void}} props
 *   `place`: the chat whose variables and character it sees
 */
export function TrialDialog({tool, place = null, close}) {
  return h(
    Dialog,
    {title: t('library.toolTryNamed', {name: tool.name}), size: 'large', onClose: close, actions: h(Button, {label: t('app.close'), onClick: close})},
    p(null, toolText(tool)),
    h(ToolTrial, {tool, hint: t(place === null ? 'library.toolTryHint' : 'library.toolTryInChat'), call: (args, isAgreed) => tryTool(tool.name, args, isAgreed, place)}),
  );
}
