import { useRef } from 'preact/hooks';
import type { Done } from '../api/timeline';
import { steppedBy, useHoveredColumn } from '../ui/useHoveredColumn';
import { type Column, columnWords, doneWords, lanesOf, shortName } from './columns';

export interface PlotProps {
  columns: readonly Column[];
  total: Done;
  /** The index of the selected column. */
  at: number;
  zone: string;
  hrefOf(column: Column): string;
  onChoose(column: Column): void;
}

// units of the drawing: its width is stretched, its height is not
const STEP = 10;
const LANE = 56;
// above the bars of a lane stands what they are
const LABEL = 24;
const MIN_HEIGHT = 2;

/** The plot: a lane for each kind of action. Each column links to its prompts. */
export function Plot({ columns, total, at, zone, hrefOf, onChoose }: PlotProps) {
  const drawing = useRef<SVGSVGElement>(null);
  const pointed = useHoveredColumn(columns.length, (lifted) => {
    const column = columns[lifted];
    if (column) onChoose(column);
  });
  const lanes = lanesOf(columns);
  const height = lanes.length * LANE;
  const last = columns.length - 1;
  const column = pointed.at === null ? undefined : columns[pointed.at];

  function onKeyDown(event: KeyboardEvent): void {
    const links = [...(drawing.current?.querySelectorAll<SVGAElement>('a') ?? [])];
    const from = links.indexOf(document.activeElement as SVGAElement);
    const next = steppedBy(event.key, from, last);
    if (next === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    links[next]?.focus();
  }

  return (
    <figure class="timeline-plot">
      <figcaption>
        <b>{column ? column.name : 'In all'}</b> {column ? columnWords(column) : doneWords(total)}
      </figcaption>
      <div class="timeline-drawing">
        {lanes.map(({ key, label, total }, lane) => (
          <p key={key} class="timeline-lane" style={{ top: `${lane * LANE}px` }}>
            {label} <b>{total}</b>
          </p>
        ))}
        {/* biome-ignore lint/a11y/useSemanticElements: a drawing is no set of fields */}
        <svg
          ref={drawing}
          viewBox={`0 0 ${columns.length * STEP} ${height}`}
          style={{ height: `${height}px` }}
          preserveAspectRatio="none"
          role="group"
          aria-label="What was done when"
          onKeyDown={onKeyDown}
          {...pointed.hands}
        >
          {columns.map((column, index) => (
            <a
              key={column.from}
              class="timeline-column"
              draggable={false}
              href={hrefOf(column)}
              tabIndex={index === at ? 0 : -1}
              aria-label={`${column.name}: ${columnWords(column)}`}
              aria-current={index === at ? 'true' : undefined}
              onFocus={() => pointed.point(index)}
              onBlur={() => pointed.point(null)}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                onChoose(column);
              }}
            >
              <rect class="timeline-band" x={index * STEP} width={STEP} height={height} />
              {lanes.map(({ key, shares }, lane) => (
                <Bar key={key} lane={lane} index={index} share={shares[index] ?? 0} />
              ))}
            </a>
          ))}
        </svg>
      </div>
      <p class="timeline-ends">
        <span>{columns[0] && shortName(columns[0])}</span>
        <span title={`Times of the keeper's zone, ${zone}`}>
          {columns[last] && shortName(columns[last])}
        </span>
      </p>
    </figure>
  );
}

function Bar({ lane, index, share }: { lane: number; index: number; share: number }) {
  if (share <= 0) return null;
  const tall = Math.max(MIN_HEIGHT, share * (LANE - LABEL));
  const y = (lane + 1) * LANE - tall;
  return <rect class="timeline-bar" x={index * STEP + 1} y={y} width={STEP - 2} height={tall} />;
}
