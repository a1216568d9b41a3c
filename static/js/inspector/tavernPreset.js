/**
 * Prompt presets of SillyTavern as Prompt Blocks.
 *
 * Such a file has `prompts` (texts, and markers for what SillyTavern fills in) and `prompt_order` (tracks: which of them are sent, in
 * which order). Texts come as they are, in SillyTavern's own macros, which reach no key of a request.
 */
import {isObject} from '../core/doc.js';

/** @typedef {{kind: string, name?: string, role?: string, text?: string, language?: string, enabled?: boolean}} Block */
/**
 * What became of a file. `code` is a key of the words below `inspector.import.`.
 * @typedef {{code: string, params: Record<string, string | number>}} Remark
 * @typedef {{blocks: Block[], remarks: Remark[]}} Imported
 */

/** The track of SillyTavern's prompt manager, and the older one that it leaves in files. */
const TRACKS = [100001, 100000];
const ROLES = ['system', 'user', 'assistant'];
const PERSONS = 'user|char|persona|scenario|personality|description';
const PERSON = new RegExp(String.raw`\{\{\s*(${PERSONS})\s*\}\}`, 'gi');
/** What would be a macro in one of the two languages: such a text must be read as SillyTavern's. */
const MACRO = /\{\{|\[\[|<(?:user|bot|char|group)/i;
const READ = ['prompts', 'prompt_order', 'name'];
const MAX_BLOCKS = 1000;

/**
 * Read a prompt preset. Throws nothing: what is no preset comes back as null.
 * @param {unknown} file the parsed JSON
 * @returns {Imported | null}
 */
export function importTavernPreset(file) {
  if (!isObject(file) || !Array.isArray(file.prompts)) return null;
  /** @type {Remark[]} */
  const remarks = [];
  const prompts = new Map(file.prompts.filter(isObject).map((prompt) => [String(prompt.identifier ?? prompt.name ?? ''), prompt]));
  const order = trackOf(file.prompt_order, remarks) ?? [...prompts.keys()].map((identifier) => ({identifier, enabled: undefined}));
  /** @type {Block[]} */
  const placed = [];
  /** @type {Block[]} */
  const deep = [];
  const sent = new Set();
  for (const {identifier, enabled} of order) {
    const prompt = prompts.get(identifier);
    sent.add(identifier);
    if (!prompt) continue;
    const block = blockOf(identifier, prompt, enabled, remarks);
    if (!block) continue;
    if (Number(prompt.injection_position) === 1) {
      remarks.push({code: 'depth', params: {name: nameOf(prompt), depth: Number(prompt.injection_depth) || 0}});
      deep.push(block);
    } else placed.push(block);
  }
  for (const [identifier, prompt] of prompts) if (!sent.has(identifier)) remarks.push({code: 'unsent', params: {name: nameOf(prompt)}});
  const blocks = withDeep(placed, deep);
  const tavern = blocks.filter((block) => block.language);
  if (tavern.length) remarks.push({code: 'macros', params: {n: tavern.length}});
  const persons = new Set(tavern.flatMap((block) => [...(block.text ?? '').matchAll(PERSON)].map((found) => found[1].toLowerCase())));
  if (persons.size) remarks.push({code: 'persons', params: {names: [...persons].sort().join(', ')}});
  const ignored = Object.keys(file).filter((name) => !READ.includes(name));
  if (ignored.length) remarks.push({code: 'settings', params: {n: ignored.length, names: ignored.slice(0, 6).join(', ')}});
  if (blocks.length > MAX_BLOCKS) remarks.push({code: 'tooMany', params: {n: blocks.length - MAX_BLOCKS}});
  return {blocks: blocks.slice(0, MAX_BLOCKS), remarks};
}

/**
 * The order that SillyTavern would use: its manager's track, else the older one, else the first.
 * @param {unknown} order
 * @param {Remark[]} remarks
 * @returns {{identifier: string, enabled: boolean | undefined}[] | null}
 */
function trackOf(order, remarks) {
  if (!Array.isArray(order)) return null;
  const tracks = order.filter((track) => isObject(track) && Array.isArray(track.order));
  const chosen = TRACKS.map((id) => tracks.find((track) => Number(track.character_id) === id)).find(Boolean) ?? tracks[0];
  const entries = chosen ? chosen.order : order;
  if (tracks.length > 1) {
    const others = tracks.filter((track) => track !== chosen).map((track) => String(track.character_id));
    remarks.push({code: 'track', params: {chosen: String(chosen.character_id), others: others.join(', ')}});
  }
  const read = entries
    .filter((/** @type {any} */ entry) => isObject(entry) && entry.identifier !== undefined)
    .map((/** @type {any} */ entry) => ({identifier: String(entry.identifier), enabled: typeof entry.enabled === 'boolean' ? entry.enabled : undefined}));
  return read.length ? read : null;
}

/**
 * @param {string} identifier
 * @param {Record<string, any>} prompt
 * @param {boolean | undefined} enabled what the track says; it wins over the prompt
 * @param {Remark[]} remarks
 * @returns {Block | null}
 */
function blockOf(identifier, prompt, enabled, remarks) {
  const isOn = enabled ?? (typeof prompt.enabled === 'boolean' ? prompt.enabled : true);
  const switched = isOn ? {} : {enabled: false};
  if (identifier === 'chatHistory') return {kind: 'history', name: nameOf(prompt), ...switched};
  if (prompt.marker === true) {
    remarks.push({code: 'marker', params: {name: nameOf(prompt)}});
    return null;
  }
  if (Array.isArray(prompt.injection_trigger) && prompt.injection_trigger.length) {
    remarks.push({code: 'trigger', params: {name: nameOf(prompt), triggers: prompt.injection_trigger.join(', ')}});
  }
  const role = ROLES.includes(prompt.role) ? prompt.role : 'system';
  const text = typeof prompt.content === 'string' ? prompt.content : '';
  return {kind: 'text', role, name: nameOf(prompt), text, ...(MACRO.test(text) ? {language: 'sillytavern'} : {}), ...switched};
}

/** @param {Record<string, any>} prompt */
function nameOf(prompt) {
  return String(prompt.name ?? prompt.identifier ?? '').slice(0, 200);
}

/** Texts that stood within the chat stand behind it. @param {Block[]} placed @param {Block[]} deep */
function withDeep(placed, deep) {
  const chat = placed.findIndex((block) => block.kind === 'history');
  return chat < 0 ? [...placed, ...deep] : [...placed.slice(0, chat + 1), ...deep, ...placed.slice(chat + 1)];
}
