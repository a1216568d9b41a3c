/** The chats as a tree: sessions, branches, floors, pages. Choosing a place sets what templates read and tries write to. */
import {runAction} from '../actions.js';
import {classes, h, tags, useEffect, useRef, useState} from '../h.js';
import {openDialog} from '../state/dialogs.js';
import {chooseSession} from '../state/session.js';
import {shallow, store, useStore} from '../state/store.js';
import {openDock} from '../state/view.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {NotRead, Waiting} from '../ui/empty.js';
import {SelectField} from '../ui/fields.js';
import {Icon} from '../ui/icons.js';
import {Menu} from '../ui/menu.js';
import {archiveSession, branchesOf, chats, deleteBranch, deleteSession, floorsOf, followTurns, forkFloor, knownList, loadList, newSession, pagesOf, reloadAll,
  renameSession, search, SESSIONS, unfold, useChats, useList} from '../state/chats.js';
import {JoinHint} from './JoinHint.js';
import {pageLabel, sessionLabel} from '../state/labels.js';
import {Reader} from './Reader.js';
import {timeInWords} from '../state/times.js';

const {div, input, p, span} = tags;
const SEARCH_MS = 250;
const STATE_ICONS = /** @type {Record<string, string>} */ ({committed: 'check', generating: 'spinner', failed: 'error', draft: 'edit'});

/**
 * @typedef {object} Line a visible node of the tree
 * @property {string} id
 * @property {'session' | 'branch' | 'floor' | 'page' | 'more' | 'note'} kind
 * @property {number} level
 * @property {number} position within its siblings, from 1
 * @property {number} size how many siblings there are
 * @property {string | null} parent
 * @property {string} label
 * @property {string} [detail]
 * @property {string} [state] of a floor
 * @property {boolean} [isPlain] whether the state is the usual one
 * @property {string} [icon]
 * @property {any} [item]
 * @property {Place} place
 * @property {import('../state/chats.js').ListName} [list] the children, or of `more` the list that goes on
 *
 * @typedef {{session: string | null, branch: string | null, floor: string | null, page: string | null}} Place
 */

export function Sessions() {
  const keyword = useChats((state) => state.keyword);
  const status = useChats((state) => state.status);
  const list = useList(SESSIONS);
  const [typed, setTyped] = useState(keyword);
  useEffect(() => {
    void reloadAll();
    void loadList(SESSIONS, {unlessKnown: true});
    return followTurns();
  }, []);
  useEffect(() => {
    if (typed === keyword) return;
    const timer = setTimeout(() => search({keyword: typed}), SEARCH_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const isPlain = keyword === '' && status !== 'archived';
  return div(
    {className: 'chats'},
    div(
      {className: 'chats-head'},
      input({
        className: 'input',
        type: 'search',
        'aria-label': t('variables.findSession'),
        placeholder: t('variables.findSession'),
        value: typed,
        spellCheck: false,
        onChange: (event) => setTyped(event.target.value),
      }),
      h(Button, {label: t('variables.newSession'), icon: 'add', iconOnly: true, tone: 'quiet', onClick: () => void newSession()}),
      h(Button, {label: t('variables.refresh'), icon: 'refresh', iconOnly: true, tone: 'quiet', onClick: () => void reloadAll()}),
    ),
    div(
      {className: 'chats-head'},
      h(SelectField, {
        label: t('variables.status'),
        hideLabel: true,
        value: status,
        onChange: (next) => search({status: /** @type {any} */ (next)}),
        options: ['active', 'archived', 'all'].map((one) => ({value: one, label: t(`variables.status.${one}`)})),
      }),
      h(Button, {label: t('chat.panel'), icon: 'chat', tone: 'primary', onClick: () => void runAction('chat.open')}),
      h(Button, {label: t('variables.open'), icon: 'variable', iconOnly: true, tone: 'quiet', onClick: () => openDock('variables')}),
    ),
    list.state === 'failed' && list.items.length === 0
      ? h(NotRead, null, span(null, list.error), h(Button, {label: t('variables.again'), onClick: () => void loadList(SESSIONS)}))
      : list.items.length > 0
        ? h(Tree)
        : list.state !== 'ready'
          ? h(Waiting)
          : isPlain
            ? h(JoinHint, {text: t('variables.noSessions')})
            : p({className: 'panel-empty'}, t('variables.noSessionFound')),
    h(Reader),
  );
}

function Tree() {
  const state = useChats((all) => all);
  const place = useStore(({session: {session, branch, floor, page}}) => ({session, branch, floor, page}), shallow);
  const lines = visibleLines(state);
  const [focused, setFocused] = useState(/** @type {string | null} */ (null));
  const [menu, setMenu] = useState(/** @type {{line: Line, x: number, y: number} | null} */ (null));
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const chosen = lines.find((line) => isChosen(line, place));
  const stop = lines.some((line) => line.id === focused) ? focused : (chosen?.id ?? lines[0]?.id);
  useEffect(() => reveal(place), [place]);

  /** @param {Line | undefined} line */
  const focus = (line) => {
    if (!line) return;
    setFocused(line.id);
    const all = /** @type {HTMLElement[]} */ ([...(element.current?.querySelectorAll('[role="treeitem"]') ?? [])]);
    all[lines.indexOf(line)]?.focus();
  };
  /** @param {Line} line @param {HTMLElement} from */
  const openMenu = (line, from) => {
    if (menuOf(line).length === 0) return;
    const box = from.getBoundingClientRect();
    setFocused(line.id);
    setMenu({line, x: box.left + 24, y: box.bottom});
  };
  /** @param {import('react').KeyboardEvent} event */
  const onKey = (event) => {
    const at = lines.findIndex((line) => line.id === stop);
    const line = lines[at];
    if (!line || event.target === event.currentTarget || event.altKey) return;
    const isOpen = state.open.includes(line.id);
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === 'ArrowDown') focus(lines[at + 1]);
    else if (event.key === 'ArrowUp') focus(lines[at - 1]);
    else if (event.key === 'Home') focus(lines[0]);
    else if (event.key === 'End') focus(lines.at(-1));
    else if (event.key === 'ArrowRight') {
      if (hasChildren(line) && !isOpen) toggle(line, true);
      else if (isOpen && lines[at + 1]?.parent === line.id) focus(lines[at + 1]);
    } else if (event.key === 'ArrowLeft') {
      if (hasChildren(line) && isOpen) toggle(line, false);
      else focus(lines.find((one) => one.id === line.parent));
    } else if (event.key === 'Enter' || event.key === ' ') act(line);
    else if (event.key === 'F2' && line.kind === 'session') void renameSession(line.item);
    else if (event.key === 'Delete' && line.kind === 'session') void deleteSession(line.item);
    else if (event.key === 'Delete' && line.kind === 'branch' && line.place.branch !== 'main') void deleteBranch(String(line.place.session), String(line.place.branch));
    else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) openMenu(line, target);
    else if (event.key === '*') for (const one of lines) if (one.parent === line.parent && hasChildren(one)) toggle(one, true);
    else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) {
      const letter = event.key.toLowerCase();
      focus([...lines.slice(at + 1), ...lines.slice(0, at + 1)].find((one) => one.label.toLowerCase().startsWith(letter)));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return div(
    {className: 'chats-scroll'},
    div(
      {ref: element, role: 'tree', 'aria-label': t('variables.sessions'), className: 'chats-tree', onKeyDown: onKey},
      lines.map((line) =>
        h(TreeLine, {
          key: line.id,
          line,
          isOpen: state.open.includes(line.id),
          isStop: line.id === stop,
          isChosen: line === chosen,
          isOnPath: line !== chosen && isOnPath(line, place),
          onFocus: () => setFocused(line.id),
          onMenu: (from) => openMenu(line, from),
        }),
      ),
    ),
    menu ? h(Menu, {x: menu.x, y: menu.y, label: t('variables.menuOf', {name: menu.line.label}), items: menuOf(menu.line), onClose: () => setMenu(null)}) : null,
  );
}

/**
 * @param {{line: Line, isOpen: boolean, isStop: boolean, isChosen: boolean, isOnPath: boolean, onFocus: () => void, onMenu: (from: HTMLElement) => void}} props
 */
function TreeLine({line, isOpen, isStop, isChosen: chosen, isOnPath: onPath, onFocus, onMenu}) {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const hasMenu = menuOf(line).length > 0;
  return div(
    {
      ref: element,
      role: 'treeitem',
      className: classes('chats-line', `chats-${line.kind}`, chosen && 'chats-chosen', onPath && 'chats-path'),
      tabIndex: isStop ? 0 : -1,
      'aria-level': line.level,
      'aria-posinset': line.position,
      'aria-setsize': line.size,
      'aria-expanded': hasChildren(line) ? isOpen : undefined,
      'aria-selected': chosen,
      'aria-haspopup': hasMenu ? 'menu' : undefined,
      style: {paddingLeft: 4 + (line.level - 1) * 14},
      onFocus,
      onClick: () => act(line),
      onContextMenu: (event) => {
        event.preventDefault();
        if (element.current) onMenu(element.current);
      },
    },
    hasChildren(line)
      ? span(
          {
            className: 'chats-twist',
            // The arrow keys do the same; for a screen reader the node itself says whether it is open.
            'aria-hidden': true,
            onClick: (event) => {
              event.stopPropagation();
              toggle(line, !isOpen);
            },
          },
          h(Icon, {name: isOpen ? 'chevronDown' : 'chevronRight', size: 14}),
        )
      : span({className: 'chats-twist'}),
    line.icon ? h(Icon, {name: line.icon, size: 14, className: line.icon === 'spinner' ? 'spin' : undefined}) : null,
    span({className: 'chats-label', title: line.label.slice(0, 500)}, line.label),
    line.state ? span({className: line.isPlain ? 'visually-hidden' : classes('chip', line.item.state === 'failed' && 'chip-bad')}, line.state) : null,
    line.detail ? span({className: 'chats-detail'}, line.detail) : null,
    hasMenu
      ? span(
          {
            className: 'chats-menu',
            'aria-hidden': true,
            'data-t': 'chat-menu',
            onClick: (event) => {
              event.stopPropagation();
              if (element.current) onMenu(element.current);
            },
          },
          h(Icon, {name: 'more', size: 14}),
        )
      : null,
  );
}

/** The nodes that can be seen, from top to bottom. @param {import('../state/chats.js').Chats} state @returns {Line[]} */
function visibleLines({open, words}) {
  const none = {session: null, branch: null, floor: null, page: null};
  /** @type {Line[]} */
  const lines = [];
  /**
   * @param {import('../state/chats.js').ListName} list
   * @param {number} level
   * @param {string | null} parent
   * @param {Place} place
   * @param {(item: any) => Pick<Line, 'kind' | 'label' | 'detail' | 'state' | 'isPlain' | 'icon' | 'place' | 'list'>} describe
   * @param {(line: Line) => void} [inner]
   */
  const add = (list, level, parent, place, describe, inner) => {
    const known = knownList(list);
    const size = known.items.length + (known.hasMore ? 1 : 0);
    known.items.forEach((item, at) => {
      const described = describe(item);
      const line = {...described, id: JSON.stringify(described.place), level, parent, position: at + 1, size, item};
      lines.push(line);
      if (open.includes(line.id)) inner?.(line);
    });
    const note = {level, parent, place, position: size || 1, size: size || 1};
    if (known.hasMore) lines.push({...note, id: `more ${parent}`, kind: 'more', label: t('variables.moreOf', {shown: known.items.length, n: known.total}), list});
    else if (known.items.length === 0) {
      const label = known.state === 'failed' ? (known.error ?? '') : known.state === 'ready' ? t('variables.none') : t('app.loading');
      lines.push({...note, id: `note ${parent}`, kind: 'note', label, list});
    }
  };
  add(SESSIONS, 1, null, none, (item) => ({
    kind: 'session',
    label: sessionLabel(item),
    detail: item.status === 'archived' ? t('variables.status.archived') : timeInWords(item.updated_at),
    icon: 'chat',
    place: {...none, session: item.id},
    list: branchesOf(item.id),
  }), ({id, place: {session}}) =>
    add(branchesOf(String(session)), 2, id, {...none, session}, (item) => ({
      kind: 'branch',
      label: item.branch_id,
      detail: t('variables.floorCount', {n: item.floor_count}),
      icon: 'branch',
      place: {...none, session, branch: item.branch_id},
      list: floorsOf(String(session), item.branch_id),
    }), ({id: branchId, place: branchPlace}) =>
      add(floorsOf(String(session), String(branchPlace.branch)), 3, branchId, branchPlace, (item) => ({
        kind: 'floor',
        label: `${item.floor_no} · ${words[item.id] ?? t('variables.noWords')}`,
        // What is not as it should be is said in words; the rest has its picture, and its words for screen readers.
        state: t(`variables.floorState.${item.state}`),
        isPlain: item.state === 'committed',
        detail: timeInWords(item.created_at),
        icon: STATE_ICONS[item.state] ?? 'message',
        place: {...branchPlace, floor: item.id},
        list: pagesOf(item.id),
      }), ({id: floorId, place: floorPlace}) =>
        add(pagesOf(String(floorPlace.floor)), 4, floorId, floorPlace, (item) => ({
          kind: 'page',
          label: pageLabel(item),
          icon: 'file',
          place: {...floorPlace, page: item.id},
        })))));
  return lines;
}

/** @param {Line} line */
function hasChildren(line) {
  return line.kind === 'session' || line.kind === 'branch' || line.kind === 'floor';
}

/** @param {Line} line @param {boolean} isOpen */
function toggle(line, isOpen) {
  unfold(line.id, isOpen);
  if (isOpen && line.list) void loadList(line.list, {unlessKnown: true});
}

/** What a click does: choose, and unfold what was folded. @param {Line} line */
function act(line) {
  if (line.kind === 'more' && line.list) void loadList(line.list, {more: true});
  else if (line.kind === 'note' && line.list) void loadList(line.list);
  else if (line.kind === 'session') {
    toggle(line, true);
    // What a client means that names a session and no branch.
    if (store.get().session.session !== line.place.session) chooseSession({...line.place, branch: 'main'});
    showTalk();
  } else {
    if (hasChildren(line)) toggle(line, true);
    chooseSession(line.place);
    if (line.kind === 'branch') showTalk();
  }
}

/** Show the talk of what was chosen, unless its variables are looked at. */
function showTalk() {
  if (store.get().view.dock !== 'variables') openDock('chat');
}

/** Unfold the nodes above the chosen place. @param {Place} place */
function reveal({session, branch, floor, page}) {
  const none = {session: null, branch: null, floor: null, page: null};
  /** @type {[boolean, Place, import('../state/chats.js').ListName][]} */
  const above = [
    [branch !== null, {...none, session}, branchesOf(String(session))],
    [floor !== null, {...none, session, branch}, floorsOf(String(session), String(branch))],
    [page !== null, {...none, session, branch, floor}, pagesOf(String(floor))],
  ];
  for (const [isWanted, place, list] of above) {
    if (!isWanted || session === null) continue;
    if (!chats.get().open.includes(JSON.stringify(place))) unfold(JSON.stringify(place), true);
    void loadList(list, {unlessKnown: true});
  }
}

/** @param {Line} line @param {Place} chosen */
function isChosen({kind, place}, chosen) {
  return kind !== 'more' && kind !== 'note' && chosen.session !== null && shallow(place, chosen);
}

/** @param {Line} line @param {Place} chosen */
function isOnPath({kind, place}, chosen) {
  if (chosen.session === null || kind === 'more' || kind === 'note') return false;
  return /** @type {const} */ (['session', 'branch', 'floor', 'page']).every((name) => place[name] === null || place[name] === chosen[name]);
}

/** @param {Line} line @returns {import('../ui/menu.js').MenuItem[]} */
function menuOf({kind, item, place}) {
  const session = String(place.session);
  if (kind === 'session') {
    return [
      {label: t('variables.rename'), icon: 'edit', keys: 'F2', run: () => void renameSession(item)},
      {label: t(item.status === 'archived' ? 'variables.reopen' : 'variables.archive'), icon: 'folder', run: () => void archiveSession(item)},
      {label: t('variables.compareBranches'), icon: 'compare', run: () => void openDialog('branch-diff', {session, target: null})},
      {},
      {label: t('variables.delete'), icon: 'trash', keys: 'Del', tone: 'danger', run: () => void deleteSession(item)},
    ];
  }
  if (kind === 'branch') {
    return [
      {label: t('variables.compareWith'), icon: 'compare', run: () => void openDialog('branch-diff', {session, target: place.branch})},
      {},
      {label: t('variables.delete'), icon: 'trash', keys: 'Del', tone: 'danger', disabled: place.branch === 'main', run: () => void deleteBranch(session, String(place.branch))},
    ];
  }
  if (kind === 'floor') return [{label: t('variables.forkHere'), icon: 'branch', disabled: item.state !== 'committed', run: () => void forkFloor(session, item)}];
  return [];
}
