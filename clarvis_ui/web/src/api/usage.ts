/** What was used, as the wire contract has it. */

import { each, fields, number, verbatim } from './decode';

export type UsageBy = 'day' | 'project' | 'model' | 'session';

export interface Amount {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  costUsd: number;
}

export interface Used extends Amount {
  key: string;
  label: string;
}

export interface Usage {
  zone: string;
  total: Amount;
  rows: Used[];
  /** Whether every transcript has been read by now. */
  complete: boolean;
}

function readAmount(raw: unknown): Amount {
  const given = fields(raw);
  return {
    input: number(given?.input) ?? 0,
    output: number(given?.output) ?? 0,
    cacheRead: number(given?.cacheRead) ?? 0,
    cacheWrite: number(given?.cacheWrite) ?? 0,
    costUsd: number(given?.costUsd) ?? 0,
  };
}

function readUsed(raw: unknown): Used | null {
  const given = fields(raw);
  if (!given) return null;
  const key = verbatim(given.key);
  return { ...readAmount(raw), key, label: verbatim(given.label) || key };
}

export function readUsage(raw: unknown): Usage | null {
  const given = fields(raw);
  if (!given) return null;
  return {
    zone: verbatim(given.zone),
    total: readAmount(given.total),
    rows: each(given.rows, readUsed),
    complete: given.complete === true,
  };
}
