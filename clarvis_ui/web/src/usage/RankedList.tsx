import { useState } from 'preact/hooks';
import type { UsageRow } from '../api/usage';
import { money, roughly } from '../lib/format';
import { bars } from './bars';

export interface RankedListProps {
  title: string;
  rows: readonly UsageRow[];
  /** Where a row leads, if anywhere. */
  href(key: string): string | null;
}

const MIN_ROWS = 6;
const MAX_ROWS = 100;

/** Who used most: a bar each, in proportion. */
export function RankedList({ title, rows, href }: RankedListProps) {
  const [all, setAll] = useState(false);
  // what Claude Code itself put into a reply's place has used nothing
  const some = rows.filter((row) => row.costUsd > 0 || row.input + row.output > 0);
  if (some.length === 0) return null;
  const visible = bars(some).slice(0, all ? MAX_ROWS : MIN_ROWS);
  return (
    <section class="usage-ranking" aria-label={title}>
      <h2>{title}</h2>
      <ol>
        {visible.map(({ used, share }) => (
          <li key={used.key}>
            <Name used={used} href={href(used.key)} />
            <span class="usage-amount">
              {money(used.costUsd)} <small>{roughly(used.output)} out</small>
            </span>
            <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
              <rect class="usage-bar" width={share * 100} height={4} rx={1} />
            </svg>
          </li>
        ))}
      </ol>
      {some.length > MIN_ROWS && (
        <button type="button" class="quiet" onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `All ${Math.min(some.length, MAX_ROWS)}`}
        </button>
      )}
    </section>
  );
}

function Name({ used, href }: { used: UsageRow; href: string | null }) {
  if (href === null) {
    return (
      <span dir="auto" title={used.key}>
        {used.label}
      </span>
    );
  }
  return (
    <a href={href} dir="auto" title={used.label}>
      {used.label}
    </a>
  );
}
