/** What sessions, floors and pages are called. */
import {t} from '../words.js';

const LONG = 120;

/** @param {{id: string, title: string | null, name: string | null}} session */
export function sessionLabel({id, title, name}) {
  return (title || name || id).slice(0, LONG);
}

/** @param {{floor_no: number, state: string}} floor */
export function floorLabel({floor_no, state}) {
  return t('variables.floorLabel', {number: String(floor_no), state: t(`variables.floorState.${state}`)});
}

/** @param {{page_no: number, page_kind: string, version: number, is_active: boolean}} page */
export function pageLabel({page_no, page_kind, version, is_active}) {
  const label = t('variables.pageLabel', {number: String(page_no), kind: t(`variables.pageKind.${page_kind}`), version: String(version)});
  return is_active ? label : t('variables.pageInactive', {page: label});
}
