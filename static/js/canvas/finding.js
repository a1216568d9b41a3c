/** What node types are found by. */
import {categoryTitle} from './summary.js';
import {typeTitle} from '../words.js';

/** What a node type is found by: its names and its category, ours and the server's. @param {import('../core/doc.js').NodeType} type */
export function typeWords(type) {
  return [typeTitle(type, type.type), type.type, type.title, categoryTitle(type.category), type.category].join(' ');
}
