import type { Block, VisibleMessage } from '../../src/conversation/conversation';

/** Messages for tests, as the keeper would give them. */
export function message(uuid: string, changes: Partial<VisibleMessage> = {}): VisibleMessage {
  return {
    uuid,
    sessionId: 's',
    role: 'assistant',
    content: [],
    timestamp: null,
    kind: 'reply',
    messageId: null,
    parentUuid: null,
    model: null,
    usage: null,
    agentId: null,
    parentToolUseId: null,
    branch: null,
    deniedBy: null,
    ...changes,
  };
}

export function prompt(
  uuid: string,
  text: string,
  more: Partial<VisibleMessage> = {},
): VisibleMessage {
  return message(uuid, {
    role: 'user',
    kind: 'prompt',
    content: [{ type: 'text', text }],
    ...more,
  });
}

export function reply(
  uuid: string,
  text: string,
  more: Partial<VisibleMessage> = {},
): VisibleMessage {
  return message(uuid, { content: [{ type: 'text', text }], ...more });
}

export function call(
  uuid: string,
  id: string,
  name: string,
  input: unknown = {},
  more: Partial<VisibleMessage> = {},
): VisibleMessage {
  const block = { type: 'tool_use', id, name, input } as Block;
  return message(uuid, { content: [block], ...more });
}

export function result(
  uuid: string,
  id: string,
  content: unknown = 'done',
  isError = false,
): VisibleMessage {
  const block = { type: 'tool_result', tool_use_id: id, content, is_error: isError } as Block;
  return message(uuid, { role: 'user', kind: 'toolResult', content: [block] });
}

export function lineMessage(
  uuid: string,
  kind: VisibleMessage['kind'],
  text: string,
  role: VisibleMessage['role'] = 'user',
): VisibleMessage {
  return message(uuid, { role, kind, content: [{ type: 'text', text }] });
}
