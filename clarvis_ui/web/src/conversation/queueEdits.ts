/** Moves queued messages back into the message field. Each is in the field before it leaves the
 * queue, so that a lost answer loses no words. */

import type { Api } from '../api/client';
import { fields } from '../api/decode';
import type { Block, Queued } from '../api/messages';
import { type Failure, MESSAGE_NOT_FOUND, MESSAGE_TAKEN, SEND_AGAIN } from '../api/result';
import type { Draft } from '../composer/drafts';
import { type AttachedImage, imagesOf } from '../composer/images';
import { counted } from '../lib/format';
import type { OptimisticMessage } from './optimistic';

/** The message field. */
export interface DraftField {
  readonly current: Draft;
  write(draft: Draft): void;
}

export interface SessionQueue {
  id: string;
  api: Pick<Api, 'waiting' | 'cancelQueued'>;
  /** Our messages, with their images. */
  optimistic: readonly OptimisticMessage[];
  withdrawn(uuid: string): void;
}

/** Whether Claude has the message. */
function isTakenByClaude({ code, choices = [] }: Failure): boolean {
  return code === MESSAGE_TAKEN && !choices.includes(SEND_AGAIN);
}

/** Whether it left the queue, though perhaps not to Claude: another tab may have taken it back. */
function isElsewhere({ code }: Failure): boolean {
  return code === MESSAGE_TAKEN || code === MESSAGE_NOT_FOUND;
}

/** Appends these messages to the draft and takes them out of the queue. Returns the problem, or ''. */
export async function moveIntoDraft(
  queue: readonly Queued[],
  session: SessionQueue,
  field: DraftField,
): Promise<string> {
  const messages = await readContents(queue, session);
  if (typeof messages === 'string') return messages;
  const before = field.current;
  const after = withMessages(before, messages);
  field.write(after);

  const returned: Content[] = [];
  let late = 0;
  let elsewhere = 0;
  let problem = '';
  for (const message of messages) {
    const outcome = await session.api.cancelQueued(session.id, message.uuid);
    if (outcome.ok) {
      session.withdrawn(message.uuid);
      returned.push(message);
    } else if (isTakenByClaude(outcome.failure)) late += 1;
    else if (isElsewhere(outcome.failure)) {
      elsewhere += 1;
      // all tabs share one draft: another tab may have put this text into it
      if (message.text === '' || !before.text.includes(message.text)) returned.push(message);
    } else {
      // it may still be in the queue: its text stays in the field as well
      returned.push(message);
      problem = `${outcome.failure.sentence} What could not be taken back may still be in line.`;
      break;
    }
  }
  // if the person typed on meanwhile, the whole draft stays
  if (returned.length < messages.length && field.current === after) {
    field.write(withMessages(before, returned));
  }
  if (problem === '' && late > 0) {
    return messages.length === 1
      ? 'It was too late to take it back.'
      : `It was too late to take back ${counted(late, 'message')}.`;
  }
  return problem || (elsewhere > 0 ? ELSEWHERE : '');
}

const ELSEWHERE = 'It waited in line no more. Its words may stand in another place too.';

interface Content {
  uuid: string;
  text: string;
  images: readonly AttachedImage[];
}

/** The contents of queued messages; a sentence where the field cannot hold them. */
async function readContents(
  queue: readonly Queued[],
  session: SessionQueue,
): Promise<Content[] | string> {
  const contents = new Map<string, readonly Block[]>(
    session.optimistic
      .filter(({ uuid, images }) => queue.some((one) => one.uuid === uuid && one.images === images))
      .map(({ uuid, content }) => [uuid, content]),
  );
  if (queue.some(({ uuid, images }) => images > 0 && !contents.has(uuid))) {
    const outcome = await session.api.waiting(session.id);
    if (!outcome.ok) return outcome.failure.sentence;
    for (const { uuid, content } of outcome.value) contents.set(uuid, content);
  }
  const messages = queue.map(({ uuid, text, images }) => ({
    uuid,
    text,
    count: images,
    images: imagesOf(contents.get(uuid) ?? []),
    whole: (contents.get(uuid) ?? []).every(fitsIntoField),
  }));
  if (messages.some(({ images, count, whole }) => !whole || images.length !== count)) {
    return 'This has more than words and images, which the field cannot hold. It stays in line.';
  }
  return messages;
}

function fitsIntoField(block: Block): boolean {
  return (
    block.type === 'text' || (block.type === 'image' && fields(block.source)?.type === 'base64')
  );
}

function withMessages(draft: Draft, messages: readonly Content[]): Draft {
  if (messages.length === 0) return draft;
  return {
    text: [draft.text.trim(), ...messages.map(({ text }) => text)].filter(Boolean).join('\n\n'),
    images: [...draft.images, ...messages.flatMap(({ images }) => images)],
  };
}
