/** The editor's frame: top bar, tabs, left side, canvas, inspector, dock, dialogs and messages. */
import {SignInPage} from './accounts/SignIn.js';
import {DIALOGS} from './dialogs.js';
import {BrokenFile} from './files/BrokenFile.js';
import {DiskBanner} from './files/DiskBanner.js';
import {classes, Fragment, h, tags, useEffect, useState} from './h.js';
import {Tour} from './help/Tour.js';
import {PANELS, STAGE} from './panels.js';
import {DockFrame} from './shell/Dock.js';
import {LeftSide} from './shell/LeftSide.js';
import {NarrowBar} from './shell/NarrowBar.js';
import {Notices} from './shell/Notices.js';
import {TabBar} from './shell/TabBar.js';
import {TopBar} from './shell/TopBar.js';
import {Welcome} from './shell/Welcome.js';
import {closeDialog} from './state/dialogs.js';
import {notifyFailure} from './state/notices.js';
import {useStore} from './state/store.js';
import {setView} from './state/view.js';
import {t} from './words.js';
import {Boundary} from './ui/boundary.js';
import {Splitter} from './ui/splitter.js';

const {a, div, main, section} = tags;
const NARROW = '(max-width: 899px)';
/** What the page *Run* of one column shows where nobody has chosen: the place to try the pipeline. */
const FIRST_IN_DOCK = 'run';

/** Whether the window is too narrow for three columns. */
function useNarrow() {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const change = () => setNarrow(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return isNarrow;
}

export function App() {
  // A new language draws everything anew; nothing below has to know of it.
  const words = useStore((state) => state.view.words);
  return h(Frame, {key: words});
}

function Frame() {
  const isNarrow = useNarrow();
  const activeTab = useStore((state) => state.activeTab);
  const page = useStore((state) => state.view.narrowPage);
  const isShutOut = useStore((state) => state.server.signIn !== null && !state.server.started);
  if (isShutOut) return h(SignInPage);
  return h(
    Fragment,
    null,
    a({className: 'skip-link', href: '#stage'}, t('app.skipToStage')),
    div(
      {className: classes('app', isNarrow && 'app-narrow'), 'data-page': isNarrow ? page : undefined},
      h(TopBar),
      h(TabBar),
      isNarrow ? h(NarrowBody, {page, activeTab}) : h(WideBody, {activeTab}),
      // A narrow screen has no free place to lay the card over: it takes a line of its own.
      isNarrow ? h(DiskBanner) : null,
      isNarrow ? h(Tour) : null,
      isNarrow ? h(NarrowBar) : null,
    ),
    h(Dialogs),
    h(Notices),
    isNarrow ? null : h(Tour),
  );
}

/** The dock stands below all three columns, or for a while in their place. @param {{activeTab: string | null}} props */
function WideBody({activeTab}) {
  const {left, leftWidth, inspectorOpen, inspectorWidth, dock, dockMaximized} = useStore((state) => state.view);
  return main(
    {className: 'body'},
    div(
      {className: 'workspace', inert: dock !== null && dockMaximized},
      h(LeftSide),
      left
        ? h(Splitter, {
            direction: 'vertical',
            label: t('app.leftWidth'),
            value: leftWidth,
            least: 200,
            most: 520,
            onChange: (value) => setView({leftWidth: value}),
          })
        : null,
      section({id: 'stage', className: 'stage', tabIndex: -1, 'aria-label': t('app.stage')}, h(Stage, {activeTab}), h(DiskBanner)),
      inspectorOpen && activeTab
        ? h(
            Fragment,
            null,
            h(Splitter, {
              direction: 'vertical',
              label: t('app.inspectorWidth'),
              value: inspectorWidth,
              least: 300,
              most: 760,
              fromEnd: true,
              onChange: (value) => setView({inspectorWidth: value}),
            }),
            section(
              {className: 'inspector-side', style: {width: inspectorWidth}, 'aria-label': t('app.inspector')},
              STAGE.Inspector ? h(Boundary, {key: activeTab}, h(STAGE.Inspector)) : null,
            ),
          )
        : null,
    ),
    h(DockFrame),
  );
}

/** One page at a time. @param {{page: string, activeTab: string | null}} props */
function NarrowBody({page, activeTab}) {
  const left = useStore((state) => state.view.left);
  const dock = useStore((state) => state.view.dock);
  const isBroken = useStore(hasBrokenFile);
  const panel = PANELS.find((one) => one.id === (left ?? 'outline')) ?? PANELS[0];
  const dockPanel = PANELS.find((one) => one.place === 'dock' && one.id === dock) ?? PANELS.find((one) => one.id === FIRST_IN_DOCK);
  return main(
    {id: 'stage', className: 'body body-narrow', tabIndex: -1, 'aria-label': t('app.stage')},
    page === 'canvas' || (isBroken && page !== 'dock')
      ? div({className: 'stage'}, h(Stage, {activeTab}))
      : page === 'inspector'
        ? STAGE.Inspector && activeTab
          ? h(Boundary, {key: activeTab}, h(STAGE.Inspector))
          : h(Welcome)
        : page === 'dock'
          ? h(DockFrame, {isNarrow: true, panel: dockPanel?.id})
          : activeTab
            ? h(LeftSide, {isNarrow: true, panel: panel?.id})
            : h(Welcome),
  );
}

/** Whether the file in front has to be mended as text. @param {import('./state/types.js').State} state */
function hasBrokenFile(state) {
  return state.tabs.some((tab) => tab.key === state.activeTab && tab.brokenText !== null);
}

/** @param {{activeTab: string | null}} props */
function Stage({activeTab}) {
  const isBroken = useStore(hasBrokenFile);
  if (!activeTab) return h(Welcome);
  if (isBroken) return h(BrokenFile, {key: activeTab});
  return STAGE.Canvas ? h(Boundary, {key: activeTab}, h(STAGE.Canvas)) : null;
}

function Dialogs() {
  const dialogs = useStore((state) => state.dialogs);
  return h(
    Fragment,
    null,
    dialogs.map((dialog) => {
      const Component = DIALOGS[dialog.kind];
      if (!Component) return null;
      const close = () => closeDialog(dialog.key);
      /** @param {Error} error */
      const onFail = (error) => {
        close();
        notifyFailure(error, 'app.partFailed');
      };
      return h(Boundary, {key: dialog.key, onFail}, h(Component, {...dialog.props, close}));
    }),
  );
}
