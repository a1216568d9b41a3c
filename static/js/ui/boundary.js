/** Keeps a fault in one part of the page from taking the rest with it. */
import {h, React, tags} from '../h.js';
import {t} from '../words.js';
import {Button} from './buttons.js';
import {Icon} from './icons.js';

const {div, p} = tags;

/**
 * @typedef {object} BoundaryProps
 * @property {ReactNode} [children]
 * @property {(error: Error) => void} [onFail] told of the fault; nothing is drawn in the part's place then
 * @typedef {import('../h.js').ReactNode} ReactNode
 */

/**
 * Draws what it holds, or says that it failed and offers to try again.
 * @extends {React.Component<BoundaryProps, {error: Error | null}>}
 */
export class Boundary extends React.Component {
  /** @param {BoundaryProps} props */
  constructor(props) {
    super(props);
    /** @type {{error: Error | null}} */
    this.state = {error: null};
  }

  /** @param {unknown} error */
  static getDerivedStateFromError(error) {
    return {error: error instanceof Error ? error : new Error(String(error))};
  }

  /**
   * @override
   * @param {Error} error
   */
  componentDidCatch(error) {
    this.props.onFail?.(error);
  }

  /** @override */
  render() {
    const {error} = this.state;
    if (error === null) return this.props.children;
    if (this.props.onFail) return null;
    return div(
      {className: 'part-failed', role: 'alert'},
      h(Icon, {name: 'error', className: 'text-bad'}),
      p(null, t('app.partFailed', {message: error.message})),
      h(Button, {label: t('app.tryAgain'), icon: 'refresh', onClick: () => this.setState({error: null})}),
    );
  }
}
