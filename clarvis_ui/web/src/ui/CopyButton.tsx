import { useEffect, useState } from 'preact/hooks';
import { copyText } from '../lib/clipboard';
import { Icon } from './Icon';

type Shown = 'offer' | 'copied' | 'failed';

const SHOWN_MS = 2000;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setShown] = useState<Shown>('offer');

  useEffect(() => {
    if (state === 'offer') return;
    const timer = setTimeout(() => setShown('offer'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);

  return (
    <button
      type="button"
      class="quiet copy"
      aria-label={label}
      onClick={async () => setShown((await copyText(text)) ? 'copied' : 'failed')}
    >
      <Icon name={state === 'copied' ? 'check' : 'copy'} />
      <span role="status">{words(state)}</span>
    </button>
  );
}

function words(state: Shown): string {
  switch (state) {
    case 'offer':
      return 'Copy';
    case 'copied':
      return 'Copied';
    case 'failed':
      return 'Select and copy it';
    default:
      return state satisfies never;
  }
}
