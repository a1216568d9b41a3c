/** The dialogs that a first visit does without. */
import {MyAccount} from './accounts/MyAccount.js';
import {MyKeys} from './accounts/MyKeys.js';
import {People} from './accounts/People.js';
import {CompareFloors} from './chat/CompareFloors.js';
import {Export} from './files/Export.js';
import {Import} from './files/Import.js';
import {Keys} from './files/Keys.js';
import {Merge} from './files/Merge.js';
import {Rename} from './files/Rename.js';
import {Templates} from './files/Templates.js';
import {Versions} from './files/Versions.js';
import {Shortcuts} from './help/Shortcuts.js';
import {AssetEditor} from './library/AssetEditor.js';
import {Connect} from './library/Connect.js';
import {McpServers} from './library/McpServers.js';
import {McpTools} from './library/McpTools.js';
import {Reports} from './library/Reports.js';
import {RuleEditor} from './library/rules/RuleEditor.js';
import {RuleList} from './library/rules/RuleList.js';
import {ToolForm} from './library/tools/ToolForm.js';
import {ToolList} from './library/tools/ToolList.js';
import {TrialDialog} from './library/tools/TrialDialog.js';
import {CompareRuns} from './run/Compare.js';
import {Calls} from './usage/Calls.js';
import {UsagePages} from './usage/Pages.js';
import {BranchDiff} from './variables/BranchDiff.js';
import {Bulk} from './variables/Bulk.js';
import {WorkingVariable} from './variables/WorkingVariable.js';

/** By kind, as `DIALOGS` has them. @type {Record<string, (props: any) => any>} */
export const MORE = {
  export: Export,
  import: Import,
  keys: Keys,
  rename: Rename,
  templates: Templates,
  shortcuts: Shortcuts,
  merge: Merge,
  versions: Versions,
  'variables-bulk': Bulk,
  'working-variable': WorkingVariable,
  'branch-diff': BranchDiff,
  asset: AssetEditor,
  'library-import': Reports,
  connect: Connect,
  mcp: McpServers,
  'mcp-tools': McpTools,
  rules: RuleList,
  rule: RuleEditor,
  tools: ToolList,
  tool: ToolForm,
  'tool-trial': TrialDialog,
  'compare-floors': CompareFloors,
  'compare-runs': CompareRuns,
  'my-account': MyAccount,
  'my-keys': MyKeys,
  people: People,
  usage: UsagePages,
  calls: Calls,
};
