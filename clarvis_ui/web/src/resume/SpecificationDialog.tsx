import type { Api } from '../api/client';
import { Markdown } from '../content/Markdown';
import { fullTime } from '../lib/format';
import { Dialog } from '../ui/Dialog';
import { useRequest } from '../ui/useRequest';

interface SpecificationDialogProps {
  api: Pick<Api, 'specification'>;
  id: string;
  onClose(): void;
}

/** The specification's file as it is now, shown as safely as what Claude says. */
export function SpecificationDialog({ api, id, onClose }: SpecificationDialogProps) {
  const { value: specification, failure } = useRequest(
    (signal) => api.specification(id, signal),
    [api, id],
  );

  return (
    <Dialog name="Specification" kind="specification-dialog" onClose={onClose}>
      <div aria-busy={specification === null && failure === null}>
        <p class="bad" role="alert">
          {failure?.sentence}
        </p>
        {specification && (
          <>
            <p class="specification-file">
              <code dir="ltr">{specification.path}</code>
              {specification.modified !== null &&
                `, last changed ${fullTime(specification.modified)}`}
            </p>
            <Markdown text={specification.text} />
            {specification.cut && (
              <p class="specification-file">It is longer than what is shown here.</p>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}
