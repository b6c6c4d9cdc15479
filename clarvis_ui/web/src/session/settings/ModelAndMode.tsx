import type { Capabilities } from '../../api/send';
import type { Session } from '../../api/sessions';
import { Select } from '../../ui/Select';
import { modelName } from '../contextUsage';
import { modeLabel } from './modeLabels';

export interface ModelAndModeProps {
  session: Session;
  capabilities: Capabilities | null;
  onCapabilitiesNeeded(): void;
  onMode(mode: { permissionMode?: string; model?: string }): void;
}

export function ModelSelect({
  session,
  capabilities,
  onCapabilitiesNeeded,
  onMode,
}: ModelAndModeProps) {
  const model = capabilities?.models.find(
    ({ value, displayName }) => value === session.model || displayName === session.model,
  );
  return (
    <Select
      label="Model"
      display={model?.displayName ?? (session.model === null ? 'Model' : modelName(session.model))}
      value={model?.value ?? session.model}
      options={
        capabilities === null
          ? null
          : capabilities.models.map(({ value, displayName, description }) => ({
              value,
              label: displayName,
              description,
            }))
      }
      onWant={onCapabilitiesNeeded}
      onChoose={(model) => onMode({ model })}
    />
  );
}

/** What the modes mean, for those who choose one. */
const MEANING: Readonly<Record<string, string>> = {
  default: 'Asks before it changes anything',
  acceptEdits: 'Edits files without asking; asks before commands',
  plan: 'Looks and plans, changes nothing',
  bypassPermissions: 'Does everything without asking',
  dontAsk: 'Does what is allowed already, refuses the rest',
  auto: 'Judges by itself what is safe',
};

export function ModeSelect({
  session,
  capabilities,
  onCapabilitiesNeeded,
  onMode,
}: ModelAndModeProps) {
  const mode = session.permissionMode ?? 'default';
  return (
    <Select
      label="Permission mode"
      display={modeLabel(mode)}
      value={mode}
      options={
        capabilities === null
          ? null
          : capabilities.modes.map((value) => ({
              value,
              label: modeLabel(value),
              description: MEANING[value] ?? null,
            }))
      }
      onWant={onCapabilitiesNeeded}
      onChoose={(permissionMode) => onMode({ permissionMode })}
    />
  );
}
