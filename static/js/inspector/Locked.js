/** The fields of a document that cannot be changed: they are there to be read, and take nothing. */
import {h, tags} from '../h.js';
import {useStore} from '../state/store.js';
import {isFrontLocked} from '../state/tabs.js';
import {FieldsLocked} from '../ui/fields.js';

const {fieldset} = tags;

/** Whether the fields of the document in front take nothing. */
export function useLocked() {
  return useStore(isFrontLocked);
}

/** Fields among which there are pages and lists to look through: those stay, and every change is refused with the reason. @param {{children?: import('../h.js').ReactNode}} props */
export function LockedFields({children}) {
  return h(FieldsLocked.Provider, {value: useLocked()}, children);
}

/** @param {{children?: import('../h.js').ReactNode}} props */
export function Locked({children}) {
  return fieldset({className: 'inspector-locked', disabled: useLocked()}, children);
}
