/** The fields of a node type in the language of the person: the server's forms speak English, and other languages have words beside them. */
import {useMemo} from '../h.js';
import {resolveSchema} from '../core/schema.js';
import {useStore} from '../state/store.js';
import {translated} from '../words.js';

/** @typedef {import('../core/schema.js').Field} Field */

/**
 * The fields of a node type with the words that the chosen language has for them: `server.form.` (what a field is called),
 * `server.formHelp.` (what it does), `server.formRow.` (what a row of a list is called) and `server.formChoice.` (a value), each
 * with the field's place.
 * @param {import('../core/doc.js').NodeType} type
 * @returns {Field[]}
 */
export function useSpokenFields(type) {
  const words = useStore((state) => state.view.words);
  return useMemo(() => spokenFields(resolveSchema(type.schema), type.type), [type, words]);
}

/**
 * @param {Field[]} fields
 * @param {string} place the node type, with the names of the fields around them behind it, e.g. `ProviderCall.targets`
 * @returns {Field[]}
 */
function spokenFields(fields, place) {
  return fields.map((field) => spoken(field, `${place}.${field.name}`));
}

/** @param {Field} field @param {string} place @returns {Field} */
function spoken(field, place) {
  const {item} = field;
  return {
    ...field,
    words: wordsOf(field, translated(`server.form.${place}`), translated(`server.formHelp.${place}`), place),
    fields: spokenFields(field.fields, place),
    item: item && {...item, words: wordsOf(item, translated(`server.formRow.${place}`), null, place), fields: spokenFields(item.fields, place)},
  };
}

/** @param {Field} field @param {string | null} title @param {string | null} help @param {string} place */
function wordsOf({choices}, title, help, place) {
  const names = choices.map((choice) => [String(choice), translated(`server.formChoice.${place}.${choice}`)]);
  return {title, help, choices: Object.fromEntries(names.filter(([, words]) => words !== null))};
}
