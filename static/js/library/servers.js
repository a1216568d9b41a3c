/** MCP servers, as this server tells of them: their configuration, how they are doing, and their tools. */
import {api} from '../api/client.js';
import {readAll, readMemory, writeMemory} from '../state/memory.js';

/**
 * @typedef {{command: string, args: string[], env: Record<string, string>, cwd: string | null}} Program
 * @typedef {object} McpServer
 * @property {string} id
 * @property {string} name
 * @property {{url: string, headers: Record<string, string>} | null} http values that are not shown are ***
 * @property {string | null} tool_prefix
 * @property {string} default_side_effect_level
 * @property {Program | null} stdio values of its environment that are not shown are ***
 * @property {boolean} enabled
 * @property {string} status
 * @property {number} toolCount
 * @property {string | null} lastError
 *
 * @typedef {object} McpTool
 * @property {string} name what models call
 * @property {string} tool_name what the server calls it
 * @property {string} description
 * @property {any} parameters JSON Schema
 * @property {boolean | null} available null: the server is off
 * @property {string | null} reason why it is not offered
 * @property {'approved' | 'new' | 'changed' | 'gone'} approval
 * @property {Record<string, boolean>} annotations what the server says of it, by the protocol's names
 *
 * @typedef {{transport: 'http', http: {url: string, headers: Record<string, string>}} | {transport: 'stdio', stdio: Program}} Reached
 * @typedef {{name: string, tool_prefix: string | null, default_side_effect_level: string}} Use
 */

/** @param {string} id */
const pathOf = (id) => `/mcp/servers/${encodeURIComponent(id)}`;

/** @returns {Promise<McpServer[]>} */
export async function readServers() {
  const [servers, statuses] = await Promise.all([readAll('/mcp/servers?sort_by=name&sort_order=asc'), readMemory('/mcp/statuses')]);
  const found = new Map(statuses.data.map((/** @type {any} */ one) => [one.server_id, one]));
  return servers.map((one) => {
    const {status = 'disconnected', tool_count: toolCount = 0, last_error: lastError = null} = found.get(one.id) ?? {};
    return {...one, status, toolCount, lastError};
  });
}

/** Whether programs may be configured here. @returns {Promise<boolean>} */
export async function mayNamePrograms() {
  return (await api.get('/api/settings')).body.settings.mcp_programs === true;
}

/** Configure a server. It is off until somebody approved its tools. @param {Use & Reached} server */
export function addServer(server) {
  return writeMemory('POST', '/mcp/servers', {...server, enabled: false});
}

/**
 * Change a server. A value *** stays as it is; one that is reached otherwise offers nothing until its tools are approved anew.
 * @param {string} id
 * @param {Use & Partial<Reached>} server without `http` and `stdio`: it is reached as before
 */
export function changeServer(id, server) {
  return writeMemory('PATCH', pathOf(id), server);
}

/** @param {string} id @param {boolean} enabled */
export function switchServer(id, enabled) {
  return writeMemory('PATCH', `${pathOf(id)}/toggle`, {enabled});
}

/** @param {string} id */
export function deleteServer(id) {
  return writeMemory('DELETE', pathOf(id));
}

/** The tools that a server has: of one that is off as a trial, which keeps nothing. @param {McpServer} server @returns {Promise<McpTool[]>} */
export async function readTools({id, enabled}) {
  if (enabled) return (await readMemory(`${pathOf(id)}/tools`)).data;
  const {data} = await writeMemory('POST', `${pathOf(id)}/test`, {});
  return data.tools.map((/** @type {any} */ tool) => ({...tool, tool_name: tool.name, annotations: tool.annotations ?? {}, available: null, reason: null, approval: 'new'}));
}

/** Offer models these tools of a server as they are now, and switch it on. @param {McpServer} server @param {string[]} tools */
export async function approveTools({id, enabled}, tools) {
  await writeMemory('POST', `${pathOf(id)}/connect`, {tools});
  if (!enabled) await switchServer(id, true);
}
