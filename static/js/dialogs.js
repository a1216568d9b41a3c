/** Which component shows which kind of dialog. Each gets `{close, ...props}`. */
import {CompareFloors} from './chat/CompareFloors.js';
import {Export} from './files/Export.js';
import {Import} from './files/Import.js';
import {Keys} from './files/Keys.js';
import {Merge} from './files/Merge.js';
import {Pipelines} from './files/Pipelines.js';
import {Rename} from './files/Rename.js';
import {SaveAs} from './files/SaveAs.js';
import {Templates} from './files/Templates.js';
import {Versions} from './files/Versions.js';
import {Palette} from './help/Palette.js';
import {Settings} from './help/Settings.js';
import {Shortcuts} from './help/Shortcuts.js';
import {PresetDialog} from './inspector/Presets.js';
import {AssetEditor} from './library/AssetEditor.js';
import {McpServers} from './library/McpServers.js';
import {McpTools} from './library/McpTools.js';
import {Reports} from './library/Reports.js';
import {RuleEditor} from './library/rules/RuleEditor.js';
import {RuleList} from './library/rules/RuleList.js';
import {ToolForm} from './library/tools/ToolForm.js';
import {ToolList} from './library/tools/ToolList.js';
import {CompareRuns} from './run/Compare.js';
import {Question, TextQuestion} from './ui/questions.js';
import {BranchDiff} from './variables/BranchDiff.js';
import {Bulk} from './variables/Bulk.js';
import {WorkingVariable} from './variables/WorkingVariable.js';

/** @type {Record<string, (props: any) => any>} */
export const DIALOGS = {
  preset: PresetDialog,
  question: Question,
  text: TextQuestion,
  palette: Palette,
  open: Pipelines,
  rename: Rename,
  'save-as': SaveAs,
  merge: Merge,
  versions: Versions,
  import: Import,
  export: Export,
  keys: Keys,
  templates: Templates,
  settings: Settings,
  shortcuts: Shortcuts,
  'variables-bulk': Bulk,
  'working-variable': WorkingVariable,
  'branch-diff': BranchDiff,
  asset: AssetEditor,
  'library-import': Reports,
  mcp: McpServers,
  'mcp-tools': McpTools,
  rules: RuleList,
  rule: RuleEditor,
  tools: ToolList,
  tool: ToolForm,
  'compare-floors': CompareFloors,
  'compare-runs': CompareRuns,
};
