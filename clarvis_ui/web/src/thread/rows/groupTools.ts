import type { Row } from './rows';

const TASKS = 'tasks';

/** Tools of which many in a row say little one by one, and how many it takes. */
const GATHERED: Readonly<Record<string, { as: string; from: number }>> = {
  Read: { as: 'Read', from: 3 },
  Grep: { as: 'Grep', from: 3 },
  Glob: { as: 'Glob', from: 3 },
  Edit: { as: 'Edit', from: 4 },
  MultiEdit: { as: 'Edit', from: 4 },
  Write: { as: 'Edit', from: 4 },
  [TASKS]: { as: TASKS, from: 1 },
};

function gatheredAs(row: Row | undefined): string | null {
  // what changes a list is told as the list, also while the call is on its way
  if (row?.kind === 'tool' && row.tasks.length > 0 && !row.result?.isError) return TASKS;
  if (row?.kind !== 'tool' || !row.result || row.result.isError) return null;
  return GATHERED[row.use.name]?.as ?? null;
}

/** Groups consecutive calls into one row. */
export function groupTools(rows: readonly Row[]): Row[] {
  const grouped: Row[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at];
    if (!row) break;
    const as = gatheredAs(row);
    let end = at + 1;
    while (as !== null && gatheredAs(rows[end]) === as) end += 1;
    if (as !== null && end - at >= (GATHERED[as]?.from ?? Number.POSITIVE_INFINITY)) {
      const calls = rows.slice(at, end).filter((each) => each.kind === 'tool');
      grouped.push({ kind: 'tools', key: `tools/${row.key}`, uuid: row.uuid, calls });
    } else {
      for (let each = at; each < end; each += 1) grouped.push(rows[each] as Row);
    }
    at = end;
  }
  return grouped;
}
