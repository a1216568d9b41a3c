/** What people call the sections of a prompt. */
import {translated} from '../words.js';

/** A name that a program gave: it tells a person nothing. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** What people call what a budget counts together. @param {string} group @param {any[]} sections */
export function groupOf(group, sections) {
  const one = sections.find((each) => each.group === group);
  return one === undefined ? inWords('source', group.replace(/^section:/, '')) : titleOf(one);
}

/** What people call a section: as its preset does, or as this page does. @param {any} section */
export function titleOf({title, name, source}) {
  if (title) return title;
  const known = String(name).split('+').map((part) => translated(`chat.section.${part.replace(/[:@].*$/s, '')}`) ?? inWords('source', part));
  return UUID.test(name) ? inWords('source', source) : known.join(' + ');
}

/** A name of the server's in words; itself where nobody has any. @param {'reason' | 'source'} kind @param {string | null | undefined} name */
export function inWords(kind, name) {
  return name ? (translated(`chat.${kind}.${name}`) ?? name) : '';
}
