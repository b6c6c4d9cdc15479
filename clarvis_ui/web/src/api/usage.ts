/** Tokens and cost, by day, project, model or session. */

import { count, type Decoded, each, fields, fieldsOf, flag, type Raw, verbatim } from './decode';
import type * as Wire from './schema';

export type UsageBy = Wire.UsageReport['by'];
export type Amount = Decoded<typeof readAmount>;
export type UsageRow = Decoded<typeof readUsageRow>;
export type Usage = Decoded<typeof readUsage>;

function readAmount(raw: Raw<Wire.UsageAmount> | undefined) {
  const amount = fields(raw);
  return {
    input: count(amount?.input),
    output: count(amount?.output),
    cacheRead: count(amount?.cacheRead),
    cacheWrite: count(amount?.cacheWrite),
    costUsd: count(amount?.costUsd),
  };
}

function readUsageRow(raw: Raw<Wire.UsageRow>) {
  const row = fields(raw);
  if (!row) return null;
  const key = verbatim(row.key);
  return { ...readAmount(raw), key, label: verbatim(row.label) || key };
}

export function readUsage(raw: unknown) {
  const report = fieldsOf<Wire.UsageReport>(raw);
  return (
    report && {
      zone: verbatim(report.zone),
      total: readAmount(report.total),
      rows: each(report.rows, readUsageRow),
      /** Whether every transcript has been read by now. */
      complete: flag(report.complete),
    }
  );
}
