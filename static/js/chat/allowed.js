/** What a session allows models to do with tools: reading it, and changing it. */
import {reasonOf} from '../state/failures.js';
import {readMemory, writeMemory} from '../state/memory.js';
import {notify} from '../state/notices.js';
import {t} from '../words.js';

/**
 * @typedef {object} Permissions what was said; what is missing follows the server's defaults
 * @property {boolean} [enabled]
 * @property {number} [max_calls_per_turn]
 * @property {number} [max_steps_per_generation]
 * @property {boolean} [allow_irreversible]
 * @property {string[]} [irreversible_allow_list]
 * @property {Record<string, string[]>} [slot_allow_list]
 * @property {Record<string, string[]>} [slot_deny_list]
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} description
 * @property {string} group
 * @property {string} provider_type
 * @property {string} provider_id
 * @property {string} side_effect_level
 * @property {string[]} allowed_slots
 * @property {Record<string, boolean>} annotations what its MCP server says of it
 * @property {boolean} is_allowed
 *
 * @typedef {{permissions: Permissions, tools: Tool[]}} Allowed
 */

/** Who answers in a chat. The page says nothing of the other slots, and keeps what others say of them. */
const SLOT = 'narrator';
/** Stands for all tools. */
const EVERY = '*';

/**
 * @param {string} session
 * @param {{unlessOff?: boolean}} [options] `unlessOff`: where no tools are allowed at all, which there are is not asked
 * @returns {Promise<Allowed | {error: string}>}
 */
export async function readAllowed(session, {unlessOff = false} = {}) {
  const base = `/sessions/${encodeURIComponent(session)}`;
  try {
    const permissions = (await readMemory(`${base}/tool-permissions`)).data;
    if (unlessOff && permissions.enabled !== true) return {permissions, tools: []};
    return {permissions, tools: (await readMemory(`${base}/tool-catalog`)).data};
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

/** All selectors that mean a tool, as the lists of a session may have them. @param {Tool} tool @returns {string[]} */
function selectorsOf({name, group, provider_type: type, provider_id: provider}) {
  return [EVERY, name, `group:${group}`, ...(type === 'mcp' ? [group, `mcp:${provider}`] : [])];
}

/** Whether a list means a tool. @param {string[]} list @param {Tool} tool */
const means = (list, tool) => selectorsOf(tool).some((selector) => list.includes(selector));

/**
 * A list without some tools: what means one of them among others is written out as those others.
 * @param {string[]} list
 * @param {Tool[]} chosen
 * @param {Tool[]} all
 */
function without(list, chosen, all) {
  const names = new Set(chosen.map((tool) => tool.name));
  const spread = list.flatMap((selector) =>
    chosen.some((tool) => selectorsOf(tool).includes(selector)) ? all.filter((tool) => selectorsOf(tool).includes(selector)).map((tool) => tool.name) : [selector],
  );
  return [...new Set(spread)].filter((name) => !names.has(name));
}

/**
 * What is to be said anew so that the model which answers may call some tools, or may not. One that cannot be undone is allowed
 * by its name, and no other with it.
 * @param {Permissions} permissions as they are
 * @param {Tool[]} chosen
 * @param {boolean} isAllowed
 * @param {Tool[]} all the tools that there are
 * @returns {Record<string, any>}
 */
export function withTools({slot_allow_list: allowed = {}, slot_deny_list: denied = {}, irreversible_allow_list: agreed = [], allow_irreversible: isAll}, chosen, isAllowed, all) {
  const refused = denied[SLOT] ?? [];
  const left = without(agreed, chosen, all);
  if (!isAllowed) {
    const names = chosen.filter((tool) => !means(refused, tool)).map((tool) => tool.name);
    return {slot_deny_list: {...denied, [SLOT]: [...refused, ...names]}, ...(left.length === agreed.length ? {} : {irreversible_allow_list: left})};
  }
  const granted = allowed[SLOT];
  const missing = granted ? chosen.filter((tool) => !means(granted, tool)).map((tool) => tool.name) : [];
  const lasting = isAll ? [] : chosen.filter((tool) => isLasting(tool) && !means(agreed, tool)).map((tool) => tool.name);
  return {
    slot_deny_list: {...denied, [SLOT]: without(refused, chosen, all)},
    ...(granted && missing.length ? {slot_allow_list: {...allowed, [SLOT]: [...granted, ...missing]}} : {}),
    ...(lasting.length ? {irreversible_allow_list: [...agreed, ...lasting]} : {}),
  };
}

/** Whether nobody takes back what a tool does. @param {Tool} tool */
const isLasting = (tool) => tool.side_effect_level === 'irreversible';

/**
 * The tools that somebody has to decide about: they came from elsewhere, cannot be undone, and nobody has allowed or refused them.
 * @param {Allowed} read
 * @returns {Tool[]}
 */
export function undecided({permissions, tools}) {
  if (permissions.enabled !== true) return [];
  const refused = permissions.slot_deny_list?.[SLOT] ?? [];
  const granted = permissions.slot_allow_list?.[SLOT] ?? null;
  return tools.filter(
    (tool) => tool.provider_type !== 'builtin' && isLasting(tool) && !tool.is_allowed && tool.allowed_slots.includes(SLOT) && !means(refused, tool) && (granted === null || means(granted, tool)),
  );
}

/**
 * What a tool may do, in words; "" where there is nothing to say.
 * @param {Tool} tool
 */
export function effectOf(tool) {
  const {readOnlyHint: reads, destructiveHint: destroys} = tool.annotations;
  if (!isLasting(tool)) return reads === true ? t('chat.toolReads') : '';
  if (tool.provider_type !== 'mcp') return t('chat.toolIrreversible');
  return t(destroys === true ? 'chat.toolDestroys' : destroys === false ? 'chat.toolAdds' : 'chat.toolUnknown');
}
