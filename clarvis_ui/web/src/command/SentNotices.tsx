import { sessionHref } from '../app/routes';
import { Icon } from '../ui/Icon';
import { useNow } from '../ui/useNow';
import type { CommandSetup } from './setup';
import type { PendingCommand } from './undoSend';
import './sent-notices.css';

export interface SentNoticesProps {
  commandSetup: CommandSetup;
  /** Where what was undone is written again. */
  onEdit(): void;
}

/** Notices of sent commands: held back, being sent, sent. */
export function SentNotices({ commandSetup, onEdit }: SentNoticesProps) {
  const { undoSend, command } = commandSetup;

  function undo(uuid: string): void {
    const words = undoSend.undo(uuid);
    if (words === null) return;
    command.write([words, command.text.value.trim()].filter(Boolean).join('\n\n'));
    onEdit();
  }

  return (
    <ul class="way" aria-label="On its way">
      {undoSend.entries.value.map((entry) => (
        <li key={entry.uuid} class="way-one" data-state={entry.state}>
          <p role={entry.state === 'unsent' ? 'alert' : 'status'}>
            <SentText entry={entry} />
          </p>
          <div class="way-buttons">
            {entry.state === 'held' && (
              <>
                <button type="button" onClick={() => undo(entry.uuid)}>
                  Undo
                </button>
                <button type="button" class="quiet" onClick={() => undoSend.send(entry.uuid)}>
                  Send now
                </button>
              </>
            )}
            {entry.state === 'unsent' && (
              <>
                {entry.elsewhere ? (
                  <button type="button" onClick={() => undoSend.sendToCopy(entry.uuid)}>
                    Go on in a copy
                  </button>
                ) : (
                  <button type="button" onClick={() => undoSend.send(entry.uuid)}>
                    Send again
                  </button>
                )}
                <button type="button" class="quiet" onClick={() => undo(entry.uuid)}>
                  Edit
                </button>
              </>
            )}
            {entry.state === 'sent' && (
              <button
                type="button"
                class="quiet"
                aria-label="Dismiss"
                onClick={() => undoSend.dismiss(entry.uuid)}
              >
                <Icon name="clear" />
              </button>
            )}
          </div>
          {entry.state === 'held' && <Countdown due={entry.due} />}
        </li>
      ))}
    </ul>
  );
}

function SentText({ entry }: { entry: PendingCommand }) {
  const { way: destination, text, state, sessionId, problem } = entry;
  const resumed = destination.kind === 'resume';
  const name = <bdi>{resumed ? destination.title : text}</bdi>;
  switch (state) {
    case 'held':
      return (
        <>
          <b>{resumed ? 'Continues' : 'Starts'}:</b> {name}
          {resumed && destination.leavesPlanFor && <> · leaves plan mode</>}
        </>
      );
    case 'going':
      return (
        <>
          <b>Sending:</b> {name}
        </>
      );
    case 'sent':
      return (
        <>
          <b>{resumed ? 'Continuing' : 'Started'}:</b>{' '}
          <a href={sessionHref(sessionId ?? '')}>{name}</a>
        </>
      );
    case 'unsent':
      return (
        <>
          <b>Not sent.</b> {problem} <bdi>{text}</bdi>
        </>
      );
    default:
      return state satisfies never;
  }
}

function Countdown({ due }: { due: number }) {
  const now = useNow(200);
  const seconds = Math.max(1, Math.ceil((due - now) / 1000));
  return (
    <p class="way-countdown" aria-hidden="true">
      in {seconds} s
    </p>
  );
}
