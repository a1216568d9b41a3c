/** What ports are called, and why nodes were not reached by them. */
import {t, translated} from '../words.js';

/** What people call a port: those that are not names have words of their own. @param {string} port */
export function portTitle(port) {
  return translated(`canvas.port.${port}`) ?? port;
}

/**
 * Why a node was skipped, in words; empty where it was not.
 * @param {import('../core/doc.js').NodeRun} run
 * @param {(id: string) => string} nameOf what a node of the same document is called
 */
export function skipReason({reason, by, state}, nameOf) {
  if (reason === null || state !== 'skipped') return '';
  if (by?.node && by.port) return t('run.notReached', {node: nameOf(by.node), port: portTitle(by.port)});
  return translated(`run.reason.${reason}`) ?? t('run.skippedBecause', {reason});
}
