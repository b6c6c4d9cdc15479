/** The browser's own ears and voice, where it has them. */

/** As much of a recognition as is used; browsers call it by two names, and TypeScript by none. */
interface Recognition {
  lang: string;
  interimResults: boolean;
  onresult: ((event: { results: ArrayLike<ArrayLike<{ transcript: string }>> }) => void) | null;
  onerror: ((event: { error: string }) => void) | null;
  onend: (() => void) | null;
  start(): void;
  stop(): void;
  abort(): void;
}

type Ears = Window & {
  SpeechRecognition?: new () => Recognition;
  webkitSpeechRecognition?: new () => Recognition;
};

export interface SpeechListener {
  /** All that was heard so far; it may still change. */
  onWords(words: string): void;
  onProblem(sentence: string): void;
  onEnd(): void;
}

/** Stops listening; what was heard stays. */
export type StopSpeechInput = () => void;

export function canListen(browser: Window): boolean {
  const { SpeechRecognition, webkitSpeechRecognition } = browser as Ears;
  return browser.isSecureContext && Boolean(SpeechRecognition ?? webkitSpeechRecognition);
}

const PROBLEMS: Readonly<Record<string, string>> = {
  'not-allowed': 'This browser was told not to let the page listen.',
  'service-not-allowed': 'This browser was told not to let the page listen.',
  'audio-capture': 'There is no microphone.',
  'no-speech': 'Nothing was heard.',
  network: 'The browser cannot reach its speech service.',
};

export function listen(browser: Window, listener: SpeechListener): StopSpeechInput {
  const { SpeechRecognition, webkitSpeechRecognition } = browser as Ears;
  const Recogniser = SpeechRecognition ?? webkitSpeechRecognition;
  if (!Recogniser) return () => {};
  const recognition = new Recogniser();
  recognition.lang = browser.navigator.language;
  recognition.interimResults = true;
  recognition.onresult = ({ results }) => {
    listener.onWords(
      Array.from(results, (result) => result[0]?.transcript ?? '')
        .join('')
        .trim(),
    );
  };
  recognition.onerror = ({ error }) => {
    if (error !== 'aborted') listener.onProblem(PROBLEMS[error] ?? 'That was not understood.');
  };
  recognition.onend = () => listener.onEnd();
  recognition.start();
  return () => recognition.stop();
}

export function canSpeak(browser: Window): boolean {
  return 'speechSynthesis' in browser;
}

/** With a voice of this machine where there is one: what Claude says is nobody else's business. */
export function speak(browser: Window & typeof globalThis, words: string): void {
  if (!canSpeak(browser)) return;
  const { speechSynthesis, navigator } = browser;
  const utterance = new browser.SpeechSynthesisUtterance(words);
  const own = speechSynthesis.getVoices().filter((voice) => voice.localService);
  const language = navigator.language.slice(0, 2);
  utterance.voice = own.find(({ lang }) => lang.startsWith(language)) ?? own[0] ?? null;
  speechSynthesis.cancel();
  speechSynthesis.speak(utterance);
}
