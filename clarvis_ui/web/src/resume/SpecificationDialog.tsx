import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Specification } from '../api/resume';
import { Markdown } from '../content/Markdown';
import { fullTime } from '../lib/format';
import { Dialog } from '../ui/Dialog';

interface SpecificationDialogProps {
  api: Pick<Api, 'specification'>;
  id: string;
  onClose(): void;
}

/** The specification's file as it is now, shown as safely as what Claude says. */
export function SpecificationDialog({ api, id, onClose }: SpecificationDialogProps) {
  const [found, setFound] = useState<Specification | null>(null);
  const [problem, setProblem] = useState('');

  useEffect(() => {
    const leaving = new AbortController();
    void api.specification(id, leaving.signal).then((outcome) => {
      if (leaving.signal.aborted) return;
      if (outcome.ok) setFound(outcome.value);
      else setProblem(outcome.failure.sentence);
    });
    return () => leaving.abort();
  }, [api, id]);

  return (
    <Dialog name="Specification" kind="specification-dialog" onClose={onClose}>
      <div aria-busy={found === null && problem === ''}>
        <p class="bad" role="alert">
          {problem}
        </p>
        {found && (
          <>
            <p class="specification-file">
              <code dir="ltr">{found.path}</code>
              {found.modified !== null && `, last changed ${fullTime(found.modified)}`}
            </p>
            <Markdown text={found.text} />
            {found.cut && <p class="specification-file">It is longer than what is shown here.</p>}
          </>
        )}
      </div>
    </Dialog>
  );
}
