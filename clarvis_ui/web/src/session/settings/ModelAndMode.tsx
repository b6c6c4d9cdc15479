import type { Offers } from '../../api/send';
import type { Session } from '../../api/sessions';
import { Choice } from '../../ui/Select';
import { modelName } from '../contextUsage';
import { modeWords } from './modeLabels';

export interface SwitchProps {
  session: Session;
  offers: Offers | null;
  onOffersWanted(): void;
  onMode(mode: { permissionMode?: string; model?: string }): void;
}

export function ModelChoice({ session, offers, onOffersWanted, onMode }: SwitchProps) {
  const known = offers?.models.find(
    ({ value, displayName }) => value === session.model || displayName === session.model,
  );
  return (
    <Choice
      label="Model"
      shown={known?.displayName ?? (session.model === null ? 'Model' : modelName(session.model))}
      value={known?.value ?? session.model}
      options={
        offers === null
          ? null
          : offers.models.map(({ value, displayName, description }) => ({
              value,
              label: displayName,
              description,
            }))
      }
      onWant={onOffersWanted}
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

export function ModeChoice({ session, offers, onOffersWanted, onMode }: SwitchProps) {
  const mode = session.permissionMode ?? 'default';
  return (
    <Choice
      label="Permission mode"
      shown={modeWords(mode)}
      value={mode}
      options={
        offers === null
          ? null
          : offers.modes.map((value) => ({
              value,
              label: modeWords(value),
              description: MEANING[value] ?? null,
            }))
      }
      onWant={onOffersWanted}
      onChoose={(permissionMode) => onMode({ permissionMode })}
    />
  );
}
