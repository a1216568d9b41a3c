/** What the server has: pipelines, presets, node types, names of secrets. */
import {api} from '../api/client.js';
import {notify, notifyFailure} from './notices.js';
import {store} from './store.js';

/** @param {string} path @returns {Promise<any>} */
async function read(path) {
  return (await api.get(path)).body;
}

/** Who asks, where that is a question at all. @param {any} settings @returns {Promise<import('./types.js').Me | null>} */
async function whoAsks(settings) {
  return settings.auth_mode === 'off' ? null : (await read('/auth/me')).data;
}

/**
 * Load every fact that the editor needs to start. Throws what the client throws.
 * @returns {Promise<string>} the id of the last change that the lists know of
 */
export async function loadFacts() {
  const asked = read('/api/settings');
  const who = asked.then(whoAsks);
  const [nodeTypes, names, settings, me, changes] = await Promise.all([
    read('/api/node-types'),
    read('/api/context-names'),
    asked,
    who,
    refreshLibrary(who),
  ]);
  store.set((state) => ({
    nodeTypes: Object.fromEntries(nodeTypes.map((/** @type {any} */ type) => [type.type, type])),
    contextNames: names,
    server: {
      ...state.server,
      version: settings.version,
      complaints: settings.complaints.map(String),
      checks: {director: String(settings.settings.director_pipeline ?? ''), verifier: String(settings.settings.verifier_pipeline ?? '')},
      online: true,
      signIn: null,
      me,
      hasAccounts: settings.account_mode === 'multi',
      keepsUsage: settings.keeps_usage,
      started: true,
    },
  }));
  return changes;
}

/**
 * Read the lists of pipelines, presets and secrets anew. The names of secrets are for those who may edit.
 * @param {Promise<import('./types.js').Me | null>} [who] who asks, where that is still being found out
 * @returns {Promise<string>} the id of the last change that they know of
 */
export async function refreshLibrary(who = Promise.resolve(store.get().server.me)) {
  const [{body: pipelines, headers}, presets, secrets] = await Promise.all([
    api.get('/api/pipelines'),
    read('/api/presets'),
    who.then((me) => (me === null || me.may_edit ? read('/api/secrets') : [])),
  ]);
  const active = pipelines.find((/** @type {any} */ one) => one.active)?.id ?? null;
  store.set((state) => ({
    library: {pipelines, presets, secrets, loaded: true},
    server: {...state.server, activePipeline: active},
  }));
  return headers.get('x-agentui-changes') ?? '';
}

/**
 * Let a pipeline serve callers who name none.
 * @param {string} id
 */
export async function activatePipeline(id) {
  try {
    await api.send('POST', `/api/pipelines/${encodeURIComponent(id)}/activate`);
    await refreshLibrary();
    notify('success', 'app.activated', {id});
  } catch (error) {
    notifyFailure(error, 'app.activateFailed');
  }
}
