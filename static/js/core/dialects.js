// A chat in the words of each dialect: the request that a client of it would send, and the words of its answer, streamed or whole.

import {isObject} from './doc.js';

/** @typedef {import('./doc.js').Json} Json */
/** @typedef {'openai' | 'claude' | 'gemini'} Dialect */

/**
 * @typedef {object} ChatQuestion
 * @property {Dialect} dialect
 * @property {string} model
 * @property {string} system empty: none
 * @property {number | null} temperature
 * @property {boolean} stream
 * @property {string} key the caller's own; empty: none
 * @property {{role: 'user' | 'assistant', text: string}[]} messages
 */

/**
 * @typedef {object} SampleRequest
 * @property {string} method
 * @property {string} path with its query
 * @property {{[name: string]: string}} headers
 * @property {Json} body
 */

export const DIALECTS = /** @type {const} */ (['openai', 'claude', 'gemini']);

/** Claude wants a limit; this one is below that of every model of its. */
const CLAUDE_MAX_TOKENS = 4096;

/**
 * The request that a client of the dialect would send.
 * @param {ChatQuestion} question
 * @returns {SampleRequest}
 */
export function chatRequest(question) {
  return {method: 'POST', ...REQUESTS[question.dialect](question)};
}

/** @type {Record<Dialect, (question: ChatQuestion) => Omit<SampleRequest, 'method'>>} */
const REQUESTS = {
  openai: ({model, system, temperature, stream, key, messages}) => ({
    path: '/v1/chat/completions',
    headers: keyHeaders('openai', key),
    body: /** @type {Json} */ ({
      model,
      messages: [...(system ? [{role: 'system', content: system}] : []), ...messages.map(({role, text}) => ({role, content: text}))],
      ...(temperature === null ? {} : {temperature}),
      stream,
    }),
  }),
  claude: ({model, system, temperature, stream, key, messages}) => ({
    path: '/v1/messages',
    headers: {'anthropic-version': '2023-06-01', ...keyHeaders('claude', key)},
    body: /** @type {Json} */ ({
      model,
      max_tokens: CLAUDE_MAX_TOKENS,
      ...(system ? {system} : {}),
      messages: messages.map(({role, text}) => ({role, content: text})),
      ...(temperature === null ? {} : {temperature}),
      stream,
    }),
  }),
  gemini: ({model, system, temperature, stream, key, messages}) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: keyHeaders('gemini', key),
    body: /** @type {Json} */ ({
      ...(system ? {systemInstruction: {parts: [{text: system}]}} : {}),
      contents: messages.map(({role, text}) => ({role: role === 'user' ? 'user' : 'model', parts: [{text}]})),
      ...(temperature === null ? {} : {generationConfig: {temperature}}),
    }),
  }),
};

/**
 * The header in which a client of the dialect sends its key.
 * @param {Dialect} dialect
 * @param {string} key
 * @returns {{[name: string]: string}} empty where there is no key
 */
export function keyHeaders(dialect, key) {
  if (!key) return {};
  if (dialect === 'openai') return {authorization: `Bearer ${key}`};
  return {[dialect === 'claude' ? 'x-api-key' : 'x-goog-api-key']: key};
}

/**
 * What one event of a streamed answer says, or a whole answer: its words, and an error that stands in it. Reads every dialect,
 * because a run that is repeated keeps the dialect of its first caller.
 * @param {unknown} data
 * @returns {{text: string, error: {code: string, message: string} | null}}
 */
export function wordsOf(data) {
  if (!isObject(data)) return {text: '', error: null};
  const error = errorOf(data);
  if (error) return {text: '', error};
  const {choices, candidates, content, delta, output} = data;
  if (Array.isArray(choices)) return said(openaiText(choices[0]));
  if (Array.isArray(candidates)) return said(partsText(member(member(candidates[0], 'content'), 'parts')));
  if (data.type === 'content_block_delta') return said(member(delta, 'text'));
  if (data.type === 'message' && Array.isArray(content)) return said(partsText(content));
  if (data.type === 'response.output_text.delta') return said(delta);
  if (data.object === 'response' && Array.isArray(output)) return said(output.map((item) => partsText(member(item, 'content'))).join(''));
  return said('');
}

/** @param {unknown} text */
function said(text) {
  return {text: typeof text === 'string' ? text : '', error: null};
}

/** @param {unknown} choice */
function openaiText(choice) {
  return member(member(choice, 'delta') ?? member(choice, 'message'), 'content') ?? member(choice, 'text');
}

/** The texts of a list of parts; thoughts are left out. @param {unknown} parts */
function partsText(parts) {
  if (!Array.isArray(parts)) return '';
  return parts.map((part) => (member(part, 'thought') === true ? '' : member(part, 'text'))).filter((text) => typeof text === 'string').join('');
}

/**
 * @param {{[name: string]: unknown}} data
 * @returns {{code: string, message: string} | null}
 */
function errorOf(data) {
  const error = data.type === 'response.failed' ? member(data.response, 'error') : data.error;
  if (!isObject(error)) return null;
  const code = error.code ?? error.type ?? error.status ?? 'error';
  return {code: String(code), message: String(error.message ?? code)};
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {any}
 */
function member(value, name) {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
