/** Starts the editor. */
import {App} from './app.js';
import {createRoot, h} from './h.js';
import {start} from './start.js';

const root = document.getElementById('app');
if (!root) throw new Error('The page has no element #app.');
await start();
createRoot(root).render(h(App));
