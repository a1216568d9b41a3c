/** What the dialog that connects a model asks the server for. */
import {api, ApiFailure} from '../api/client.js';

/**
 * @typedef {{provider: string, base_url: string | null, api_key: string}} Asked
 * @typedef {{id: string, label: string}} Model
 * @typedef {{name: string, address: string, models: Model[]}} Local
 */

/** Where servers at home listen unless they are told otherwise, by their own documents. */
const USUAL = [
  {name: 'Ollama', port: 11434},
  {name: 'LM Studio', port: 1234},
  {name: 'llama.cpp', port: 8080},
  {name: 'KoboldCpp', port: 5001},
  {name: 'vLLM', port: 8000},
];
const MOST_NAMES = 20;

/** The models of a provider. @param {Asked} asked @returns {Promise<Model[]>} */
export async function listModels(asked) {
  return (await api.send('POST', '/llm-profiles/models/discover', asked)).body.data;
}

/** What a model answers to a word. @param {Asked} asked @param {string} model @returns {Promise<string>} */
export async function tryModel(asked, model) {
  return (await api.send('POST', '/llm-profiles/models/test', {...asked, model_id: model})).body.data.response_text;
}

/** The servers that answer on their usual ports of the computer that agentui runs on. @returns {Promise<Local[]>} */
export async function findLocal() {
  const found = await Promise.all(
    USUAL.map(async ({name, port}) => {
      const address = `http://127.0.0.1:${port}/v1`;
      try {
        return {name, address, models: await listModels({provider: 'openai-compatible', base_url: address, api_key: 'none'})};
      } catch (error) {
        if (error instanceof ApiFailure) return null; // nothing listens there, or something else does
        throw error;
      }
    }),
  );
  return /** @type {Local[]} */ (found.filter((each) => each !== null));
}

/** Keep a profile under the first name that is free. @param {Asked} asked @param {string} model @returns {Promise<{id: string, preset_name: string}>} */
export async function keepProfile(asked, model) {
  const base = `${model} · ${asked.base_url ? new URL(asked.base_url).host : asked.provider}`.slice(0, 110);
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base} ${count}`;
    try {
      return (await api.send('POST', '/llm-profiles', {...asked, preset_name: name, model_id: model})).body.data;
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'profile_conflict' || count === MOST_NAMES) throw error;
    }
  }
}
