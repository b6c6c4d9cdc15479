/**
 * The content of a message as Claude Code wrote it, read defensively: what is not understood is
 * kept as an unknown block and shown as such.
 */

export type Fields = Readonly<Record<string, unknown>>;

export interface ImageBlock {
  mediaType: string;
  data: string;
}

export interface ToolUse {
  type: 'tool_use';
  id: string;
  name: string;
  input: Fields;
}

export interface ToolResult {
  type: 'tool_result';
  toolUseId: string;
  text: string;
  images: readonly ImageBlock[];
  isError: boolean;
}

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string }
  | ({ type: 'image' } & ImageBlock)
  | ToolUse
  | ToolResult
  | { type: 'unknown'; name: string; raw: unknown };

export function fieldsOf(raw: unknown): Fields {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? (raw as Fields) : {};
}

export function stringOf(raw: unknown): string {
  return typeof raw === 'string' ? raw : '';
}

export function listOf(raw: unknown): readonly unknown[] {
  return Array.isArray(raw) ? raw : [];
}

const read = new WeakMap<object, readonly ContentBlock[]>();

/** The blocks of a message's content, read once. */
export function blocksOf(content: unknown): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  let blocks = read.get(content);
  if (!blocks) {
    blocks = content.map(blockOf);
    read.set(content, blocks);
  }
  return blocks;
}

function blockOf(raw: unknown): ContentBlock {
  if (typeof raw === 'string') return { type: 'text', text: raw };
  const given = fieldsOf(raw);
  switch (given.type) {
    case 'text':
      return { type: 'text', text: stringOf(given.text) };
    case 'thinking':
      return { type: 'thinking', text: stringOf(given.thinking) };
    case 'redacted_thinking':
      return { type: 'thinking', text: '' };
    case 'image':
      return imageOf(given) ?? { type: 'unknown', name: 'image', raw };
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return {
        type: 'tool_use',
        id: stringOf(given.id),
        name: stringOf(given.name) || 'Tool',
        input: fieldsOf(given.input),
      };
    case 'tool_result':
    case 'mcp_tool_result':
    case 'web_search_tool_result':
      return resultOf(given);
    default:
      return { type: 'unknown', name: stringOf(given.type) || 'block', raw };
  }
}

function imageOf(given: Fields): ({ type: 'image' } & ImageBlock) | null {
  const source = fieldsOf(given.source);
  const mediaType = stringOf(source.media_type);
  const data = stringOf(source.data);
  return mediaType && data ? { type: 'image', mediaType, data } : null;
}

function resultOf(given: Fields): ToolResult {
  const words: string[] = [];
  const images: ImageBlock[] = [];
  const content = given.content;
  if (typeof content === 'string') words.push(content);
  for (const part of listOf(content)) {
    const block = blockOf(part);
    if (block.type === 'text') words.push(block.text);
    else if (block.type === 'image') images.push(block);
    else words.push(stringOf(fieldsOf(part).tool_name) || prettyJson(part));
  }
  return {
    type: 'tool_result',
    toolUseId: stringOf(given.tool_use_id),
    text: words.join('\n'),
    images,
    isError: given.is_error === true,
  };
}

export function prettyJson(raw: unknown): string {
  return JSON.stringify(raw, null, 2) ?? '';
}
