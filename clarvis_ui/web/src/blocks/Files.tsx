import { useContext, useEffect, useState } from 'preact/hooks';
import { counted } from '../state/words';
import { DiffHead, DiffLines, Tally } from './Diff';
import type { FileChange } from './diff';
import { Hold } from './hold';
import { spelledOut } from './safe';

/** So few are open from the beginning. */
const OPEN_AT_FIRST = 2;
/** So many unfold in one frame: more would be felt. */
const A_FRAME = 4;

/** The files of a patch; many are a list of names first, which unfold one by one or all at once. */
export function Files({ files }: { files: readonly FileChange[] }) {
  const hold = useContext(Hold);
  const every = files.map((_, at) => at);
  const [open, setOpen] = useState<ReadonlySet<number>>(
    new Set(files.length <= OPEN_AT_FIRST ? every : []),
  );
  const [opening, setOpening] = useState(false);
  const folded = every.filter((at) => !open.has(at));
  useEffect(() => {
    if (!opening) return;
    const frame = requestAnimationFrame(() => {
      setOpen(new Set([...open, ...folded.slice(0, A_FRAME)]));
      if (folded.length <= A_FRAME) setOpening(false);
    });
    return () => cancelAnimationFrame(frame);
  });
  const show = (next: Iterable<number>, rest = false) => {
    hold();
    setOpen(new Set(next));
    setOpening(rest);
  };
  return (
    <>
      {files.length > OPEN_AT_FIRST && (
        <div class="diff-files">
          <span>{counted(files.length, 'file')}</span>
          <Tally {...summed(files)} />
          <UnfoldAll
            done={opening || folded.length === 0}
            onChange={(all) => show(all ? open : [], all)}
          />
        </div>
      )}
      {files.map((file, at) => (
        <section key={at} class="diff" aria-label={`Changes to ${spelledOut(file.path)}`}>
          <button
            type="button"
            class="diff-file"
            aria-expanded={open.has(at)}
            onClick={() =>
              show(open.has(at) ? [...open].filter((each) => each !== at) : [...open, at])
            }
          >
            <DiffHead {...file} />
          </button>
          {open.has(at) && <DiffLines lines={file.lines} />}
        </section>
      ))}
    </>
  );
}

export function UnfoldAll({ done, onChange }: { done: boolean; onChange(all: boolean): void }) {
  return (
    <button type="button" class="quiet unfold-all" onClick={() => onChange(!done)}>
      {done ? 'Fold all' : 'Unfold all'}
    </button>
  );
}

function summed(files: readonly FileChange[]): { added: number; removed: number } {
  return {
    added: files.reduce((sum, { added }) => sum + added, 0),
    removed: files.reduce((sum, { removed }) => sum + removed, 0),
  };
}
