/**
 * Which component shows which kind of dialog. Each gets `{close, ...props}`. The first visit does without most of them: they are
 * loaded when the first of those is opened.
 */
import {SignInDialog} from './accounts/SignIn.js';
import {Pipelines} from './files/Pipelines.js';
import {SaveAs} from './files/SaveAs.js';
import {Palette} from './help/Palette.js';
import {Settings} from './help/Settings.js';
import {h, useEffect, useState} from './h.js';
import {PresetDialog} from './inspector/Presets.js';
import {dialogCame} from './state/dialogs.js';
import {notifyFailure} from './state/notices.js';
import {loadSheet} from './sheets.js';
import {Question, TextQuestion} from './ui/questions.js';
import {hasArea, loadArea} from './words.js';

/** @typedef {Record<string, (props: any) => any>} More */

/** @type {More | null} */
let loaded = null;

/** Load the other dialogs, once, and the words and the sheet of an area that has them apart. @param {string} area @returns {Promise<More>} */
async function loadMore(area) {
  const [{MORE}] = await Promise.all([import('./moredialogs.js'), area && loadArea(area), area === 'usage' && loadSheet(area)]);
  loaded = MORE;
  return loaded;
}

/** A dialog that is loaded when it is opened. @param {string} kind @param {string} [area] whose words are loaded then, too @returns {(props: {close: () => void}) => any} */
function onDemand(kind, area = '') {
  return function Later(props) {
    const [more, setMore] = useState(area === '' || hasArea(area) ? loaded : null);
    useEffect(() => {
      if (more) {
        dialogCame();
        return;
      }
      loadMore(area).then(setMore, (error) => {
        props.close();
        notifyFailure(error, 'app.partFailed');
      });
    }, [more]);
    return more ? h(more[kind], props) : null;
  };
}

/** @type {Record<string, (props: any) => any>} */
export const DIALOGS = {
  preset: PresetDialog,
  'sign-in': SignInDialog,
  question: Question,
  text: TextQuestion,
  palette: Palette,
  open: Pipelines,
  rename: onDemand('rename'),
  'save-as': SaveAs,
  merge: onDemand('merge'),
  versions: onDemand('versions'),
  import: onDemand('import'),
  export: onDemand('export'),
  keys: onDemand('keys'),
  templates: onDemand('templates'),
  settings: Settings,
  shortcuts: onDemand('shortcuts'),
  'variables-bulk': onDemand('variables-bulk'),
  'working-variable': onDemand('working-variable'),
  'branch-diff': onDemand('branch-diff'),
  asset: onDemand('asset'),
  'library-import': onDemand('library-import'),
  connect: onDemand('connect'),
  mcp: onDemand('mcp'),
  'mcp-tools': onDemand('mcp-tools'),
  rules: onDemand('rules'),
  rule: onDemand('rule'),
  tools: onDemand('tools'),
  tool: onDemand('tool'),
  'tool-trial': onDemand('tool-trial'),
  'compare-floors': onDemand('compare-floors'),
  'compare-runs': onDemand('compare-runs'),
  'my-account': onDemand('my-account', 'accounts'),
  'my-keys': onDemand('my-keys', 'accounts'),
  people: onDemand('people', 'accounts'),
  usage: onDemand('usage', 'usage'),
  calls: onDemand('calls', 'usage'),
};
