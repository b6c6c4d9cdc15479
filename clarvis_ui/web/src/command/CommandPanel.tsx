import { CommandForm, type CommandFormProps } from './CommandForm';

/** The bar as the main thing of a page on which nothing else is open. */
export function CommandPanel(props: CommandFormProps) {
  return (
    <section class="say-panel" aria-label="Say what you want">
      <h1>What should Claude do?</h1>
      <CommandForm {...props} />
    </section>
  );
}
