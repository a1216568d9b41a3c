/** The requests that previews and tries use: written by hand, saved in this browser by name, or taken from a run. */
import {api} from '../api/client.js';
import {loadValues, removeValue, saveValue} from '../api/drafts.js';
import {withoutKeys} from '../core/redact.js';
import {isLinked} from '../core/runlog.js';

/** @typedef {import('../state/types.js').Sample} Sample */

const PREFIX = 'sample:';

/** The saved samples by name. @returns {Promise<Sample[]>} */
export async function savedSamples() {
  const values = await loadValues(PREFIX);
  return values.map(({name, value}) => ({kind: 'saved', name: name.slice(PREFIX.length), runId: null, request: value.request}));
}

/**
 * Keep a request in this browser, without its keys: they are for the moment, and have to be typed again.
 * @param {string} name
 * @param {Sample['request']} request
 */
export async function saveSample(name, request) {
  await saveValue(PREFIX + name, {request: withoutKeys(request)});
}

/** @param {string} name */
export async function removeSample(name) {
  await removeValue(PREFIX + name);
}

/**
 * The request that a run answered, with all of its body; the keys in it are masked, and are sent to nobody again.
 * @param {string} runId
 * @param {string} name
 * @returns {Promise<Sample>}
 */
export async function capturedSample(runId, name) {
  const {body: run} = await api.get(`/api/runs/${encodeURIComponent(runId)}`);
  const whole = isLinked(run.request.body) ? (await api.get(`/api/runs/${encodeURIComponent(runId)}/request`)).body : run.request;
  const {method, path, query, headers, body} = whole;
  return {kind: 'captured', name, runId, request: {method, path: query ? `${path}?${query}` : path, headers, body}};
}
