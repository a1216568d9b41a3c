/** Prompt Blocks as a list: their order, where new ones go, and the one that stands for the caller's conversation. */
import {isObject} from '../core/doc.js';

/** The block where the caller's messages stand. */
export const CONVERSATION = Object.freeze({kind: 'history'});

/** The numbers of the blocks in the order in which they are sent: by `order`, where a silent block has its place as number. @param {readonly any[]} blocks */
export function inOrder(blocks) {
  const numbers = blocks.map((block, index) => (isObject(block) && typeof block.order === 'number' ? block.order : index));
  return blocks.map((_, index) => index).sort((a, b) => numbers[a] - numbers[b] || a - b);
}

/** New blocks that stand behind the others, also where those have order numbers. @param {readonly any[]} blocks @param {any[]} added */
export function behind(blocks, added) {
  const numbers = blocks.filter((block) => isObject(block) && typeof block.order === 'number').map((block) => block.order);
  const highest = Math.max(blocks.length, ...numbers);
  return numbers.length ? added.map((block, index) => ({...block, order: highest + 1 + index})) : added;
}

/** A moved list is its own order, so that numbers would only contradict it. @param {any} block */
export function withoutOrder(block) {
  if (!isObject(block) || block.order === undefined) return block;
  const {order: _, ...rest} = block;
  return rest;
}

/** The blocks that are sent. @param {readonly any[]} blocks @returns {any[]} */
export function enabled(blocks) {
  return blocks.filter((block) => isObject(block) && block.enabled !== false);
}

/**
 * The blocks with one more at the end. While none is sent, the whole conversation is: it goes on to be, as a block of its own,
 * behind what a system text says and before what others do.
 * @param {readonly any[]} blocks
 * @param {any} block
 */
export function withBlock(blocks, block) {
  if (block.kind === 'history' || block.kind === 'assembled' || enabled(blocks).length > 0) return [...blocks, ...behind(blocks, [block])];
  const both = block.role === 'system' ? [block, {...CONVERSATION}] : [{...CONVERSATION}, block];
  return [...blocks, ...behind(blocks, both)];
}

/**
 * The blocks with the caller's conversation among what is sent: the one that is switched off is switched on, or a new one is put
 * behind the others.
 * @param {readonly any[]} blocks
 */
export function withConversation(blocks) {
  const off = blocks.findIndex((block) => isObject(block) && block.kind === 'history');
  if (off < 0) return [...blocks, ...behind(blocks, [{...CONVERSATION}])];
  const {enabled: _, ...on} = blocks[off];
  return blocks.map((block, index) => (index === off ? on : block));
}
