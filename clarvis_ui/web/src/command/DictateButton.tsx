import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../ui/Icon';
import { canListen, listen, type StopSpeechInput } from './speech';

export interface DictateButtonProps {
  text: string;
  onWords(text: string): void;
  onProblem(sentence: string): void;
}

/** Appends dictated text to the field; only where the browser can listen. */
export function DictateButton({ text, onWords, onProblem }: DictateButtonProps) {
  const [listening, setListening] = useState(false);
  const stop = useRef<StopSpeechInput | null>(null);
  useEffect(() => () => stop.current?.(), []);
  if (!canListen(window)) return null;

  function begin(): void {
    const before = text.trim();
    setListening(true);
    stop.current = listen(window, {
      onWords: (words) => onWords(before === '' ? words : `${before} ${words}`),
      onProblem,
      onEnd: () => setListening(false),
    });
  }

  return (
    <button
      type="button"
      class="quiet say-dictate"
      aria-pressed={listening}
      aria-label={listening ? 'Stop listening' : 'Dictate'}
      title="Dictate. Your browser may send what it hears to a speech service of its own."
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => (listening ? stop.current?.() : begin())}
    >
      <Icon name="microphone" />
    </button>
  );
}
