/** Pipelines of HadTavern: told from what they hold, converted by the server. */
import {api} from '../api/client.js';
import {completeDocument, isObject} from '../core/doc.js';

/** @typedef {import('../core/doc.js').Pipeline} Pipeline */

/**
 * What became of something that could not be taken as it stood.
 * @typedef {{message: string, kind: 'changed' | 'kept' | 'dropped' | 'unknown', node: string | null, field: string | null}} ImportNote
 */

/**
 * The server's account of a converted file; `more` counts notes that are not listed.
 * @typedef {{format: 'drawflow' | 'pipeline', nodes: number, edges: number, notes: ImportNote[], more: number}} HadTavernReport
 */

/** Whether a file is one of HadTavern's: of its editor (Drawflow), or nodes that name what they wait for. @param {unknown} value */
export function isHadTavern(value) {
  if (!isObject(value) || value.format !== undefined) return false;
  if (isObject(value.drawflow)) return true;
  return Array.isArray(value.nodes) && value.nodes.some((node) => isObject(node) && node.in !== undefined);
}

/**
 * The document that a file becomes, and what could not be taken as it stood. Throws an ApiFailure for what is no pipeline.
 * @param {unknown} value
 * @returns {Promise<{document: Pipeline, report: HadTavernReport}>}
 */
export async function convertHadTavern(value) {
  const {body} = await api.send('POST', '/import/hadtavern', {data: value});
  return {document: completeDocument(body.data.document), report: body.data.report};
}
