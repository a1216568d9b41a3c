/** Says that the file changed under edits that are not saved, and what can be done. */
import {api} from '../api/client.js';
import {h, tags} from '../h.js';
import {openDialog} from '../state/dialogs.js';
import {notifyFailure} from '../state/notices.js';
import {useStore} from '../state/store.js';
import {activeTab, updateTab} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';

const {div, span} = tags;

export function DiskBanner() {
  const tab = useStore((state) => activeTab(state));
  if (!tab?.onDisk || tab.id === null) return null;
  const {key, id, onDisk} = tab;
  const compare = async () => {
    if (onDisk.etag === null) {
      openDialog('merge', {tab: key, id, theirs: null, etag: null});
      return;
    }
    try {
      const {body} = await api.get(`/api/pipelines/${encodeURIComponent(id)}`);
      openDialog('merge', {tab: key, id, theirs: body.document, etag: body.etag});
    } catch (error) {
      notifyFailure(error);
    }
  };
  return div(
    {className: 'disk-banner', role: 'status'},
    h(Icon, {name: 'warning', className: 'text-warn'}),
    span({className: 'disk-banner-text'}, t(onDisk.etag === null ? 'files.deletedOnDisk' : 'files.changedOnDisk', {id})),
    h(Button, {label: t('files.compare'), onClick: () => void compare()}),
    h(Button, {label: t('files.later'), tone: 'quiet', onClick: () => updateTab(key, {onDisk: null})}),
  );
}
