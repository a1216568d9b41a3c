// A request as a command that somebody can paste into a shell.

import {isObject} from './doc.js';

/**
 * A request as runs and previews tell of it.
 * @typedef {{method: string, url: string, headers: {[name: string]: string}, body: unknown}} SentRequest
 */

/** What the server puts where a secret was: three stars, and of a long one its last four characters. */
const MASK = /\*{3}[^\s"',;&]{0,4}/g;

/**
 * For sh, bash and zsh.
 * @param {SentRequest} request
 * @returns {string}
 */
export function curlPosix(request) {
  return command(request, 'curl', posixQuote, ' \\\n');
}

/**
 * For PowerShell 7; `curl.exe`, because `curl` alone is another program there.
 * @param {SentRequest} request
 * @returns {string}
 */
export function curlPowerShell(request) {
  return command(request, 'curl.exe', powerShellQuote, ' `\n');
}

/**
 * One word of a POSIX shell, whatever it holds (POSIX 2.2.2: nothing is special between single quotes).
 * @param {string} text
 */
function posixQuote(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * One word of PowerShell, whatever it holds: between single quotes only those are doubled, the typographic ones too.
 * @param {string} text
 */
export function powerShellQuote(text) {
  return `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`;
}

/**
 * @param {SentRequest} request
 * @param {string} program
 * @param {(text: string) => string} quote
 * @param {string} lineBreak
 */
function command({method, url, headers, body}, program, quote, lineBreak) {
  const parts = [`${program} -X ${method} ${quote(withPlaceholders(url, 'API_KEY'))}`];
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quote(`${name}: ${withPlaceholders(String(value), 'API_KEY')}`)}`);
  if (body !== null && body !== undefined) parts.push(`--data-raw ${quote(isObject(body) || Array.isArray(body) ? JSON.stringify(body, null, 2) : String(body))}`);
  return parts.join(`${lineBreak}  `);
}

/**
 * @param {string} text
 * @param {string} name
 */
function withPlaceholders(text, name) {
  return text.replace(MASK, `YOUR_${name}`);
}
