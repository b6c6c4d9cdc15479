/** What is sent to a session, and what is offered there. */

import { type Decoded, each, fields, fieldsOf, type Raw, text } from './decode';
import type { Block } from './messages';
import type * as Wire from './schema';

/** A send request; `content` is read-only, and `uuid` is there before it is sent. */
export type Prompt = NotNull<
  Pick<Wire.SendRequest, 'sessionId' | 'workdir' | 'model' | 'routing' | 'systemPrompt'>
> &
  Pick<Wire.SendRequest, 'wait' | 'fork' | 'interrupt'> & {
    content: readonly Block[];
    uuid: string;
    /** One of those that Claude Code offers, which may have more than the contract. */
    permissionMode?: string;
  };

/** What is changed of how a session goes on; `systemPrompt: null` clears it. */
export type ModeChange = NotNull<Pick<Wire.SettingsChange, 'model'>> &
  Pick<Wire.SettingsChange, 'systemPrompt'> & { permissionMode?: string };

type NotNull<T> = { [Name in keyof T]: NonNullable<T[Name]> };

/** What people chose for a session. */
export type Settings = Decoded<typeof readSettings>;
export type Accepted = Decoded<typeof readAccepted>;
export type SlashCommand = Decoded<typeof readCommand>;
export type Model = Decoded<typeof readModel>;
/** What a session, or a directory, offers to whoever talks there. */
export type Capabilities = Decoded<typeof readCapabilities>;
export type Directory = Decoded<typeof readDirectory>;
export type Directories = Decoded<typeof readDirectories>;

export function readSettings(raw: unknown) {
  const settings = fieldsOf<Wire.SettingsBody>(raw);
  return settings && { systemPrompt: text(settings.systemPrompt) };
}

export function readAccepted(raw: unknown) {
  const accepted = fieldsOf<Wire.SendAccepted>(raw);
  const sessionId = text(accepted?.sessionId);
  return accepted && sessionId ? { sessionId, state: text(accepted.state) } : null;
}

function readCommand(raw: Raw<Wire.SlashCommand>) {
  const command = fields(raw);
  const name = text(command?.name);
  if (!command || !name) return null;
  return {
    name: name.replace(/^\//, ''),
    description: text(command.description),
    argumentHint: text(command.argumentHint),
  };
}

function readModel(raw: Raw<Wire.Model>) {
  const model = fields(raw);
  const value = text(model?.value);
  if (!model || !value) return null;
  return {
    value,
    displayName: text(model.displayName) ?? value,
    description: text(model.description),
  };
}

export function readCapabilities(raw: unknown) {
  const capabilities = fieldsOf<Wire.Capabilities>(raw);
  return (
    capabilities && {
      commands: each(capabilities.commands, readCommand),
      models: each(capabilities.models, readModel),
      modes: each(capabilities.modes, text),
    }
  );
}

function readDirectory(raw: Raw<Wire.Directory>) {
  const directory = fields(raw);
  const path = text(directory?.path);
  return directory && path ? { name: text(directory.name) ?? path, path } : null;
}

export function readDirectories(raw: unknown) {
  const list = fieldsOf<Wire.Directories>(raw);
  if (!list || !Array.isArray(list.directories)) return null;
  return {
    /** Null for the list of the roots, which is Clarvis's own. */
    path: text(list.path),
    parent: text(list.parent),
    directories: each(list.directories, readDirectory),
  };
}
