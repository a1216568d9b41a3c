/** The help text of a node type: paragraphs, with code between double backquotes. */
import {h, Fragment, tags} from '../h.js';

const {code, p} = tags;

/** @param {{text: string}} props */
export function HelpText({text}) {
  const paragraphs = text.split(/\n\s*\n/).map((one) => one.replace(/\s+/g, ' ').trim()).filter(Boolean);
  return h(
    Fragment,
    null,
    paragraphs.map((paragraph, position) => p({key: position}, paragraph.split('``').map((part, at) => (at % 2 ? code({key: at}, part) : part)))),
  );
}
