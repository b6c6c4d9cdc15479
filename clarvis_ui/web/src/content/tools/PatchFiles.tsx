import { batch } from '@preact/signals';
import { useContext, useEffect } from 'preact/hooks';
import { counted } from '../../lib/format';
import { revealInvisible } from '../../lib/sanitize';
import { HoldScroll } from '../../thread/scroll/scrollAnchor';
import { DiffHead, DiffLines, Tally } from '../Diff';
import type { FileChange } from '../diff';
import { ExpandScope, useExpandState } from '../expandState';

/** Up to this many files are expanded at first. */
const OPEN_AT_FIRST = 2;
/** How many files expand in one frame; more would stutter. */
const A_FRAME = 4;

/** The files of a patch. Many are listed by name first, and expand one by one or all at once. */
export function PatchFiles({ files }: { files: readonly FileChange[] }) {
  const hold = useContext(HoldScroll);
  const fold = useExpandState();
  const expandState = files.map((_, at) => fold(`file ${at}`, files.length <= OPEN_AT_FIRST));
  // a patch that is hidden while it expands continues once it is visible again
  const opening = fold('every file');
  const folded = expandState.filter((each) => !each.value);
  const unfolds = opening.value && folded.length > 0;
  useEffect(() => {
    if (!unfolds) return;
    const frame = requestAnimationFrame(() => {
      batch(() => {
        for (const each of folded.slice(0, A_FRAME)) each.value = true;
      });
    });
    return () => cancelAnimationFrame(frame);
  });
  function showAll(all: boolean): void {
    hold();
    batch(() => {
      opening.value = all;
      if (!all) for (const each of expandState) each.value = false;
    });
  }
  function show(at: number): void {
    hold();
    batch(() => {
      opening.value = false;
      const one = expandState[at];
      if (one) one.value = !one.value;
    });
  }
  return (
    <>
      {files.length > OPEN_AT_FIRST && (
        <div class="diff-files">
          <span>{counted(files.length, 'file')}</span>
          <Tally {...summed(files)} />
          <ExpandAll done={unfolds || folded.length === 0} onChange={showAll} />
        </div>
      )}
      {files.map((file, at) => (
        <section key={at} class="diff" aria-label={`Changes to ${revealInvisible(file.path)}`}>
          <button
            type="button"
            class="diff-file"
            aria-expanded={expandState[at]?.value ?? false}
            onClick={() => show(at)}
          >
            <DiffHead {...file} />
          </button>
          {expandState[at]?.value && (
            <ExpandScope name={`file ${at}`}>
              <DiffLines lines={file.lines} />
            </ExpandScope>
          )}
        </section>
      ))}
    </>
  );
}

export function ExpandAll({ done, onChange }: { done: boolean; onChange(all: boolean): void }) {
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
