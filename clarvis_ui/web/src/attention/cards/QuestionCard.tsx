import type { Answer } from '../../api/attention';
import { Markdown } from '../../content/Markdown';
import { isComposing } from '../../lib/input';
import { type ChoiceDraft, NO_CHOICE } from '../answerDrafts';
import type { CardProps } from './cardProps';
import { type Question, questionsOf } from './presentation';
import { ReasonField } from './ReasonField';
import { isSecondClick } from './useDoubleClickGuard';
import { useShortcuts } from './useShortcuts';

/** Questions as a form with options and a field for other answers. */
export function QuestionCard(props: CardProps) {
  const { attention, ready, keys, headingId, draft, onHalf, onAnswer } = props;
  const { choices } = draft;
  const questions = questionsOf(attention.input);
  const refusing = draft.open !== null;
  const setRefusing = (open: boolean): void => onHalf({ open: open ? 'deny' : null, text: null });
  const choiceOf = (question: Question): ChoiceDraft => choices[question.question] ?? NO_CHOICE;
  const set = (question: Question, choice: ChoiceDraft): void =>
    onHalf({ choices: { ...choices, [question.question]: choice } });
  const complete = questions.length > 0 && questions.every((one) => isAnswered(choiceOf(one)));

  function submit(): void {
    if (!complete || !ready) return;
    const answers = Object.fromEntries(
      questions.map((question) => [question.question, answerOf(question, choiceOf(question))]),
    );
    onAnswer({ decision: 'allow', answers } satisfies Answer);
  }

  const open = questions.find((question) => !isAnswered(choiceOf(question))) ?? questions.at(-1);
  const numbered = Object.fromEntries(
    (open?.options ?? []).map(({ label }, at) => [
      String(at + 1),
      () => open && set(open, picked(open, choiceOf(open), label)),
    ]),
  );
  useShortcuts(
    { ...numbered, Enter: submit, d: () => setRefusing(true) },
    keys && ready && !refusing,
  );

  return (
    <form
      class="card-form"
      aria-labelledby={headingId}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2 id={headingId} class={questions.length === 1 ? 'spoken' : 'card-count'}>
        {questions.length === 1 ? 'A question for you' : `${questions.length} questions for you`}
      </h2>
      <div class="card-evidence">
        {questions.map((question) => (
          <QuestionField
            key={question.question}
            question={question}
            choice={choiceOf(question)}
            numbered={question === open && keys}
            onChoice={(choice) => set(question, choice)}
          />
        ))}
      </div>
      {refusing ? (
        <ReasonField
          label="Say something else instead"
          placeholder="Optional: what Claude should know or do"
          text={draft.text ?? ''}
          onText={(text) => onHalf({ text })}
          submit="Do not answer"
          disabled={!ready}
          onSubmit={(text) => {
            const message = text.trim();
            onAnswer(message === '' ? { decision: 'deny' } : { decision: 'deny', message });
          }}
          onCancel={() => setRefusing(false)}
        />
      ) : (
        <div class="card-actions">
          <button
            type="submit"
            class="accent"
            disabled={!ready || !complete}
            onClick={(event) => {
              if (isSecondClick(event)) event.preventDefault();
            }}
          >
            Answer <kbd>Enter</kbd>
          </button>
          <button
            type="button"
            class="quiet card-last"
            disabled={!ready}
            onClick={() => setRefusing(true)}
          >
            Do not answer… <kbd>d</kbd>
          </button>
        </div>
      )}
    </form>
  );
}

interface FieldProps {
  question: Question;
  choice: ChoiceDraft;
  numbered: boolean;
  onChoice(choice: ChoiceDraft): void;
}

function QuestionField({ question, choice, numbered, onChoice }: FieldProps) {
  const type = question.many ? 'checkbox' : 'radio';
  const name = `question-${question.question}`;
  return (
    <fieldset class="question">
      <legend dir="auto">
        {question.header && <span class="question-header">{question.header}</span>}
        <Markdown text={question.question} />
      </legend>
      {question.options.map(({ label, description }, at) => (
        <label key={label} class="option">
          <input
            type={type}
            name={name}
            checked={choice.labels.includes(label)}
            onChange={() => onChoice(picked(question, choice, label))}
          />
          <span class="option-words" dir="auto">
            <b>{label}</b>
            {description && description !== label && (
              <span class="option-about">{description}</span>
            )}
          </span>
          {numbered && at < 9 && <kbd>{at + 1}</kbd>}
        </label>
      ))}
      <label class="option">
        <input
          type={type}
          name={name}
          checked={choice.typed}
          aria-label="Another answer"
          onChange={() =>
            onChoice({
              ...choice,
              typed: question.many ? !choice.typed : true,
              labels: question.many ? choice.labels : [],
            })
          }
        />
        <input
          type="text"
          class="option-other"
          dir="auto"
          placeholder="Something else…"
          aria-label={`Another answer to: ${question.question}`}
          value={choice.other}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || isComposing(event)) return;
            // it leaves this field, and does not stop Claude
            event.preventDefault();
            event.stopPropagation();
            event.currentTarget.blur();
          }}
          onInput={(event) =>
            onChoice({
              other: event.currentTarget.value,
              typed: event.currentTarget.value !== '',
              labels: question.many || event.currentTarget.value === '' ? choice.labels : [],
            })
          }
        />
      </label>
    </fieldset>
  );
}

/** The choice after an option was picked, or put back. */
function picked(question: Question, choice: ChoiceDraft, label: string): ChoiceDraft {
  if (!question.many) return { ...choice, labels: [label], typed: false };
  const labels = choice.labels.includes(label)
    ? choice.labels.filter((other) => other !== label)
    : [...choice.labels, label];
  return { ...choice, labels };
}

function isAnswered(choice: ChoiceDraft): boolean {
  return choice.labels.length > 0 || (choice.typed && choice.other.trim() !== '');
}

function answerOf(question: Question, choice: ChoiceDraft): string | readonly string[] {
  const typed = choice.typed && choice.other.trim() !== '' ? [choice.other.trim()] : [];
  const all = [
    ...question.options.map(({ label }) => label).filter((l) => choice.labels.includes(l)),
    ...typed,
  ];
  return question.many ? all : (all[0] as string);
}
