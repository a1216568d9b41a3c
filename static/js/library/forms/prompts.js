/**
 * The prompts of a prompt preset in the order in which they are sent. SillyTavern keeps them apart: `prompts` holds the texts,
 * `prompt_order` says for a character's id which of them are sent, and in which order. A chat takes the order of GLOBAL, or the
 * only one that there is.
 */
import {moved} from '../../ui/sorting.js';

/** The id under which current presets keep the order of every character. */
const GLOBAL = 100001;
/** The id of old presets. */
const OLD = 100000;

/** What the chat itself fills in, by SillyTavern's identifiers, in its usual order around the texts. */
const MARKERS = {
  worldInfoBefore: 'World Info (before)',
  personaDescription: 'Persona Description',
  charDescription: 'Char Description',
  charPersonality: 'Char Personality',
  scenario: 'Scenario',
  worldInfoAfter: 'World Info (after)',
  dialogueExamples: 'Chat Examples',
  chatHistory: 'Chat History',
};

/** A preset to begin with: a main prompt, and a place for everything that a chat brings. @returns {any} */
export function newPreset() {
  const text = {role: 'system', system_prompt: true, marker: false};
  const prompts = [
    {identifier: 'main', name: 'Main Prompt', content: 'Write the next message of {{char}} in this chat with {{user}}.', ...text},
    ...Object.entries(MARKERS).map(([identifier, name]) => ({identifier, name, system_prompt: true, marker: true})),
    {identifier: 'jailbreak', name: 'Post-History Instructions', content: '', ...text},
  ];
  return {temperature: 1, prompts, prompt_order: [{character_id: GLOBAL, order: prompts.map(({identifier}) => ({identifier, enabled: true}))}]};
}

/**
 * @typedef {object} Line
 * @property {string} id the prompt's identifier
 * @property {any} prompt
 * @property {boolean} isOn
 * @property {boolean} isOrdered whether the order names it
 */

/** @param {any} content */
function promptsOf(content) {
  return Array.isArray(content.prompts) ? content.prompts.filter((/** @type {any} */ one) => typeof one?.identifier === 'string') : [];
}

/** @param {any} content @returns {any} the order that counts; undefined where there is none */
function contextOf(content) {
  const all = Array.isArray(content.prompt_order) ? content.prompt_order.filter((/** @type {any} */ one) => Array.isArray(one?.order)) : [];
  return all.find((/** @type {any} */ one) => one.character_id === GLOBAL) ?? all.find((/** @type {any} */ one) => one.character_id === OLD) ?? all[0];
}

/** Those that are sent in their order, then those that the order does not name. @param {any} content @returns {Line[]} */
export function linesOf(content) {
  const prompts = promptsOf(content);
  const order = contextOf(content)?.order ?? prompts.map((/** @type {any} */ {identifier, enabled}) => ({identifier, enabled: enabled !== false}));
  const byId = new Map(prompts.map((/** @type {any} */ one) => [one.identifier, one]));
  const ordered = order.flatMap((/** @type {any} */ {identifier, enabled}) => {
    const prompt = byId.get(identifier);
    // An order that names a prompt twice sends it where it stands first.
    byId.delete(identifier);
    return prompt === undefined ? [] : [{id: identifier, prompt, isOn: Boolean(enabled), isOrdered: true}];
  });
  const named = new Set(ordered.map((/** @type {Line} */ {id}) => id));
  return [...ordered, ...prompts.filter((/** @type {any} */ {identifier}) => !named.has(identifier)).map((/** @type {any} */ prompt) => ({id: prompt.identifier, prompt, isOn: false, isOrdered: false}))];
}

/** @param {any} content @param {Line[]} lines what is sent, in its order */
function withOrder(content, lines) {
  const order = lines.map(({id, isOn}) => ({identifier: id, enabled: isOn}));
  const context = contextOf(content);
  const contexts = Array.isArray(content.prompt_order) ? content.prompt_order : [];
  const kept = new Map((context?.order ?? []).map((/** @type {any} */ one) => [one?.identifier, one]));
  const next = {...(context ?? {character_id: GLOBAL}), order: order.map((one) => ({...(kept.get(one.identifier) ?? {}), ...one}))};
  return {...content, prompt_order: context === undefined ? [...contexts, next] : contexts.map((/** @type {any} */ one) => (one === context ? next : one))};
}

/** @param {any} content @param {number} from @param {number} to places among those that are sent */
export function movePrompt(content, from, to) {
  return withOrder(content, moved(linesOf(content).filter(({isOrdered}) => isOrdered), from, to));
}

/** Send a prompt, or do not; one that the order does not name goes to its end. @param {any} content @param {string} id @param {boolean} isOn */
export function togglePrompt(content, id, isOn) {
  const lines = linesOf(content);
  const ordered = lines.filter(({isOrdered}) => isOrdered);
  if (ordered.some((line) => line.id === id)) return withOrder(content, ordered.map((line) => (line.id === id ? {...line, isOn} : line)));
  return withOrder(content, [...ordered, ...lines.filter((line) => line.id === id).map((line) => ({...line, isOn}))]);
}

/** @param {any} content @param {string} id @param {any} prompt */
export function putPrompt(content, id, prompt) {
  return {...content, prompts: content.prompts.map((/** @type {any} */ one) => (one?.identifier === id ? prompt : one))};
}

/** A new prompt at the end of the order. @param {any} content @param {string} name */
export function addPrompt(content, name) {
  const id = crypto.randomUUID();
  const prompts = Array.isArray(content.prompts) ? content.prompts : [];
  const ordered = linesOf(content).filter(({isOrdered}) => isOrdered);
  const prompt = {identifier: id, name, role: 'system', content: '', system_prompt: false, marker: false, injection_position: 0, injection_depth: 4, injection_order: 100, forbid_overrides: false};
  return {id, content: withOrder({...content, prompts: [...prompts, prompt]}, [...ordered, {id, prompt, isOn: true, isOrdered: true}])};
}

/** @param {any} content @param {string} id */
export function removePrompt(content, id) {
  const ordered = linesOf(content).filter((line) => line.isOrdered && line.id !== id);
  return {...withOrder(content, ordered), prompts: content.prompts.filter((/** @type {any} */ one) => one?.identifier !== id)};
}
