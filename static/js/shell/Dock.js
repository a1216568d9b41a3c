/** The dock below the canvas: one panel of several, or only their names. */
import {runAction, shownKeys} from '../actions.js';
import {classes, Fragment, h, tags, useEffect, useRef} from '../h.js';
import {PANELS} from '../panels.js';
import {shallow, useStore} from '../state/store.js';
import {setView, toggleDock} from '../state/view.js';
import {t} from '../words.js';
import {Boundary} from '../ui/boundary.js';
import {Button} from '../ui/buttons.js';
import {Splitter} from '../ui/splitter.js';
import {Tablist} from '../ui/tablist.js';

const {div, section} = tags;

/** @param {{isNarrow?: boolean, panel?: string}} props */
export function DockFrame({isNarrow, panel}) {
  const dock = useStore((state) => state.view.dock);
  const height = useStore((state) => state.view.dockHeight);
  const isMaximized = useStore((state) => state.view.dockMaximized) && !isNarrow;
  const panels = PANELS.filter((one) => one.place === 'dock');
  const counts = useStore((state) => panels.map((one) => one.count?.(state) ?? ''), shallow);
  const open = panels.find((one) => one.id === (isNarrow ? panel : dock));
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // What the dock covers can no longer have the focus.
    const {activeElement} = document;
    if (!isMaximized || element.current?.contains(activeElement)) return;
    /** @type {HTMLElement | null | undefined} */ (element.current?.querySelector('[role="tab"][aria-selected="true"]'))?.focus();
  }, [isMaximized]);
  if (panels.length === 0) return null;
  return h(
    Fragment,
    null,
    open && !isNarrow && !isMaximized
      ? h(Splitter, {
          direction: 'horizontal',
          label: t('app.dockHeight'),
          value: height,
          least: 140,
          most: Math.max(160, innerHeight - 220),
          fromEnd: true,
          onChange: (value) => setView({dockHeight: value}),
        })
      : null,
    section(
      {ref: element, className: classes('dock', !open && 'dock-closed', open && isMaximized && 'dock-maximized'), style: open && !isNarrow && !isMaximized ? {height} : undefined, 'aria-label': t('app.dock')},
      h(Tablist, {
        label: t('app.dock'),
        tabs: panels.map((one, position) => ({id: one.id, label: t(one.title), icon: one.icon, count: counts[position]})),
        value: open?.id ?? '',
        onChange: (id) => (isNarrow ? setView({dock: id}) : toggleDock(id)),
        aside:
          open && !isNarrow
            ? [
                h(Button, {
                  key: 'size',
                  label: t('app.action.maximizeDock'),
                  icon: isMaximized ? 'restore' : 'maximize',
                  iconOnly: true,
                  tone: 'quiet',
                  pressed: isMaximized,
                  keys: shownKeys('app.maximizeDock'),
                  onClick: () => void runAction('app.maximizeDock'),
                }),
                h(Button, {key: 'close', label: t('app.closeDock'), icon: 'chevronDown', iconOnly: true, tone: 'quiet', onClick: () => setView({dock: null, dockMaximized: false})}),
              ]
            : null,
        children: open ? div({className: 'dock-body'}, h(Boundary, {key: open.id}, h(open.Component))) : undefined,
      }),
    ),
  );
}
