import type { Block, VisibleMessage } from '../src/conversation/conversation';

/** A made-up conversation: the same number gives the same messages. */

const WORDS =
  'the quick brown fox jumps over a lazy dog while every test runs and no line is read twice'.split(
    ' ',
  );

export function conversation(amount: number): VisibleMessage[] {
  return new Author().messages(amount);
}

/** One long reply with everything that markdown has, for streaming. */
export function longReply(characters: number): string {
  const author = new Author();
  let text = '';
  while (text.length < characters) text += `${author.answer()}\n\n`;
  return text.slice(0, characters);
}

class Author {
  private seed = 7;
  private count = 0;

  messages(amount: number): VisibleMessage[] {
    const messages: VisibleMessage[] = [];
    while (messages.length < amount) {
      messages.push(this.message('user', 'prompt', [{ type: 'text', text: this.words(5, 35) }]));
      for (let step = 0; step < 4; step += 1) {
        messages.push(this.message('assistant', 'reply', [{ type: 'text', text: this.answer() }]));
        messages.push(...this.call(), ...this.call());
      }
    }
    return messages.slice(0, amount);
  }

  answer(): string {
    const code = this.chance() < 0.3 ? '```py\ndef f(x):\n    return x + 1\n```\n\n' : '';
    return `${this.words(20, 80)}\n\n${code}- ${this.words(4, 8)}\n- **${this.words(2, 5)}** \`code\``;
  }

  private call(): VisibleMessage[] {
    const id = `tool-${this.count}`;
    const kind = Math.floor(this.chance() * 3);
    const [name, input] = [
      ['Bash', { command: `pytest tests/${this.words(1, 2)}` }],
      [
        'Edit',
        {
          file_path: '/code/app/src/login.py',
          old_string: `${this.words(4, 9)}\n${this.words(4, 9)}`,
          new_string: `${this.words(4, 9)}\n${this.words(4, 9)}`,
        },
      ],
      ['Read', { file_path: '/code/app/src/logout.py' }],
    ][kind] as [string, Record<string, string>];
    const content = `${this.words(20, 40)}\n${this.words(20, 40)}`;
    return [
      this.message('assistant', 'reply', [{ type: 'tool_use', id, name, input } as Block]),
      this.message('user', 'toolResult', [
        { type: 'tool_result', tool_use_id: id, content } as Block,
      ]),
    ];
  }

  private message(
    role: VisibleMessage['role'],
    kind: VisibleMessage['kind'],
    content: readonly Block[],
  ): VisibleMessage {
    this.count += 1;
    return {
      uuid: `${this.count}-${Math.floor(this.chance() * 1e9)}`,
      sessionId: 'measured',
      role,
      content,
      timestamp: null,
      kind,
      messageId: null,
      parentUuid: null,
      model: null,
      usage: null,
      agentId: null,
      parentToolUseId: null,
      branch: null,
      deniedBy: null,
    };
  }

  private words(least: number, most: number): string {
    const amount = least + Math.floor(this.chance() * (most - least));
    return Array.from(
      { length: amount },
      () => WORDS[Math.floor(this.chance() * WORDS.length)],
    ).join(' ');
  }

  private chance(): number {
    this.seed = (this.seed * 16807) % 2147483647;
    return this.seed / 2147483647;
  }
}
