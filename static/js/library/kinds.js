/** The five kinds of assets: where the server keeps each, and how it spells what all of them have. */

/** @typedef {'character' | 'user' | 'preset' | 'worldbook' | 'regex'} Kind */

/** @type {Kind[]} */
export const KINDS = ['character', 'user', 'preset', 'worldbook', 'regex'];

/** @type {Record<Kind, string>} */
export const PATHS = {character: '/characters', user: '/users', preset: '/presets', worldbook: '/worldbooks', regex: '/regex-profiles'};

/** @type {Record<Kind, string>} */
export const ICONS = {character: 'user', user: 'message', preset: 'preset', worldbook: 'note', regex: 'code'};

/** @param {Kind} kind @param {string} id */
export function pathOf(kind, id) {
  return `${PATHS[kind]}/${encodeURIComponent(id)}`;
}
