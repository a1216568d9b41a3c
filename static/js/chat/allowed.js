/** What a session allows models to do with tools: reading it, and changing it. */
import {reasonOf} from '../state/failures.js';
import {readMemory, writeMemory} from '../state/memory.js';
import {notify} from '../state/notices.js';

/**
 * @typedef {object} Permissions what was said; what is missing follows the server's defaults
 * @property {boolean} [enabled]
 * @property {number} [max_calls_per_turn]
 * @property {number} [max_steps_per_generation]
 * @property {boolean} [allow_irreversible]
 * @property {Record<string, string[]>} [slot_allow_list]
 * @property {Record<string, string[]>} [slot_deny_list]
 *
 * @typedef {{name: string, description: string, group: string, side_effect_level: string, is_allowed: boolean}} Tool
 * @typedef {{permissions: Permissions, tools: Tool[]}} Allowed
 */

/** Who answers in a chat. The page says nothing of the other slots, and keeps what others say of them. */
const SLOT = 'narrator';
/** Stands for all tools. */
const EVERY = '*';

/** @param {string} session @returns {Promise<Allowed | {error: string}>} */
export async function readAllowed(session) {
  const base = `/sessions/${encodeURIComponent(session)}`;
  try {
    const [permissions, tools] = await Promise.all([readMemory(`${base}/tool-permissions`), readMemory(`${base}/tool-catalog`)]);
    return {permissions: permissions.data, tools: tools.data};
  } catch (error) {
    return {error: reasonOf(error)};
  }
}

/** Change what a session allows; says so where it is refused. @param {string} session @param {Record<string, any>} patch */
export async function allow(session, patch) {
  try {
    await writeMemory('PATCH', `/sessions/${encodeURIComponent(session)}/tool-permissions`, patch);
  } catch (error) {
    notify('error', 'app.failure', {message: reasonOf(error)});
  }
}

/**
 * What is to be said anew so that the model which answers may call a tool, or may not.
 * @param {Permissions} permissions as they are
 * @param {string} name
 * @param {boolean} isAllowed
 * @param {{name: string, group: string}[]} all the tools that there are
 * @returns {Record<string, any>}
 */
export function withTool({slot_allow_list: allowed = {}, slot_deny_list: denied = {}}, name, isAllowed, all) {
  const refused = denied[SLOT] ?? [];
  if (!isAllowed) return {slot_deny_list: {...denied, [SLOT]: [...refused, name]}};
  const meant = all.filter((tool) => tool.name === name);
  /** What means this tool among others is told as the others' names. @param {string} one */
  const without = (one) => (meant.some((tool) => isMeant(one, tool)) ? all.filter((tool) => isMeant(one, tool)).map((tool) => tool.name) : [one]);
  const known = [...new Set(refused.flatMap(without))];
  const granted = allowed[SLOT];
  const isGranted = !granted || meant.some((tool) => granted.some((one) => isMeant(one, tool)));
  return {
    slot_deny_list: {...denied, [SLOT]: known.filter((one) => one !== name)},
    ...(granted && !isGranted ? {slot_allow_list: {...allowed, [SLOT]: [...granted, name]}} : {}),
  };
}

/** Whether an entry of the lists means a tool: its name, its group (an MCP server's is `mcp:NAME`), or all. @param {string} one @param {{name: string, group: string}} tool */
function isMeant(one, {name, group}) {
  return one === EVERY || one === name || one === `group:${group}` || (one === group && group.startsWith('mcp:'));
}
