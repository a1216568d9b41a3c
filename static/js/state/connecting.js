/** Errors that say that a key or a model is missing, and the dialog that connects one. */
import {openDialog} from './dialogs.js';

/** `tests/test_docs.py` asks of every code of the server whether it stands here. */
const LACKS_MODEL = new Set(['all_targets_failed', 'model_discovery_failed', 'model_test_failed', 'profile_inactive', 'profile_not_found', 'secret_invalid_format', 'secret_unavailable', 'upstream_error', 'upstream_refused', 'upstream_unavailable', 'upstream_unreachable']);

/** Said of other things, too; of a call to a model they say that its key is not there, or nobody that it could go to. */
const LACKS_IN_CALLS = new Set(['bad_request', 'node_failed', 'not_found']);

/** Whether something came to nothing for want of a key or a model. @param {string | null | undefined} code */
export function lacksModel(code) {
  return LACKS_MODEL.has(code ?? '');
}

/** The same of what called a model: a turn, a run, one of its nodes. @param {string | null | undefined} code */
export function callLacksModel(code) {
  return lacksModel(code) || LACKS_IN_CALLS.has(code ?? '');
}

/** Open the dialog that connects a model. */
export function openConnect() {
  openDialog('connect');
}
