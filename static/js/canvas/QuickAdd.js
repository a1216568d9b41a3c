/** The searches of the canvas: add a node, connect to a node, cut a wire, find in the graph, what follows a failure, which body. */
import {h, useCallback, useMemo} from '../h.js';
import {portOf} from '../core/doc.js';
import {ERROR_PORT, ownPorts} from '../core/ports.js';
import {findInDocument} from '../core/search.js';
import {portTitle} from '../state/portwords.js';
import {store, useStore} from '../state/store.js';
import {activeTab, docOf, goTo, select} from '../state/tabs.js';
import {t, typeTitle} from '../words.js';
import {Chooser} from '../ui/Chooser.js';
import {holdersFor, putInto} from './containers.js';
import {addNoteAt} from './editing/boxes.js';
import {addAt} from './editing/nodes.js';
import {frontDoc, nameOf, portsOfNode} from './editing/front.js';
import {connectNodes, cutWire, targetsOf} from './editing/wires.js';
import {edgeKey} from './geometry.js';
import {typeWords} from './finding.js';
import {focusCanvas, shown, stage, useStage} from './stage.js';
import {categoryTitle, titleOf, typeHelp} from './summary.js';
import {showNode} from './view.js';

/** @typedef {import('../ui/Chooser.js').Choice} Choice */
/** @typedef {import('./stage.js').Chooser} Open */

const FOUND_AT_MOST = 60;
/** Begins the key of a choice that is a node of the document: no type is called so. */
const NODE = 'node:';

/** The search that is open, if one is. */
export function OpenChooser() {
  const open = useStage((state) => state.chooser);
  if (!open) return null;
  const Kind = {add: AddChooser, connect: ConnectChooser, disconnect: DisconnectChooser, find: FindChooser, failure: AddChooser, holder: HolderChooser}[open.kind];
  return h(Kind, {key: `${open.kind} ${open.at.x} ${open.at.y}`, open});
}

/** @param {string} [node] where the focus goes */
function close(node) {
  stage.set({chooser: null});
  focusCanvas(node);
}

/** @param {{open: Open}} props */
function AddChooser({open}) {
  const types = useStore((state) => state.nodeTypes);
  const isFailure = open.kind === 'failure';
  const choices = useMemo(() => [...typeChoices(types, open), ...(isFailure ? nodeChoices(open, types) : [])], [types, open]);
  return h(Chooser, {
    label: isFailure
      ? t('canvas.failure.label', {title: nameOf(open.from?.node ?? '')})
      : t(open.edge ? 'canvas.add.insertLabel' : open.from ? 'canvas.add.connectLabel' : 'canvas.add.label'),
    placeholder: t(isFailure ? 'canvas.failure.placeholder' : 'canvas.add.placeholder'),
    empty: t('canvas.add.nothing'),
    at: open.at,
    choices,
    onClose: () => close(open.from?.node),
    onChoose: (key) => {
      stage.set({chooser: null});
      if (key === 'note:') {
        addNoteAt(open.position);
        return;
      }
      if (key.startsWith(NODE) && open.from) {
        connectNodes({from: open.from.node, to: key.slice(NODE.length), from_port: open.from.port});
        focusCanvas(open.from.node);
        return;
      }
      const isFit = !open.from || isCompatible(types[key], open.from);
      const made = addAt(key, {position: open.position, from: isFit ? open.from : undefined, edge: open.edge});
      // The new node is drawn first.
      requestAnimationFrame(() => {
        focusCanvas(made ?? undefined);
        if (made) showNode(made);
      });
    },
  });
}

/**
 * The nodes that are there and may follow.
 * @param {Open} open
 * @param {Record<string, import('../core/doc.js').NodeType>} types
 * @returns {Choice[]}
 */
function nodeChoices({from}, types) {
  if (!from) return [];
  return targetsOf(from.node, from.port).map((node) => ({
    key: `${NODE}${node.id}`,
    title: titleOf(node, types),
    detail: node.id,
    icon: types[node.type]?.icon,
    group: t('canvas.failure.there'),
    rank: 500,
    own: Boolean(node.title),
    last: true,
  }));
}

/**
 * @param {Record<string, import('../core/doc.js').NodeType>} types
 * @param {Open} open
 * @returns {Choice[]}
 */
function typeChoices(types, open) {
  const choices = Object.values(types).map((type) => {
    const fits = !open.from || isCompatible(type, open.from);
    return {
      key: type.type,
      title: typeTitle(type, type.type),
      detail: typeHelp(type),
      icon: type.icon,
      group: fits ? categoryTitle(type.category) : t('canvas.add.unconnected'),
      words: typeWords(type),
      more: type.help,
      rank: (fits ? 0 : 1000) + categoryRank(type.category),
    };
  });
  if (open.from || open.edge) return choices;
  return [...choices, {key: 'note:', title: t('canvas.note.kind'), detail: t('canvas.note.help'), icon: 'note', group: t('canvas.palette.drawing'), rank: 2000}];
}

/** Categories in the order in which people look for them: a model is what nearly every pipeline begins with. Unknown ones last. @param {string} category */
export function categoryRank(category) {
  const at = ['model', 'control', 'data', 'text', 'tools', 'memory'].indexOf(category);
  return at === -1 ? 99 : at;
}

/**
 * Whether a node of this type could be at the other end of the wire.
 * @param {import('../core/doc.js').NodeType} type
 * @param {NonNullable<Open['from']>} from
 */
function isCompatible(type, from) {
  return from.end === 'source' || ownPorts(type, undefined).length > 0;
}

/** @param {{open: Open}} props */
function ConnectChooser({open}) {
  const from = open.from?.node ?? '';
  const doc = useStore((state) => documentOf(state));
  const choices = useMemo(() => {
    const ports = portsOfNode(from);
    const types = store.get().nodeTypes;
    return ports.flatMap((port) =>
      targetsOf(from, port).map((node) => ({
        key: `${port}>${node.id}`,
        title: titleOf(node, types),
        detail: ports.length > 1 && port !== 'done' ? t('canvas.connect.byPort', {id: node.id, port: portTitle(port)}) : node.id,
        icon: types[node.type]?.icon,
        words: `${node.id} ${port}`,
        // What is meant mostly stands first.
        rank: port === ERROR_PORT ? 1 : 0,
      })),
    );
  }, [from, doc]);
  return h(Chooser, {
    label: t('canvas.connect.label', {title: nameOf(from)}),
    placeholder: t('canvas.connect.placeholder'),
    empty: t('canvas.connect.nothing'),
    at: open.at,
    choices,
    onClose: () => close(from),
    onChoose: (key) => {
      const cut = key.lastIndexOf('>');
      close(from);
      connectNodes({from, to: key.slice(cut + 1), from_port: key.slice(0, cut)});
    },
  });
}

/** @param {{open: Open}} props */
function DisconnectChooser({open}) {
  const id = open.from?.node ?? '';
  const edges = frontDoc()?.edges.filter((edge) => edge.from === id || edge.to === id) ?? [];
  return h(Chooser, {
    label: t('canvas.disconnect.label', {title: nameOf(id)}),
    placeholder: t('canvas.connect.placeholder'),
    empty: t('canvas.disconnect.nothing'),
    at: open.at,
    choices: edges.map((edge) => ({
      key: edgeKey(edge),
      title: t('canvas.edge.name', {from: nameOf(edge.from), to: nameOf(edge.to)}),
      detail: portOf(edge) === 'done' ? edge.to : t('canvas.connect.byPort', {id: edge.to, port: portTitle(portOf(edge))}),
      icon: 'link',
      words: `${edge.from} ${edge.to}`,
    })),
    onClose: () => close(id),
    onChoose: (key) => {
      close(id);
      const edge = edges.find((one) => edgeKey(one) === key);
      if (edge) cutWire(edge);
    },
  });
}

/** @param {{open: Open}} props */
function HolderChooser({open}) {
  const types = useStore((state) => state.nodeTypes);
  return h(Chooser, {
    label: t('canvas.holder.label'),
    placeholder: t('canvas.connect.placeholder'),
    empty: t('canvas.holder.nothing'),
    at: open.at,
    choices: holdersFor().map((node) => ({key: node.id, title: titleOf(node, types), detail: node.id, icon: types[node.type]?.icon})),
    onClose: () => close(open.from?.node),
    onChoose: (key) => {
      close(open.from?.node);
      putInto(key);
    },
  });
}

/** @param {{open: Open}} props */
function FindChooser({open}) {
  const doc = useStore((state) => documentOf(state));
  const types = useStore((state) => state.nodeTypes);
  const choices = useMemo(
    () => (doc?.nodes ?? []).map((node) => ({key: node.id, title: titleOf(node, types), detail: node.id, icon: types[node.type]?.icon})),
    [doc, types],
  );
  const search = useCallback((/** @type {string} */ query) => (doc ? matches(doc, query, types) : []), [doc, types]);
  return h(Chooser, {
    label: t('canvas.find.label'),
    placeholder: t('canvas.find.placeholder'),
    empty: t('canvas.find.nothing'),
    at: open.at,
    choices,
    search,
    onClose: () => close(),
    onChoose: (key) => {
      const [id, field] = key.split('\n');
      stage.set({chooser: null});
      select({nodes: [id]});
      showNode(id);
      if (field) goTo({node: id, field});
      else if (shown.flow) focusCanvas(id);
    },
  });
}

/**
 * @param {import('../core/doc.js').Pipeline} doc
 * @param {string} query
 * @param {Record<string, import('../core/doc.js').NodeType>} types
 * @returns {Choice[]}
 */
function matches(doc, query, types) {
  const byId = new Map(doc.nodes.map((node) => [node.id, node]));
  /** @type {Map<string, Choice>} */
  const found = new Map();
  for (const {node: id, field, excerpt} of findInDocument(doc, query)) {
    const node = id === null ? undefined : byId.get(id);
    if (!node) continue;
    const inside = field === null || field === 'id' || field === 'title' || field === 'type' ? '' : field;
    const key = inside ? `${node.id}\n${inside}` : node.id;
    if (!found.has(key)) found.set(key, {key, title: titleOf(node, types), detail: inside ? `${inside}: ${excerpt}` : node.id, icon: types[node.type]?.icon});
    if (found.size === FOUND_AT_MOST) break;
  }
  return [...found.values()];
}

/** @param {import('../state/types.js').State} state */
function documentOf(state) {
  const tab = activeTab(state);
  return tab && docOf(tab);
}
