import { expect, test } from 'vitest';
import { inputHistory } from '../../src/composer/inputHistory';
import { emptyConversation } from '../../src/conversation/conversation';
import { message } from '../support/world';

test('arrow-up has what was typed, commands included, each once, the last first', () => {
  const words = (uuid: string, text: string, kind: 'prompt' | 'command' = 'prompt') =>
    message(uuid, { kind, content: [{ type: 'text', text }] });
  const messages = [
    words('a', 'first'),
    words('b', '<command-name>/model</command-name><command-args>haiku</command-args>', 'command'),
    words('c', '<local-command-stdout>Set model to haiku</local-command-stdout>', 'command'),
    words('d', '<system-reminder>not typed</system-reminder>second'),
    words('e', 'first'),
    message('f', { role: 'assistant', kind: 'reply' }),
  ];
  expect(inputHistory({ ...emptyConversation('s'), messages })).toEqual([
    'first',
    'second',
    '/model haiku',
  ]);
});
