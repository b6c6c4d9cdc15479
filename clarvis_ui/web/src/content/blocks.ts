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
  const block = fieldsOf(raw);
  switch (block.type) {
    case 'text':
      return { type: 'text', text: stringOf(block.text) };
    case 'thinking':
      return { type: 'thinking', text: stringOf(block.thinking) };
    case 'redacted_thinking':
      return { type: 'thinking', text: '' };
    case 'image':
      return imageOf(block) ?? { type: 'unknown', name: 'image', raw };
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return {
        type: 'tool_use',
        id: stringOf(block.id),
        name: stringOf(block.name) || 'Tool',
        input: fieldsOf(block.input),
      };
    case 'tool_result':
    case 'mcp_tool_result':
    case 'web_search_tool_result':
      return resultOf(block);
    default:
      return { type: 'unknown', name: stringOf(block.type) || 'block', raw };
  }
}

function imageOf(block: Fields): ({ type: 'image' } & ImageBlock) | null {
  const source = fieldsOf(block.source);
  const mediaType = stringOf(source.media_type);
  const data = stringOf(source.data);
  return mediaType && data ? { type: 'image', mediaType, data } : null;
}

function resultOf(block: Fields): ToolResult {
  const words: string[] = [];
  const images: ImageBlock[] = [];
  const content = block.content;
  if (typeof content === 'string') words.push(content);
  for (const part of listOf(content)) {
    const block = blockOf(part);
    if (block.type === 'text') words.push(block.text);
    else if (block.type === 'image') images.push(block);
    else words.push(stringOf(fieldsOf(part).tool_name) || prettyJson(part));
  }
  return {
    type: 'tool_result',
    toolUseId: stringOf(block.tool_use_id),
    text: words.join('\n'),
    images,
    isError: block.is_error === true,
  };
}

export function prettyJson(raw: unknown): string {
  return JSON.stringify(raw, null, 2) ?? '';
}
