/** What the memory says when it refuses, in the person's words. */
import {ApiFailure} from '../api/client.js';
import {t} from '../words.js';

const KNOWN = new Set(['variable_target_locked', 'variable_host_not_found', 'payload_too_large', 'store_read_only', 'store_in_use', 'store_full', 'offline',
  'active_run_in_progress', 'branch_exists', 'branch_local_snapshot_missing', 'branch_not_found', 'invalid_state']);

/** Why something was refused. @param {unknown} error */
export function reasonOf(error) {
  if (!(error instanceof ApiFailure)) return error instanceof Error ? error.message : String(error);
  if (Array.isArray(error.details) && error.details.length) return error.details.map((one) => [one.path, one.message].filter(Boolean).join(': ')).join('\n');
  return KNOWN.has(error.code) ? t(`variables.error.${error.code}`, {message: error.said}) : error.message;
}
