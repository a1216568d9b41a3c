/** A box that says why something did not work. */
import {h, tags} from '../h.js';
import {Icon} from './icons.js';

const {div} = tags;

/** @param {{role?: 'alert' | 'note', children?: import('../h.js').ReactNode}} props `alert`: said by screen readers when it appears */
export function FailureBox({role = 'alert', children}) {
  return div({className: 'failure', role}, h(Icon, {name: 'error'}), div({className: 'failure-text'}, children));
}
