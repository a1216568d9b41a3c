/** Pictures of our own, drawn on a 24-unit square with one stroke; decoration only, so screen readers pass over them. */
import {tags} from '../h.js';

const {path, svg} = tags;

const PATHS = {
  add: 'M12 5v14M5 12h14',
  align: 'M4 4v16M8 7h11v3H8zM8 14h7v3H8z',
  answer: 'M4 12h12M11 7l5 5-5 5M20 5v14',
  arrowDown: 'M12 5v14M6 13l6 6 6-6',
  arrowLeft: 'M19 12H5M11 6l-6 6 6 6',
  arrowRight: 'M5 12h14M13 6l6 6-6 6',
  arrowUp: 'M12 19V5M6 11l6-6 6 6',
  block: 'M4 6h16v12H4zM8 10h8M8 14h5',
  branch: 'M7 4v16M7 12c6 0 10-2 10-6M17 6m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M7 4m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M7 20m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0',
  chat: 'M4 5h16v11H9l-5 4z',
  check: 'M5 13l4 4L19 7',
  chevronDown: 'M6 9l6 6 6-6',
  chevronRight: 'M9 6l6 6-6 6',
  close: 'M6 6l12 12M18 6L6 18',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5M14 4l-4 16',
  command: 'M7 9a2 2 0 1 1 2-2v10a2 2 0 1 1-2-2h10a2 2 0 1 1-2 2V7a2 2 0 1 1 2 2z',
  compare: 'M12 3v18M4 7h5v10H4zM15 7h5v10h-5z',
  copy: 'M8 8h12v12H8zM4 16V4h12',
  curl: 'M4 6l6 6-6 6M12 18h8',
  demo: 'M6 3h12v6l4 3-4 3v6H6v-6l-4-3 4-3z',
  disk: 'M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6',
  drag: 'M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  error: 'M12 3l9 16H3zM12 10v4M12 16.5v.5',
  export: 'M12 15V4M7 9l5-5 5 5M4 15v5h16v-5',
  eye: 'M2 12c4-7 16-7 20 0c-4 7-16 7-20 0zM12 12m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  folder: 'M3 6h6l2 2h10v11H3z',
  forward: 'M4 6l8 6-8 6zM12 6l8 6-8 6z',
  frame: 'M4 7V4h3M17 4h3v3M20 17v3h-3M7 20H4v-3',
  graph: 'M4 5h6v5H4zM14 14h6v5h-6zM10 7.500h4a3 3 0 0 1 3 3V14',
  grid: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z',
  help: 'M9 9a3 3 0 1 1 4 3c-1 .500-1 1-1 2M12 17.500v.5',
  history: 'M4 12a8 8 0 1 0 3-6L4 8M4 4v4h4M12 8v4l3 2',
  import: 'M12 4v11M7 10l5 5 5-5M4 15v5h16v-5',
  info: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M12 11v5M12 8v.5',
  key: 'M14 10a4 4 0 1 1-1-3L21 7v4h-2v3h-3v-3z',
  keyboard: 'M3 7h18v11H3zM7 11h.01M11 11h.01M15 11h.01M7 15h10',
  layout: 'M4 4h5v5H4zM4 15h5v5H4zM15 9h5v5h-5zM9 6.500h3v11H9M12 11.500h3',
  link: 'M9 15l6-6M8 11l-3 3a3.500 3.500 0 0 0 5 5l3-3M16 13l3-3a3.500 3.500 0 0 0-5-5l-3 3',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  lock: 'M6 11h12v9H6zM9 11V8a3 3 0 1 1 6 0v3',
  menu: 'M4 6h16M4 12h16M4 18h16',
  message: 'M4 5h16v11H9l-5 4zM8 9h8M8 12h5',
  minus: 'M5 12h14',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  node: 'M4 7h16v10H4zM4 12H2M22 12h-2',
  note: 'M4 4h16v10l-6 6H4zM14 20v-6h6',
  pause: 'M8 5v14M16 5v14',
  pin: 'M9 4h6l-1 6 3 3H7l3-3zM12 13v7',
  play: 'M7 4l13 8-13 8z',
  power: 'M12 3v9M6.500 6.500a8 8 0 1 0 11 0',
  preset: 'M4 7h10M18 7h2M4 17h2M10 17h10M16 7m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M8 17m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0',
  problems: 'M12 3l9 16H3zM12 10v4M12 16.500v.5',
  redo: 'M20 9H9a5 5 0 0 0 0 10h3M16 5l4 4-4 4',
  refresh: 'M20 11a8 8 0 1 0-2 6M20 5v6h-6',
  search: 'M10.500 4a6.500 6.500 0 1 0 0 13a6.500 6.500 0 1 0 0-13M15.500 15.500L21 21',
  settings: 'M12 8.500a3.500 3.500 0 1 0 0 7a3.500 3.500 0 1 0 0-7M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2',
  skip: 'M5 5l8 7-8 7zM17 5v14',
  spinner: 'M12 3a9 9 0 1 1-9 9',
  stop: 'M6 6h12v12H6z',
  templates: 'M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5',
  undo: 'M4 9h11a5 5 0 0 1 0 10h-3M8 5L4 9l4 4',
  unlock: 'M6 11h12v9H6zM9 11V8a3 3 0 0 1 6-1',
  user: 'M12 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8M4 21c1-5 4-7 8-7s7 2 8 7',
  variable: 'M7 5c-3 4-3 10 0 14M17 5c3 4 3 10 0 14M9 9l6 6M15 9l-6 6',
  warning: 'M12 3l9 16H3zM12 10v4M12 16.500v.5',
  waterfall: 'M4 6h8M8 12h8M13 18h7',
};

/** @typedef {keyof typeof PATHS} IconName */

/**
 * A picture; names that a third party's node type brings and we do not have become the plain node.
 * @param {{name: string, size?: number, className?: string}} props size in pixels
 */
export function Icon({name, size = 16, className}) {
  const d = Object.hasOwn(PATHS, name) ? PATHS[/** @type {IconName} */ (name)] : PATHS.node;
  return svg(
    {
      className: className ? `icon ${className}` : 'icon',
      width: size,
      height: size,
      viewBox: '0 0 24 24',
      fill: 'none',
      stroke: 'currentColor',
      strokeWidth: 2,
      strokeLinecap: 'round',
      strokeLinejoin: 'round',
      'aria-hidden': true,
      focusable: false,
    },
    path({d}),
  );
}
