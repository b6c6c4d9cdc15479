import { useMemo, useState } from 'preact/hooks';
import type { BranchWork, FileChange } from '../api/branches';
import { Diff } from '../content/Diff';
import { counted } from '../lib/format';
import { relativeTo } from '../lib/paths';
import { revealInvisible } from '../lib/sanitize';
import { Icon } from '../ui/Icon';
import { changesIn, differenceOf, type FilePair, pairedFiles, type Where } from './tree';

export interface FileChangesProps {
  one: BranchWork;
  other: BranchWork;
  names: readonly [string, string];
  workdir: string | null;
}

/** Which files the two changed since they parted, and how they differ. */
export function FileChanges({ one, other, names, workdir }: FileChangesProps) {
  const pairs = useMemo(() => pairedFiles(one.files, other.files), [one, other]);
  const more = one.moreFiles + other.moreFiles;
  const groups: readonly { where: Where; title: string }[] = [
    { where: 'both', title: 'Changed in both, and not alike' },
    { where: 'one', title: `Only in “${names[0]}”` },
    { where: 'other', title: `Only in “${names[1]}”` },
    { where: 'same', title: 'The same in both' },
  ];
  return (
    <section class="files" aria-label="Files compared">
      <h2>Files</h2>
      {pairs.length === 0 && <p class="side-nothing">Neither changed a file since.</p>}
      {groups.map(({ where, title }) => {
        const files = pairs.filter((pair) => pair.where === where);
        if (files.length === 0) return null;
        return (
          <section key={where} class="files-group">
            <h3 dir="auto">{title}</h3>
            <ul>
              {files.map((pair) => (
                <li key={pair.path}>
                  <OneFile pair={pair} names={names} workdir={workdir} />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {more > 0 && <p class="branches-note">and {counted(more, 'file')} more</p>}
    </section>
  );
}

interface OneFileProps {
  pair: FilePair;
  names: readonly [string, string];
  workdir: string | null;
}

function OneFile({ pair, names, workdir }: OneFileProps) {
  const [open, setOpen] = useState(false);
  return (
    <div class="file">
      <button
        type="button"
        class="quiet file-name"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name={open ? 'downwards' : 'unfold'} />
        <code dir="ltr">{revealInvisible(relativeTo(pair.path, workdir))}</code>
        <span class="file-fate">{fates(pair)}</span>
      </button>
      {open && <Body pair={pair} names={names} />}
    </div>
  );
}

function fates({ one, other }: FilePair): string {
  const words = [one, other].map((file) => file && fateOf(file)).filter(Boolean);
  return [...new Set(words)].join(' / ');
}

function fateOf({ fate, edits }: FileChange): string {
  return fate === 'changed' ? counted(edits, 'edit') : fate;
}

function Body({ pair, names }: Pick<OneFileProps, 'pair' | 'names'>) {
  const difference = pair.where === 'both' ? differenceOf(pair) : null;
  if (difference) {
    // removed: the text of the other; added: the text of the one
    return (
      <>
        <p class="file-legend">
          <span class="tally-removed">− in “{names[1]}”</span>{' '}
          <span class="tally-added">+ in “{names[0]}”</span>
        </p>
        <Diff path={pair.path} {...difference} />
      </>
    );
  }
  const both = pair.one !== null && pair.other !== null;
  const sides = pair.where === 'same' ? [pair.one] : [pair.one, pair.other];
  return sides.map((file, side) =>
    file === null ? null : (
      <div key={side}>
        {both && pair.where !== 'same' && <p class="file-legend">In “{names[side]}”</p>}
        {changesIn(file).map((change, at) => (
          <Diff key={at} path={file.path} {...change} />
        ))}
        {(file.cut || changesIn(file).length === 0) && (
          <p class="branches-note">
            {file.fate === 'deleted' ? 'It was deleted.' : 'More than can be shown here.'}
          </p>
        )}
      </div>
    ),
  );
}
