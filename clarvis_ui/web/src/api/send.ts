/** What is asked and answered when one talks to a session. */

import { each, fields, text, verbatim } from './decode';
import type { Block } from './messages';

/** `sessionId`, or for a new session `workdir`. */
export interface Prompt {
  sessionId?: string;
  workdir?: string;
  content: readonly Block[];
  uuid: string;
  model?: string;
  permissionMode?: string;
  /** Stand in line while every place is taken, or until nobody else runs the session; so it is
   * where nothing is said. */
  wait?: boolean;
  /** Go on in a copy of the session. */
  fork?: boolean;
  /** The answer by which it goes where it goes. */
  routing?: string;
  /** Stop the turn that runs, and be said next. */
  interrupt?: boolean;
  /** Appended to Claude Code's own. */
  systemPrompt?: string;
}

/** What is changed of how a session goes on; `systemPrompt: null` clears it. */
export interface ModeChange {
  permissionMode?: string;
  model?: string;
  systemPrompt?: string | null;
}

/** What people chose for a session. */
export interface Settings {
  systemPrompt: string | null;
}

export function readSettings(raw: unknown): Settings | null {
  const given = fields(raw);
  return given && { systemPrompt: verbatim(given.systemPrompt) || null };
}

export interface Accepted {
  sessionId: string;
  state: string | null;
}

export interface SlashCommand {
  name: string;
  description: string | null;
  argumentHint: string | null;
}

export interface Model {
  value: string;
  displayName: string;
  description: string | null;
}

/** What a session, or a directory, offers to whoever talks there. */
export interface Offers {
  commands: SlashCommand[];
  models: Model[];
  modes: string[];
}

export interface Directory {
  name: string;
  path: string;
}

export interface Directories {
  /** Null where the list is that of the places one may begin at. */
  path: string | null;
  parent: string | null;
  directories: Directory[];
}

export function readAccepted(raw: unknown): Accepted | null {
  const given = fields(raw);
  const sessionId = given && text(given.sessionId);
  return given && sessionId ? { sessionId, state: text(given.state) } : null;
}

function readCommand(raw: unknown): SlashCommand | null {
  const given = fields(raw);
  const name = given && text(given.name);
  if (!given || !name) return null;
  return {
    name: name.replace(/^\//, ''),
    description: text(given.description),
    argumentHint: text(given.argumentHint),
  };
}

function readModel(raw: unknown): Model | null {
  const given = fields(raw);
  const value = given && text(given.value);
  if (!given || !value) return null;
  return {
    value,
    displayName: text(given.displayName) ?? value,
    description: text(given.description),
  };
}

export function readOffers(raw: unknown): Offers | null {
  const given = fields(raw);
  return (
    given && {
      commands: each(given.commands, readCommand),
      models: each(given.models, readModel),
      modes: each(given.modes, text),
    }
  );
}

function readDirectory(raw: unknown): Directory | null {
  const given = fields(raw);
  const path = given && text(given.path);
  return given && path ? { name: text(given.name) ?? path, path } : null;
}

export function readDirectories(raw: unknown): Directories | null {
  const given = fields(raw);
  if (!given || !Array.isArray(given.directories)) return null;
  return {
    path: text(given.path),
    parent: text(given.parent),
    directories: each(given.directories, readDirectory),
  };
}
