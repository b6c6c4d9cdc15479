import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Queued } from '../api/messages';
import type { Session } from '../api/sessions';
import { sessionHref } from '../app/routes';
import type { AppStore } from '../app/store';
import { ArchivedNotice } from '../archive/ArchivedNotice';
import { AttentionSlot } from '../attention/cards/AttentionSlot';
import { openIn } from '../attention/inbox';
import { Composer } from '../composer/Composer';
import { HeldMessages } from '../composer/HeldMessages';
import { type AttachedImage, imagesOf } from '../composer/images';
import { inputHistory } from '../composer/inputHistory';
import { QueueChips } from '../composer/QueueChips';
import { withQuotation } from '../composer/quotedDecisions';
import { confirms, SpokenActionBar } from '../composer/SpokenActionBar';
import type { SpokenAction } from '../composer/spokenActions';
import { useDraft } from '../composer/useDraft';
import { useQueue } from '../composer/useQueue';
import { useSpokenAction } from '../composer/useSpokenAction';
import { type VisibleMessage, visibleMessages } from '../conversation/conversation';
import type { ConversationStore } from '../conversation/conversationStore';
import { isComposing, isTouch } from '../lib/input';
import type { NewSessionPreset } from '../newSession/store';
import { CompletedSession } from '../resume/CompletedSession';
import { Recap } from '../resume/Recap';
import { useRecap } from '../resume/useRecap';
import { missingWords } from '../sessions/labels';
import { Thread } from '../thread/Thread';
import { useRoutings } from '../thread/useRoutings';
import { contextUse } from './contextUsage';
import { DetailsDialog } from './DetailsDialog';
import { useForkOf } from './ForkOf';
import { forkAndOpen } from './fork';
import { InterruptedTurn, useInterruptedTurn } from './InterruptedTurn';
import { RunsElsewhere } from './RunsElsewhere';
import { SessionHeader } from './SessionHeader';
import { ModelSelect, ModeSelect } from './settings/ModelAndMode';
import { UnreadableNotice } from './UnreadableNotice';
import './session.css';

export interface SessionPageProps {
  app: AppStore;
  session: Session;
  conversationStore: ConversationStore;
  /** Offers to begin anew. */
  onFresh(fresh: NewSessionPreset): void;
}

/** One session: read it, answer it, talk to it. */
export function SessionPage({ app, session, conversationStore, onFresh }: SessionPageProps) {
  const { id } = session;
  const conversation = conversationStore.conversation.value;
  const [details, setDetails] = useState(false);
  const [draft, setDraft] = useDraft(app, id);
  const queue = useQueue(app, conversationStore, id, draft);
  const { problem, setProblem } = queue;
  const capabilities = app.capabilities.of(id).value;
  const forkOrigin = useForkOf(app, id);
  const messages = useComputed(() => visibleMessages(conversationStore.conversation.value)).value;
  const routed = useRoutings(app.api, id, messages);
  const recap = useRecap(app, session, conversation.loaded);
  const waiting = useWaiting(app, id);
  const context = useMemo(
    () => contextUse(conversation.messages, session.model),
    [conversation.messages, session.model],
  );
  const running = conversation.turn !== null || isRunning(session);

  const stop = useCallback(async () => {
    // messages sent before are held with the rest
    await conversationStore.settled();
    const outcome = await app.api.interrupt(id);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
  }, [app, id, conversationStore, setProblem]);
  useEscape(running, () => void stop());

  // errors of a keeper that was away are cleared when it is back
  const live = app.connection.value === 'live';
  useEffect(() => {
    if (live) setProblem('');
  }, [live]);

  function takeBack(uuid: string): void {
    const back = conversationStore.withdraw(uuid);
    if (back === null) return;
    const words = [draft.current.text.trim(), back.text].filter(Boolean).join('\n\n');
    const images = [...draft.current.images, ...imagesOf(back.content)];
    setDraft({ text: words, images });
    focusField();
  }

  async function edit(waiting: readonly Queued[]): Promise<void> {
    await queue.edit(waiting);
    focusField();
  }

  async function sendElsewhere(uuid: string, how: 'fork' | 'wait'): Promise<void> {
    const copy = await conversationStore.sendElsewhere(uuid, how);
    if (copy !== null) location.hash = sessionHref(copy);
  }

  async function changeMode(mode: { permissionMode?: string; model?: string }): Promise<void> {
    const outcome = await app.api.setMode(id, mode);
    setProblem(outcome.ok ? '' : outcome.failure.sentence);
    if (outcome.ok) app.sessions.update(outcome.value);
  }

  const fork = useCallback(
    async (at: string) => setProblem(await forkAndOpen(app, id, at)),
    [app, id],
  );
  const fetchSubagent = useCallback(
    async (agentId: string) => {
      const outcome = await app.api.subagent(id, agentId);
      if (outcome.ok) return outcome.value;
      throw new Error(outcome.failure.sentence);
    },
    [app, id],
  );

  const words = draft.value.text.trim();
  const isPlain = draft.value.images.length === 0 && messages.length > 0;
  const meant = useSpokenAction(app.api, session, words, isPlain);

  function send(text: string, images: readonly AttachedImage[], interrupt = false): void {
    setProblem('');
    conversationStore.send(text, images, interrupt);
    setDraft({ text: '', images: [] });
  }

  /** Does what a button would do, in place of sending the words. */
  async function perform(action: SpokenAction): Promise<void> {
    switch (action.kind) {
      case 'recap':
        recap.call(action.level);
        break;
      case 'skip':
        recap.call('dive');
        break;
      case 'alternative': {
        const last = messages.findLast((one) => one.optimistic === undefined);
        if (last) setProblem(await forkAndOpen(app, id, last.uuid));
        break;
      }
      case 'decided':
        // the field shows what would be sent
        setDraft({ text: action.words, images: [] });
        focusField();
    }
  }

  async function confirm(): Promise<void> {
    if (meant?.action.kind === 'decided') {
      if (meant.quotation && confirms(meant)) send(withQuotation(meant.quotation, words), []);
    } else if (meant) {
      setDraft({ text: '', images: [] });
      await perform(meant.action);
    }
  }

  // a spoken action of the command bar for this session
  const request = app.spokenRequest.value;
  useEffect(() => {
    if (request?.sessionId !== id || messages.length === 0) return;
    app.spokenRequest.value = null;
    void perform(request.action);
  }, [request, id, messages.length > 0]);

  const switches = {
    session,
    capabilities,
    onCapabilitiesNeeded: () => app.capabilities.want(id),
    onMode: (mode: { permissionMode?: string; model?: string }) => void changeMode(mode),
  };
  const isInterrupted = !running && wasInterrupted(session);
  const interrupted = useInterruptedTurn(app.api, id, isInterrupted, conversation.queue);
  const unanswered = useSignal<ReadonlySet<string>>(NO_CALLS);
  useEffect(() => {
    unanswered.value = new Set(interrupted.questions.map((one) => one.toolUseId ?? one.id));
  }, [interrupted, unanswered]);
  // the keeper would refuse every message
  const unusable = session.state === 'error';
  const missing = missingWords(session);

  return (
    <div class="session" data-session={id}>
      <SessionHeader
        {...switches}
        context={context}
        forkOrigin={forkOrigin}
        onRename={(name) => app.sessions.rename(id, name)}
        onDetails={() => setDetails(true)}
      />
      {missing && <p class="session-missing">{missing}</p>}
      {unusable && messages.length === 0 ? (
        <div class="session-broken">
          <h2>This session cannot be shown</h2>
          <p dir="auto">{session.error?.message}</p>
          <button type="button" onClick={() => setDetails(true)}>
            Details
          </button>
        </div>
      ) : (
        <Thread
          sessionId={id}
          workdir={session.workdir}
          messages={recap.ready ? messages : NONE}
          partial={conversationStore.partial}
          turn={conversation.turn}
          hasOlder={conversation.before !== null}
          loading={!recap.ready || !conversation.loaded || conversationStore.loading.value}
          expandState={app.expandStates.of(id)}
          onOlder={conversationStore.loadOlder}
          fetchSubagent={fetchSubagent}
          waiting={waiting}
          unanswered={unanswered}
          routed={routed}
          onFork={fork}
          onRetry={conversationStore.retry}
          onEdit={takeBack}
          onOtherDirectory={(uuid) => onFresh(freshFrom(session, conversationStore.textOf(uuid)))}
        />
      )}
      <footer class="session-foot" data-awaited={!recap.isFooterReady}>
        <AttentionSlot
          attentionStore={app.attention}
          source={app.api}
          sessionId={id}
          workdir={session.workdir}
          running={running}
          interrupted={isInterrupted}
        />
        <p class="session-problem" role="alert">
          {problem || conversationStore.failure.value?.sentence}
        </p>
        {isInterrupted && (
          <InterruptedTurn
            session={session}
            messages={messages}
            turn={interrupted}
            api={app.api}
            onCompact={() => conversationStore.send('/compact', [])}
            onEdit={(queued) => void edit([queued])}
          />
        )}
        <Recap
          api={app.api}
          session={session}
          recap={recap}
          quiet={running || unusable || messages.length === 0}
          onFresh={onFresh}
          onPrompt={(text) => {
            setDraft({ ...draft.current, text });
            focusField();
          }}
        />
        {!running && !unusable && (
          <CompletedSession
            api={app.api}
            session={session}
            report={recap.report}
            onChanged={app.sessions.update}
            onNew={(gone) => onFresh(begunAnew(session, gone))}
          />
        )}
        {session.archived && (
          <ArchivedNotice session={session} api={app.api} onRestored={app.sessions.update} />
        )}
        <RunsElsewhere
          session={session}
          optimistic={conversation.optimistic.filter((pending) => pending.state === 'elsewhere')}
          notice={app.hookNotices.texts.value.get(id) ?? null}
          onFork={(uuid) => void sendElsewhere(uuid, 'fork')}
          onWait={(uuid) => void sendElsewhere(uuid, 'wait')}
          onWatch={takeBack}
          onSend={conversationStore.retry}
        />
        <QueueChips queue={queue.queue} onTakeBack={(queued) => void edit([queued])} />
        <HeldMessages
          held={queue.held}
          onSend={(held) => queue.send(held).then(backToField)}
          onEdit={edit}
          onDiscard={(held) => queue.discard(held).then(backToField)}
        />
        {meant && !unusable && (
          <SpokenActionBar
            meant={meant}
            onConfirm={() => void confirm().then(backToField)}
            onSend={() => {
              send(words, []);
              backToField();
            }}
          />
        )}
        {unusable ? (
          <UnreadableNotice draft={draft.value.text} />
        ) : (
          <Composer
            draft={draft.value}
            running={running}
            recentPrompts={() => inputHistory(conversationStore.conversation.value)}
            commands={capabilities?.commands ?? null}
            onCommandsWanted={() => app.capabilities.want(id)}
            onDraft={setDraft}
            onSend={send}
            instead={meant && (confirms(meant) || !meant.quotation) ? () => void confirm() : null}
            onStop={() => void stop()}
          >
            <div class="composer-switches">
              <ModeSelect {...switches} />
              <ModelSelect {...switches} />
            </div>
          </Composer>
        )}
      </footer>
      {details && <DetailsDialog session={session} app={app} onClose={() => setDetails(false)} />}
    </div>
  );
}

const NONE: readonly VisibleMessage[] = [];
const NO_CALLS: ReadonlySet<string> = new Set();

/** A new session in the same directory, with the same model and mode. */
function begunAnew({ workdir, model, permissionMode }: Session, gone: boolean): NewSessionPreset {
  return { workdir: gone ? null : workdir, text: '', model, mode: permissionMode };
}

function focusField(): void {
  document.querySelector<HTMLElement>('.composer textarea')?.focus();
}

/** The button that was pressed is gone; a phone's keyboard stays where it is. */
function backToField(): void {
  if (!isTouch()) focusField();
}

/** Whether its last turn was interrupted or failed. */
function wasInterrupted({ error, state }: Session): boolean {
  return error !== null && state !== 'error';
}

/** A new session with this text, in a directory that is to be chosen. */
function freshFrom({ model, permissionMode }: Session, text: string): NewSessionPreset {
  return { workdir: null, text, model, mode: permissionMode };
}

function isRunning({ state, origin }: Session): boolean {
  return (
    origin !== 'terminal' && (state === 'running' || state === 'starting' || state === 'waiting')
  );
}

/** The calls of this session that wait for an answer; some questions do not name theirs. */
function useWaiting(app: AppStore, id: string): ReadonlySignal<ReadonlySet<string>> {
  return useComputed(
    () => new Set(openIn(app.attention.inbox.value, id).map((one) => one.toolUseId ?? one.id)),
  );
}

/** Esc stops the running turn, unless something else handles the key. */
function useEscape(active: boolean, stop: () => void): void {
  const latest = useRef(stop);
  latest.current = stop;
  useEffect(() => {
    if (!active) return;
    function onKeyDown(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || event.defaultPrevented || isComposing(event) || event.repeat)
        return;
      const at = event.target;
      if (at instanceof HTMLElement && at.closest('dialog, .sidebar, .find')) return;
      event.preventDefault();
      latest.current();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [active]);
}
