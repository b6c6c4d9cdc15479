import { money, roughly } from '../lib/format';
import { steppedBy, useHoveredColumn } from '../ui/useHoveredColumn';
import { bars, type Spans } from './bars';

const HEIGHT = 120;
const STEP = 10;

/** The cost of each day or week as bars, with the hovered one in words. */
export function DayPlot({ spans, zone }: { spans: Spans; zone: string }) {
  const { step, rows: days } = spans;
  const name = (key: string) => (step === 'week' ? `Week of ${dated(key)}` : dayName(key));
  const end = step === 'week' ? dated : dayName;
  const last = days.length - 1;
  const { at: pointed, point, hands } = useHoveredColumn(days.length);
  const at = Math.min(last, pointed ?? last);
  const day = days[at];
  if (!day) return <p class="usage-note">Nothing was used in this time.</p>;
  const width = days.length * STEP;
  const amountWords = `${money(day.costUsd)}, ${roughly(day.output)} tokens written`;
  function onKeyDown(event: KeyboardEvent): void {
    const next = steppedBy(event.key, at, last);
    if (next === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    point(next);
  }
  return (
    <figure class="usage-days">
      <figcaption>
        <b>{name(day.key)}</b> {amountWords}
      </figcaption>
      <div
        class="usage-plot"
        role="slider"
        tabIndex={0}
        aria-label={`Cost by ${step}, ${end(days[0]?.key ?? '')} to ${end(days[last]?.key ?? '')}`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at}
        aria-valuetext={`${name(day.key)}: ${amountWords}`}
        onKeyDown={onKeyDown}
        {...hands}
      >
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {bars(days).map(({ used, share }, index) => (
            <g key={used.key} data-day={used.key}>
              <title>{`${name(used.key)}: ${money(used.costUsd)}`}</title>
              <rect class="usage-hit" x={index * STEP} y={0} width={STEP} height={HEIGHT} />
              <rect
                class="usage-bar"
                data-at={index === at}
                x={index * STEP + 1}
                y={HEIGHT - Math.max(share * HEIGHT, used.costUsd > 0 ? 2 : 0)}
                width={STEP - 2}
                height={Math.max(share * HEIGHT, used.costUsd > 0 ? 2 : 0)}
              />
            </g>
          ))}
        </svg>
      </div>
      <p class="usage-ends">
        <span>{end(days[0]?.key ?? '')}</span>
        <span title={`Days of the keeper's zone, ${zone}`}>{end(days[last]?.key ?? '')}</span>
      </p>
    </figure>
  );
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

const DATE = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

function dated(key: string): string {
  const then = Date.parse(`${key}T12:00:00Z`);
  return Number.isNaN(then) ? 'No date' : DATE.format(then);
}

function dayName(key: string): string {
  const then = Date.parse(`${key}T12:00:00Z`);
  return Number.isNaN(then) ? 'No date' : DAY.format(then);
}
