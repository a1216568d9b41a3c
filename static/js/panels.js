/** What stands where: the canvas, the inspector, and the panels of the left side and of the dock in their order. */

import {Canvas} from './canvas/Canvas.js';
import {NodeList} from './canvas/NodeList.js';
import {Palette} from './canvas/Palette.js';
import {ChatPanel} from './chat/Panel.js';
import {Inspector} from './inspector/Inspector.js';
import {Presets} from './inspector/Presets.js';
import {Library} from './library/Panel.js';
import {Preview} from './run/Preview.js';
import {RunPanel} from './run/RunPanel.js';
import {problemCount, Problems} from './shell/Problems.js';
import {Sessions} from './variables/Sessions.js';
import {Variables} from './variables/Variables.js';

/**
 * @typedef {object} Panel
 * @property {string} id
 * @property {string} title key of the words
 * @property {string} icon
 * @property {'left' | 'dock'} place
 * @property {() => any} Component
 * @property {(state: import('./state/types.js').State) => string} [count] a badge
 */

/** @type {{Canvas: (() => any) | null, Inspector: (() => any) | null}} */
export const STAGE = {Canvas, Inspector};

/** @type {Panel[]} */
export const PANELS = [
  {id: 'nodes', title: 'canvas.panel.nodes', icon: 'node', place: 'left', Component: Palette},
  {id: 'outline', title: 'canvas.panel.outline', icon: 'list', place: 'left', Component: NodeList},
  {id: 'presets', title: 'inspector.presets', icon: 'preset', place: 'left', Component: Presets},
  {id: 'sessions', title: 'variables.sessions', icon: 'chat', place: 'left', Component: Sessions},
  {id: 'library', title: 'library.panel', icon: 'folder', place: 'left', Component: Library},
  {id: 'chat', title: 'chat.panel', icon: 'chat', place: 'dock', Component: ChatPanel},
  {id: 'run', title: 'run.panel', icon: 'play', place: 'dock', Component: RunPanel},
  {id: 'preview', title: 'run.preview', icon: 'eye', place: 'dock', Component: Preview},
  {id: 'variables', title: 'variables.panel', icon: 'variable', place: 'dock', Component: Variables},
  {id: 'problems', title: 'app.problems', icon: 'problems', place: 'dock', Component: Problems, count: problemCount},
];
