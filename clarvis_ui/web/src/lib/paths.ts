/** Paths as people speak of them. */

/** Without the directory that they know they are in. */
export function relativeTo(path: string, workdir: string | null): string {
  const base = workdir?.replace(/[/\\]+$/, '') ?? '';
  if (base === '') return path;
  if (path.replace(/[/\\]+$/, '') === base) return 'this directory';
  const below = path.startsWith(`${base}/`) || path.startsWith(`${base}\\`);
  return below ? path.slice(base.length + 1) : path;
}

/** Outside of that directory the end of a path says most: its last three parts. */
export function shortPath(path: string, workdir: string | null): string {
  const inside = relativeTo(path, workdir);
  if (inside !== path) return inside;
  const parts = path.split(/[\\/]/).filter(Boolean);
  return parts.length > 3 ? parts.slice(-3).join('/') : path;
}
