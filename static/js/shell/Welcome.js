/** What stands where no document is open. */
import {runAction} from '../actions.js';
import {h, tags} from '../h.js';
import {mayEdit} from '../state/rights.js';
import {useStore} from '../state/store.js';
import {newPipeline, openPipeline} from '../state/tabs.js';
import {t} from '../words.js';
import {Button} from '../ui/buttons.js';
import {Icon} from '../ui/icons.js';

const {button, div, h2, h3, li, p, span, ul} = tags;

export function Welcome() {
  const pipelines = useStore((state) => state.library.pipelines);
  const server = useStore((state) => state.server);
  if (!server.started) {
    return div({className: 'welcome', role: 'status'}, h(Icon, {name: 'spinner', size: 24, className: 'spin'}), p(null, t(server.online ? 'app.starting' : 'app.serverGone')));
  }
  return div(
    {className: 'welcome'},
    h2(null, t('app.welcome')),
    p(null, t('app.welcomeText')),
    !mayEdit() ? p(null, t('app.mayNotEdit')) : div(
      {className: 'welcome-actions'},
      h(Button, {label: t('app.action.new'), icon: 'add', tone: 'primary', onClick: () => newPipeline()}),
      h(Button, {label: t('app.fromTemplate'), icon: 'templates', onClick: () => void runAction('files.templates')}),
      h(Button, {label: t('app.import'), icon: 'import', onClick: () => void runAction('files.import')}),
    ),
    pipelines.length ? h3(null, t('app.yourPipelines')) : null,
    ul(
      {className: 'welcome-list'},
      pipelines.map((one) =>
        li(
          {key: one.id},
          button(
            {type: 'button', onClick: () => void openPipeline(one.id)},
            h(Icon, {name: one.valid ? 'graph' : 'warning'}),
            span({className: 'welcome-name'}, one.name || one.id),
            one.active ? span({className: 'chip chip-good'}, t('app.active')) : null,
            one.problem_count ? span({className: 'chip chip-bad'}, t('app.problemCount', {n: one.problem_count})) : null,
          ),
        ),
      ),
    ),
  );
}
