import type { Category, Coverage, KeyPoint } from '../api/resume';
import { fullTime, spoken } from '../lib/format';
import './checklist.css';

const GROUPS = [
  ['complete', 'Complete'],
  ['in_progress', 'In progress'],
  ['not_started', 'Not started'],
] as const;

/** The project's checklist by category, in three groups, and what to talk about next. */
export function Checklist({ coverage }: { coverage: Coverage }) {
  const { items, done, percent, readiness, categories, next, read } = coverage;
  return (
    <section class="checklist" aria-label="The project’s checklist">
      <h3>The project’s checklist</h3>
      <p>
        {done} of {items} covered ({percent}&nbsp;%), readiness {readiness} of 100.
        {!read && ' The session is still being read; this will be more.'}
      </p>
      {GROUPS.map(([status, title]) => (
        <Group
          key={status}
          title={title}
          categories={categories.filter((category) => category.status === status)}
        />
      ))}
      {next && (
        <p class="checklist-next" dir="auto">
          Suggested next topic: <b>{spoken(next.category)}</b>, {next.item}
        </p>
      )}
    </section>
  );
}

function Group({ title, categories }: { title: string; categories: readonly Category[] }) {
  if (categories.length === 0) return null;
  return (
    <div class="checklist-group">
      <h4>{title}</h4>
      {categories.map((category) => (
        <details key={category.name} class="checklist-category">
          <summary>
            <span dir="auto">{spoken(category.name)}</span>
            <progress
              value={category.done}
              max={category.items}
              aria-label={spoken(category.name)}
            />
            <span class="checklist-share">
              {category.done} of {category.items}
            </span>
          </summary>
          <Inside category={category} />
        </details>
      ))}
    </div>
  );
}

/** A category: the key points, Claude's last question and what is missing. */
function Inside({ category }: { category: Category }) {
  const { confidence, discussed, asked: lastQuestion, keyPoints, missing } = category;
  const facts = [
    confidence !== null && `confidence ${Math.round(confidence * 100)} %`,
    discussed !== null && `discussed last ${fullTime(discussed)}`,
  ].filter(Boolean);
  return (
    <div class="checklist-inside">
      {facts.length > 0 && <p class="checklist-known">{facts.join(', ')}</p>}
      <Lines title="You said" lines={keyPoints} />
      {lastQuestion && <Lines title="Claude asked last" lines={[lastQuestion]} />}
      <Lines title="Missing" lines={missing.map((text) => ({ text, at: null }))} />
    </div>
  );
}

function Lines({ title, lines }: { title: string; lines: readonly KeyPoint[] }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h5>{title}</h5>
      <ul>
        {lines.map(({ text, at }, index) => (
          <li key={index} dir="auto" title={fullTime(at) || undefined}>
            {text}
          </li>
        ))}
      </ul>
    </>
  );
}
