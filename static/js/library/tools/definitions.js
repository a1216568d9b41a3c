/** Tools that people define: what the server keeps of them, and the same as the fields of a form. */
import {ApiFailure} from '../../api/client.js';
import {isObject} from '../../core/doc.js';
import {readAll, writeMemory} from '../../state/memory.js';
import {headersOf, linesOf} from '../headers.js';

/**
 * @typedef {object} Definition
 * @property {string} id
 * @property {string} name
 * @property {string} description
 * @property {any} parameters JSON Schema of the arguments
 * @property {string} side_effect_level
 * @property {boolean} enabled
 * @property {'http' | 'pipeline'} handler_type
 * @property {Record<string, any>} handler
 *
 * @typedef {object} Said what stands in the form, as texts
 * @property {string} name
 * @property {string} description
 * @property {string} parameters
 * @property {string} level '': what the handler does
 * @property {'http' | 'pipeline'} type
 * @property {string} method
 * @property {string} url
 * @property {string} headers
 * @property {string} body
 * @property {string} pipeline
 * @property {string} input
 * @property {string} model
 * @property {string} timeout in milliseconds; '': the kind's own
 *
 * @typedef {'name' | 'parameters' | 'headers' | 'timeout'} Checked fields that are looked at before they are sent
 */

/** @type {Readonly<Said>} */
export const NEW_TOOL = Object.freeze({
  name: '', description: '', parameters: '{"properties": {}, "required": []}', level: '', type: 'http', method: 'GET', url: '', headers: '', body: '', pipeline: '', input: '', model: '', timeout: '',
});

/** The field of the form for each place of the server's. @type {Record<string, keyof Said>} */
const FIELDS = {
  '/name': 'name',
  '/description': 'description',
  '/side_effect_level': 'level',
  '/handler/method': 'method',
  '/handler/url': 'url',
  '/handler/body': 'body',
  '/handler/pipeline_id': 'pipeline',
  '/handler/input': 'input',
  '/handler/model': 'model',
  '/handler/timeout_ms': 'timeout',
};
const PATH = '/tools/definitions';

/** @param {string} id */
const pathOf = (id) => `${PATH}/${encodeURIComponent(id)}`;

/** @returns {Promise<Definition[]>} */
export function readDefinitions() {
  return readAll(`${PATH}?sort_by=name&sort_order=asc`);
}

/** @param {string} id @param {boolean} enabled */
export function switchDefinition(id, enabled) {
  return writeMemory('PATCH', `${pathOf(id)}/toggle`, {enabled});
}

/** @param {string} id */
export function deleteDefinition(id) {
  return writeMemory('DELETE', pathOf(id));
}

/**
 * Call a tool once, outside of any chat.
 * @param {string} id
 * @param {Record<string, any>} args
 * @param {boolean} isAgreed whether one that cannot be undone may be called
 * @returns {Promise<import('./ToolTrial.js').Came>}
 */
export async function tryDefinition(id, args, isAgreed) {
  return (await writeMemory('POST', `${pathOf(id)}/test`, {arguments: args, allow_irreversible: isAgreed})).data;
}

/**
 * Call any tool once by its name, with what a chat's next turn would see where there is one.
 * @param {string} name
 * @param {Record<string, any>} args
 * @param {boolean} isAgreed
 * @param {{session: string, branch: string} | null} place
 * @returns {Promise<import('./ToolTrial.js').Came>}
 */
export async function tryTool(name, args, isAgreed, place) {
  const around = place === null ? {} : {session_id: place.session, branch_id: place.branch};
  return (await writeMemory('POST', '/tools/test', {name, arguments: args, allow_irreversible: isAgreed, ...around})).data;
}

/** Make a tool, or change one. @param {Definition | null} before @param {Said} said */
export function writeDefinition(before, said) {
  return before === null ? writeMemory('POST', PATH, bodyOf(said, null)) : writeMemory('PATCH', pathOf(before.id), bodyOf(said, before));
}

/** @param {Definition} definition @returns {Said} */
export function saidOf({name, description, parameters, side_effect_level: level, handler_type: type, handler}) {
  const {method = 'GET', url = '', headers = {}, body = '', pipeline_id: pipeline = '', input = '', model, timeout_ms: timeout = ''} = handler;
  return {name, description, parameters: JSON.stringify(parameters, null, 2), level, type, method, url, headers: linesOf(headers), body, pipeline, input, model: model ?? '', timeout: String(timeout)};
}

/** Which fields cannot be sent as they are. @param {Said} said @returns {Checked[]} */
export function wrongIn({name, parameters, type, headers, timeout}) {
  /** @type {[Checked, boolean][]} */
  const checks = [
    ['name', /^[A-Za-z0-9_-]{1,64}$/.test(name.trim())],
    ['parameters', schemaOf(parameters) !== null],
    ['headers', type !== 'http' || headersOf(headers) !== null],
    ['timeout', timeout.trim() === '' || /^\d{1,9}$/.test(timeout.trim())],
  ];
  return checks.filter(([, isRight]) => !isRight).map(([field]) => field);
}

/** What the server refused, at the fields that it names; what has no field stands at ''. @param {unknown} error @param {string} text @returns {Partial<Record<keyof Said | '', string>>} */
export function refusalsOf(error, text) {
  if (!(error instanceof ApiFailure)) return {'': text};
  if (error.code === 'tool_definition_conflict') return {name: text};
  if (!Array.isArray(error.details) || error.details.length === 0) return {'': text};
  return Object.fromEntries(error.details.map(({path, message}) => [fieldAt(path), message]));
}

/** @param {string} path @returns {keyof Said | ''} */
function fieldAt(path) {
  if (path.startsWith('/parameters')) return 'parameters';
  if (path.startsWith('/handler/headers')) return 'headers';
  return Object.hasOwn(FIELDS, path) ? FIELDS[path] : '';
}

/** @param {string} text @returns {Record<string, any> | null} null where it is no object of JSON */
function schemaOf(text) {
  try {
    const schema = JSON.parse(text);
    return isObject(schema) ? schema : null;
  } catch {
    return null;
  }
}

/** The request for what the form says; what the form does not show of a handler of the same kind stays. @param {Said} said @param {Definition | null} before */
function bodyOf(said, before) {
  const {name, description, parameters, level, type, method, url, headers, body, pipeline, input, model, timeout} = said;
  const {timeout_ms: _old, ...kept} = before !== null && before.handler_type === type ? before.handler : {};
  const own = type === 'http' ? {method, url: url.trim(), headers: headersOf(headers), body} : {pipeline_id: pipeline, input, model: model.trim() || null};
  return {
    name: name.trim(),
    description,
    parameters: schemaOf(parameters),
    ...(level === '' ? {} : {side_effect_level: level}),
    handler_type: type,
    handler: {...kept, ...own, ...(timeout.trim() === '' ? {} : {timeout_ms: Number(timeout)})},
  };
}
