import { Images } from '../content/Images';
import type { VisibleMessage } from '../conversation/conversation';
import { fullTime } from '../lib/format';
import { stripControls } from '../lib/sanitize';
import { useThreadContext } from './context';
import { MessageMenu } from './MessageMenu';
import { RoutingReason } from './RoutingReason';
import type { PromptRow } from './rows/rows';

const LONG = 2400;
const MANY_LINES = 30;
const WORKDIR_MISSING = 'workdir_missing';

/** A prompt; grey until it is confirmed, with actions if it failed. */
export function Prompt({ row }: { row: PromptRow }) {
  const { message, text, images } = row;
  const clean = stripControls(text);
  return (
    <article
      class="you"
      data-state={message.optimistic ?? 'said'}
      aria-label={message.role === 'assistant' ? 'Claude' : 'You'}
      title={fullTime(message.timestamp) || undefined}
      tabIndex={-1}
    >
      <div class="you-line">
        <div class="bubble">
          <Images images={images} />
          {clean && <Words name={row.key} text={clean} />}
        </div>
        {message.optimistic === undefined && (
          <MessageMenu uuid={message.uuid} timestamp={message.timestamp} text={clean} />
        )}
      </div>
      {message.optimistic === 'sending' && (
        <p class="you-note" role="status">
          Sending…
        </p>
      )}
      {message.optimistic === 'failed' && <NotSent message={message} />}
      <RoutingReason uuid={message.uuid} />
    </article>
  );
}

/** Why it was not sent, with buttons to send it again or to edit it. */
function NotSent({ message: { uuid, problem, heading, code } }: { message: VisibleMessage }) {
  const { onRetry, onEdit, onOtherDirectory } = useThreadContext();
  return (
    <div class="you-note bad">
      <p role="alert">
        <b>{heading ?? 'Not sent.'}</b> <span dir="auto">{problem}</span>
      </p>
      {code === WORKDIR_MISSING && (
        <button type="button" class="primary" onClick={() => onOtherDirectory(uuid)}>
          Choose another directory
        </button>
      )}
      <button type="button" onClick={() => onRetry(uuid)}>
        Send again
      </button>
      <button type="button" class="quiet" onClick={() => onEdit(uuid)}>
        Edit
      </button>
    </div>
  );
}

/** A pasted log is a prompt too: it opens on demand. */
function Words({ name, text }: { name: string; text: string }) {
  const { expandState, hold } = useThreadContext();
  const open = expandState.signalOf(`${name}/words`);
  const long = text.length > LONG || text.split('\n', MANY_LINES + 1).length > MANY_LINES;
  const visible = long && !open.value ? shortened(text) : text;
  return (
    <>
      <p class="you-words" dir="auto">
        {visible}
      </p>
      {long && (
        <button
          type="button"
          class="quiet more"
          aria-expanded={open.value}
          onClick={() => {
            hold();
            open.value = !open.value;
          }}
        >
          {open.value ? 'Show less' : 'Show all of it'}
        </button>
      )}
    </>
  );
}

function shortened(text: string): string {
  return `${text.split('\n', MANY_LINES).join('\n').slice(0, LONG).trimEnd()} …`;
}
