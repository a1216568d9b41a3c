/** A character's greeting: kept with its macros, shown as the model gets to read it. */
import {h, useEffect, useState} from '../h.js';
import {writeMemory} from '../state/memory.js';
import {Said} from './Said.js';

/** What may be a macro; other texts are shown as they are. */
const MACRO = /\{\{|<(?:user|bot|char)>/i;

/** @param {{place: import('./talk.js').Place, text: string}} props */
export function Greeting({place, text}) {
  const {session, branch} = place;
  const [shown, setShown] = useState(text);
  useEffect(() => {
    let isGone = false;
    setShown(text);
    if (MACRO.test(text)) {
      writeMemory('POST', `/sessions/${encodeURIComponent(session)}/prompt-runtime/preview`, {text, branch_id: branch}).then(
        ({data}) => !isGone && setShown(data.text),
        () => {}, // The text as it is kept stands there already.
      );
    }
    return () => {
      isGone = true;
    };
  }, [session, branch, text]);
  return h(Said, {role: 'assistant', text: shown});
}
