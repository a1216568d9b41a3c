/** What lies over the drawing: the tools in the corner, the small map, and what an empty canvas says. */
import {Flow, h, memo, tags} from '../h.js';
import {canRun, menuItem} from '../actions.js';
import {useStore} from '../state/store.js';
import {Button} from '../ui/buttons.js';
import {t} from '../words.js';
import {canEdit} from './editing/front.js';
import {besideNode, openChooser, viewCentre} from './stage.js';
import {NODE_HEIGHT, NODE_WIDTH} from './geometry.js';
import {zoomWhole} from './view.js';

const {div, h2, kbd, p} = tags;

const MAP_SIZE = {width: 160, height: 108};

/** @param {{isNarrow: boolean}} props */
function CanvasToolsView({isNarrow}) {
  const {locked, minimap, allReferences, snap} = useStore((state) => state.view);
  return [
    h(
      Flow.Panel,
      {key: 'tools', position: 'bottom-left', className: 'canvas-tools', role: 'toolbar', 'aria-label': t('canvas.tools.label')},
      h(Tool, {id: 'canvas.zoomOut'}),
      h(Zoom),
      h(Tool, {id: 'canvas.zoomIn'}),
      h(Tool, {id: 'canvas.fit'}),
      isNarrow ? null : h(Tool, {id: 'canvas.layout'}),
      h(Tool, {id: 'canvas.references', pressed: allReferences}),
      isNarrow ? null : h(Tool, {id: 'canvas.snap', pressed: snap}),
      isNarrow ? null : h(Tool, {id: 'canvas.minimap', pressed: minimap}),
      h(Tool, {id: 'canvas.lock', pressed: locked, icon: locked ? 'lock' : 'unlock'}),
    ),
    minimap && !isNarrow
      ? h(Flow.MiniMap, {
          key: 'map',
          className: 'canvas-minimap',
          position: 'bottom-right',
          pannable: true,
          zoomable: true,
          style: MAP_SIZE,
          nodeBorderRadius: 8,
          nodeClassName: mapClass,
          ariaLabel: t('canvas.minimap'),
        })
      : null,
  ];
}

export const CanvasTools = memo(CanvasToolsView);

/** @param {{type?: string, data: any}} node */
function mapClass(node) {
  return `canvas-map-${node.type} canvas-map-${node.data.type?.category ?? 'other'}${node.data.holds ? ' canvas-map-holder' : ''}`;
}

/** @param {{id: string, pressed?: boolean, icon?: string}} props */
function Tool({id, pressed, icon}) {
  useStore((state) => canRun(id, state));
  const {run, ...item} = menuItem(id, icon ? {icon} : undefined);
  return h(Button, {...item, iconOnly: true, tone: 'quiet', pressed, onClick: () => run?.()});
}

/** How near we are; pressing it goes to the drawing's own size. */
function Zoom() {
  const percent = Flow.useStore((/** @type {any} */ state) => Math.round(state.transform[2] * 100));
  return h(Button, {label: `${percent}%`, tone: 'quiet', className: 'canvas-zoom', title: t('canvas.tools.zoomWhole'), onClick: zoomWhole, rest: {'aria-label': t('canvas.tools.zoomIs', {n: percent})}});
}

/** @param {{isNarrow: boolean}} props */
export function EmptyCanvas({isNarrow}) {
  const editable = useStore(canEdit);
  return div(
    {className: 'canvas-empty'},
    h2(null, t('canvas.empty.title')),
    p(null, t(isNarrow ? 'canvas.empty.narrow' : 'canvas.empty.text')),
    editable
      ? h(Button, {
          label: t('canvas.action.add'),
          icon: 'add',
          tone: 'primary',
          onClick: () => {
            const centre = viewCentre();
            openChooser({kind: 'add', at: besideNode(null), position: {x: centre.x - NODE_WIDTH / 2, y: centre.y - NODE_HEIGHT / 2}});
          },
        })
      : null,
    isNarrow ? null : p({className: 'canvas-empty-keys'}, kbd(null, 'Tab'), ' ', t('canvas.empty.keys')),
  );
}
