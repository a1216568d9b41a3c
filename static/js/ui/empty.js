/** What stands where a list or a page will be: that it is being read, or why it was not. */
import {h, tags} from '../h.js';
import {t} from '../words.js';
import {Icon} from './icons.js';

const {p} = tags;

/** It is being read. */
export function Waiting() {
  return p({className: 'panel-empty', role: 'status'}, h(Icon, {name: 'spinner', className: 'spin'}), t('app.loading'));
}

/** It was not read. @param {{children?: import('../h.js').ReactNode}} props the reason, and what can be done */
export function NotRead({children}) {
  return p({className: 'panel-empty', role: 'alert'}, h(Icon, {name: 'error'}), children);
}
