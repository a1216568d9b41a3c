/** The calls that an answer or a run is made of, one by one: whom, what for, what they took and cost. */
import {h, tags} from '../h.js';
import {money, moment, number} from '../costs/amounts.js';
import {withQuery} from '../state/memory.js';
import {useReading} from '../state/reading.js';
import {duration} from '../state/times.js';
import {t, translated} from '../words.js';
import {Dialog} from '../ui/dialog.js';
import {NotRead, Waiting} from '../ui/empty.js';

const {code, dd, div, dl, dt, li, p, span, ul} = tags;

/** As many as are read at once: a turn that calls more tools than that is cut, and says so. */
const MOST = 200;

/** @param {{close: () => void, title: string, wanted: Record<string, any>}} props `node_id` of what is wanted is looked for here */
export function Calls({close, title, wanted: {node_id: node, ...wanted}}) {
  const read = useReading(withQuery('/usage', {...wanted, limit: MOST}), null, 'items');
  const calls = read !== null && 'data' in read ? read.data.filter((/** @type {any} */ one) => node === undefined || one.node_id === node).reverse() : [];
  return h(
    Dialog,
    {title, size: 'large', onClose: close},
    read === null
      ? h(Waiting)
      : 'error' in read
        ? h(NotRead, null, read.error)
        : calls.length === 0
          ? p({className: 'panel-empty'}, t('usage.none'))
          : ul({className: 'usage-calls', 'aria-label': title}, calls.map((/** @type {any} */ call) => h(Call, {key: call.id, call}))),
    read !== null && 'data' in read && read.data.length === MOST ? p({className: 'text-soft'}, t('usage.cutCalls', {n: MOST})) : null,
  );
}

/** @param {{call: any}} props a row of GET /usage */
function Call({call}) {
  const basis = call.price_nano === null ? t('usage.priceUnknown') : t(call.basis === 'estimated' ? 'usage.priceEstimated' : 'usage.priceKnown', {price: money(call.price_nano)});
  /** @param {string} name @param {number | null} value */
  const fact = (name, value) => div({key: name}, dt(null, t(`usage.column.${name}`)), dd(null, value === null ? t('usage.unknown') : number(value)));
  return li(
    {className: 'usage-call'},
    div(
      {className: 'usage-call-head'},
      span({className: 'usage-call-model'}, call.model || t('usage.without.model')),
      span({className: 'chip'}, translated(`usage.purpose.${call.purpose}`) ?? call.purpose),
      call.outcome === 'answered' ? null : span({className: 'chip chip-warn'}, t(`usage.outcome.${call.outcome}`)),
      span({className: 'usage-call-price'}, basis),
    ),
    dl(
      {className: 'usage-facts'},
      fact('input', call.input_tokens),
      fact('output', call.output_tokens),
      ...(call.cache_read_tokens ? [fact('cached', call.cache_read_tokens)] : []),
      ...(call.cache_write_tokens ? [fact('written', call.cache_write_tokens)] : []),
      ...(call.reasoning_tokens ? [fact('reasoning', call.reasoning_tokens)] : []),
    ),
    p({className: 'text-soft'}, [moment(call.created_at), duration(call.latency_ms), call.host, t(`usage.basis.${call.basis}`)].filter(Boolean).join(' · '), ' · ', code(null, [call.pipeline_id, call.node_id].join(' / '))),
  );
}
