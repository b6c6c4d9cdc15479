import { CommandDialog } from './CommandDialog';
import { CommandForm, type CommandFormProps } from './CommandForm';
import { SentNotices } from './SentNotices';

/** The bar as the main thing of a page on which nothing else is open. */
export function CommandPanel(props: CommandFormProps) {
  return (
    <section class="say-panel" aria-label="Say what you want">
      <h1>What should Claude do?</h1>
      <CommandForm {...props} />
    </section>
  );
}

/** What lies over the page: the notices of sent commands, and the open command bar. */
export function CommandOverlay(props: CommandFormProps & { onEdit(): void }) {
  const { onEdit, ...form } = props;
  return (
    <>
      <SentNotices commandSetup={form.commandSetup} onEdit={onEdit} />
      {form.commandSetup.command.isOpen.value && <CommandDialog {...form} />}
    </>
  );
}
