/** How a chat begins: any client that sends a header. */
import {token} from '../api/client.js';
import {h, tags} from '../h.js';
import {copyText} from '../state/copying.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';

const {code, div, p, pre} = tags;

/** A turn of a chat from a terminal. */
function curlLine() {
  return [
    `curl ${location.origin}/v1/chat/completions \\`,
    '  -H "x-agentui-session: my-chat" \\',
    // The token itself is no business of the clipboard.
    ...(token() === null ? [] : ['  -H "x-agentui-token: $AGENTUI_TOKEN" \\']),
    '  -H "Content-Type: application/json" \\',
    `  -d '{"model": "demo-small", "messages": [{"role": "user", "content": "Hello"}]}'`,
  ].join('\n');
}

/** @param {{text: string}} props */
export function JoinHint({text}) {
  const line = curlLine();
  return div(
    {className: 'variables-join'},
    p(null, text),
    p(null, t('variables.join'), ' ', code(null, 'x-agentui-session'), ' ', t('variables.joinEnd')),
    pre({tabIndex: 0, 'aria-label': t('variables.curl')}, line),
    h(Button, {label: t('variables.copyCurl'), icon: 'copy', onClick: () => void copyText(line)}),
  );
}
