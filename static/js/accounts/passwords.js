/** The rules for passwords, as the server has them. */
import {t} from '../words.js';

const SHORTEST = 8;
const LONGEST = 1000;

/** Why a text is no password; null where it is one. @param {string} text */
export function passwordProblem(text) {
  return text.length < SHORTEST || text.length > LONGEST ? t('accounts.passwordLength', {least: SHORTEST, most: LONGEST}) : null;
}
