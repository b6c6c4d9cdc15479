/**
 * In place of the field: nothing that would be sent here could arrive. `draft` is what was typed
 * before it broke.
 */
export function UnreadableNotice({ draft }: { draft: string }) {
  return (
    <section class="unusable" aria-label="Cannot be continued">
      <p>
        <b>Claude Code cannot go on with this session.</b> A new one can begin in its directory.
      </p>
      {draft !== '' && (
        <p>
          What you had typed: <q dir="auto">{draft}</q>
        </p>
      )}
    </section>
  );
}
