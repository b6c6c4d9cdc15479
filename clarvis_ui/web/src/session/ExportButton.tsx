import { useState } from 'preact/hooks';
import type { Api } from '../api/client';
import type { Session } from '../api/sessions';
import { titleOf } from '../sessions/labels';
import { Icon } from '../ui/Icon';

const MAX_NAME = 60;
const REVOKE_AFTER_MS = 60_000;

export interface ExportButtonProps {
  session: Session;
  api: Pick<Api, 'conversation'>;
}

/** Saves the whole conversation as a Markdown file. */
export function ExportButton({ session, api }: ExportButtonProps) {
  const [reading, setReading] = useState(false);
  const [problem, setProblem] = useState('');

  async function save(): Promise<void> {
    setReading(true);
    setProblem('');
    setProblem(await saved(session, api));
    setReading(false);
  }

  return (
    <div class="details-save">
      <button type="button" disabled={reading} onClick={() => void save()}>
        <Icon name="save" /> {reading ? 'Reading all of it…' : 'Save as Markdown'}
      </button>
      <p class="bad" role="alert">
        {problem}
      </p>
    </div>
  );
}

/** Why it could not be saved, or nothing. */
async function saved(session: Session, api: ExportButtonProps['api']): Promise<string> {
  const [parts, whole] = await Promise.all([
    Promise.all([import('../thread/exportMarkdown'), import('../thread/rows/rows')]).catch(
      () => null,
    ),
    api.conversation(session.id, null, 'all'),
  ]);
  if (!whole.ok) return whole.failure.sentence;
  if (parts === null) return 'A part of the page could not be fetched. Reload the page.';
  const [{ exportMarkdown: written }, { rowsOf }] = parts;
  const title = titleOf(session);
  const rows = rowsOf(whole.value.messages, { running: false, hasOlder: false });
  download(written(title, rows, session.workdir), `${nameOf(title)}.md`);
  return '';
}

function nameOf(title: string): string {
  const name = title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, MAX_NAME);
  return name.replace(/^-|-$/g, '') || 'conversation';
}

function download(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }));
  link.download = name;
  link.click();
  // some browsers begin to read only after this
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_AFTER_MS);
}
