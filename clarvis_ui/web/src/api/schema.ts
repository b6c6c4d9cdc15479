// Generated from /openapi.json by `make contract`. Do not edit: a test compares it.
// An optional field has a default: the keeper sends it, a client may leave it out.

/** The recap for clients; `cached`: of an earlier request, and nothing has changed since. */
export interface AiRecapBody {
  quick: string;
  next: string;
  detailed: string;
  cached?: boolean;
}

/** What waited, in its order: whoever wants to say it in other words has it here. */
export interface AllWithdrawn {
  sessionId: string;
  messages: Array<QueueEntry>;
}

/**
 * What a person appended to Claude Code's own system prompt; its text is a session setting.
 *
 * `pending`: the process that runs was started with another one; the next one gets this.
 */
export interface AppendedPrompt {
  characters: number;
  pending: boolean;
}

/** The number and size of archived transcripts. */
export interface ArchiveSize {
  kept?: number;
  gone?: number;
  rewritten?: number;
  cost?: number;
}

/** The archive: whether it is on, what it holds, and what Claude Code deletes before long. */
export interface ArchiveStatus {
  on: boolean;
  holds: ArchiveSize;
  days: number;
  due: Array<DueDeletion>;
}

export interface ArchiveSwitch {
  on: boolean;
}

/** Ceilings in a request; an unknown name is refused, since it would be no ceiling. */
export interface AskedCeilings {
  costUsd?: number | null;
  turns?: number | null;
  hours?: number | null;
}

/** An open question: the `input` of the tool call, and what may be allowed for good. */
export interface Attention {
  id: string;
  sessionId: string;
  toolUseId: string | null;
  tool: string;
  input: Record<string, unknown>;
  kind: 'ceiling' | 'permission' | 'plan' | 'question';
  title: string | null;
  description: string | null;
  suggestions: Array<Record<string, unknown>>;
  grants?: Array<Array<Record<string, unknown>>>;
  blockedPath: string | null;
  reason: string | null;
  agentId: string | null;
  origin: 'gateway' | 'terminal';
  raised: string;
}

/** Every open question, the oldest first. */
export interface AttentionList {
  attention: Array<Attention>;
}

/** A question waits for a person. */
export interface AttentionRaised {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'attention/raised';
  attention: Attention;
  sessionId: string;
}

/** A question was answered, or was taken back by whoever asked it. */
export interface AttentionSettled {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'attention/settled';
  attentionId: string;
  decision: 'allow' | 'deny' | 'withdrawn';
  by: string;
  sessionId: string;
}

/** Dispatches, newest first; `cursor` leads to the next page, null at the end. */
export interface AuditTrail {
  dispatches: Array<AuditedDispatch>;
  cursor: string | null;
}

/** A change of the conversation that the keeper made. */
export interface AuditedAct {
  at: string;
  what: 'allowed' | 'ceiling' | 'continued' | 'created' | 'deleted' | 'ended' | 'expired' | 'renewed' | 'reset' | 'summary' | 'window';
  details: string;
}

/** A dispatch in the audit trail of all items, also of deleted conversations. */
export interface AuditedDispatch {
  at: string;
  sessionId: string;
  uuid: string;
  how: 'continued' | 'created' | 'renewed';
  text: string;
  outcome?: string | null;
  tokens?: number | null;
  tokensUsed?: number | null;
  costUsd?: number | null;
  finished?: string | null;
  key: string;
  project: string | null;
}

/**
 * The branches inside a session's transcript, the main branch first. `holders`: the branch of
 * each requested message, null for the main branch.
 */
export interface BranchList {
  sessionId: string;
  branches: Array<BranchSummary>;
  more: number;
  holders: Record<string, string | null>;
}

/**
 * Messages of a branch after it parted from another one, or the shared ones before.
 *
 * `at`: the last message that both have, by its uuid in this session; `shared`: how many they have
 * in common; `total`: how many it has of its own. `after` leads to the next page, `before` to the
 * previous one.
 */
export interface BranchPage {
  sessionId: string;
  tip: string | null;
  at: string | null;
  shared: number;
  total: number;
  messages: Array<Message>;
  after?: string | null;
  before?: string | null;
}

/** Where an abandoned branch leaves: the branch id of its messages, and their parent message. */
export interface BranchPoint {
  id: string;
  at: string | null;
}

/**
 * A branch of a session, named by its tip; null is the main branch.
 *
 * It leaves the branch `leaves` after the message `at`; both are null for one that starts at
 * the beginning. Counts, times and words are of its own messages.
 */
export interface BranchSummary {
  tip: string | null;
  leaves: string | null;
  at: string | null;
  messages: number;
  began?: string | null;
  ended?: string | null;
  firstPrompt?: string | null;
  lastWords?: string | null;
}

/** The prompts, decisions and changes of a branch after it parted from another one. */
export interface BranchWork {
  sessionId: string;
  tip: string | null;
  prompts: Array<string>;
  decisions: Array<Decision>;
  files: Array<FileChange>;
  moreFiles: number;
  commands: number;
  lastReply: string | null;
  replyUuid: string | null;
}

/** What was done, by subagents too; edits are changes made to files, prompts those of people. */
export interface BucketWork {
  replies?: number;
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  costUsd?: number;
  prompts?: number;
  tools?: number;
  edits?: number;
  compactions?: number;
}

/** How well a prompt fits one session; all scores are between 0 and 1. */
export interface CandidateScore {
  sessionId: string;
  title: string | null;
  workdir: string | null;
  score: number;
  overlap: number;
  recency: number;
  signal: number;
  secondsAgo: number;
  because: string;
  leavesPlanFor?: string | null;
}

/** What can be typed after a slash, and chosen for a session. */
export interface Capabilities {
  commands: Array<SlashCommand>;
  models: Array<Model>;
  modes: Array<string>;
}

/** A category of the checklist, and what is missing of it. */
export interface CategoryCoverage {
  name: string;
  items: number;
  done: number;
  percent: number;
  missing: Array<string>;
  status?: 'complete' | 'in_progress' | 'not_started';
  confidence?: number | null;
  keyPoints?: Array<KeyPoint>;
  asked?: KeyPoint | null;
  discussed?: string | null;
  entries?: Array<CoveredItem>;
}

/** How much a work item may use; None is no ceiling. */
export interface Ceilings {
  costUsd?: number | null;
  turns?: number | null;
  hours?: number | null;
}

/** A file that the session edited. */
export interface ChangedFile {
  path: string;
  edits: number;
}

/** A frame that a client may send. */
export type ClientFrame = Subscribe | Unsubscribe | Ping;

export interface CloseResult {
  sessionId: string;
}

/** How much of the project's checklist was covered at the end of a day or hour. */
export interface CompletionPoint {
  start: string;
  items: number;
  done: number;
  percent: number;
}

/** The conversation was deleted; the transcripts stay. */
export interface ConversationForgotten {
  key: string;
  project?: string | null;
}

/** The conversation of a work item was created, continued or changed. */
export interface ConversationUpdated {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'conversation/updated';
  key: string;
  project: string | null;
  what: 'allowed' | 'ceiling' | 'continued' | 'created' | 'deleted' | 'ended' | 'expired' | 'renewed' | 'reset' | 'summary' | 'window';
  details?: string;
  sessionId: string;
}

/** The coverage of the project's checklist; `error` says why it cannot be used. */
export interface Coverage {
  file: string;
  items?: number;
  done?: number;
  percent?: number;
  categories?: Array<CategoryCoverage>;
  error?: string | null;
  readiness?: number;
  complete?: boolean;
  next?: NextTopic | null;
  read?: boolean;
}

/** An item of the checklist. `how`: the kind of evidence; null if it is not covered. */
export interface CoveredItem {
  text: string;
  kind: 'point' | 'question' | 'subtopic';
  group: string | null;
  covered: boolean;
  how?: 'answered' | 'discussed' | 'marked' | 'said' | null;
  words?: string | null;
  uuid?: string | null;
  at?: string | null;
  confidence?: number | null;
}

/** The turn that runs; `status` is its last status. */
export interface CurrentTurnView {
  uuid: string | null;
  started: string;
  status?: TurnStatus | null;
}

/** An answer to a question, a verdict on a plan, or a denial with a reason. */
export interface Decision {
  kind: 'answer' | 'denial' | 'plan';
  about: string;
  decision: string;
  reason?: string | null;
  uuid?: string | null;
  at?: string | null;
}

/** What lies below a directory; hidden ones are left out. */
export interface Directories {
  path: string;
  parent: string | null;
  directories: Array<Directory>;
}

export interface Directory {
  name: string;
  path: string;
}

/**
 * A dispatch: one message to the conversation of a work item. `expiresIn` is in seconds.
 *
 * The first dispatch of an item needs `workdir`. A key belongs to a project, "" for items without
 * one; without `project` it is the only project that has the key.
 */
export interface Dispatch {
  text: string;
  uuid?: string | null;
  workdir?: string | null;
  project?: string | null;
  systemPrompt?: string | null;
  metadata?: Record<string, unknown> | null;
  expiresIn?: number | null;
  ceilings?: AskedCeilings | null;
  wait?: boolean;
}

/** How a turn ended; `cancelled`: it was taken out of the queue before it began. */
export interface DispatchOutcome {
  outcome: 'done' | 'failed' | 'interrupted' | 'cancelled' | 'unknown';
  reply?: string;
  error?: Fault | null;
  usage?: Record<string, unknown> | null;
  costUsd?: number | null;
  durationMs?: number | null;
  tokens?: number | null;
  tokensUsed?: number;
  model?: string | null;
}

/** The message is in the queue; with `wait` its turn is over. */
export interface Dispatched {
  key: string;
  project: string | null;
  sessionId: string;
  uuid: string;
  how: 'continued' | 'created' | 'renewed';
  expires: string;
  ended?: DispatchOutcome | null;
}

/** A session that Claude Code deletes soon, and when. */
export interface DueDeletion {
  sessionId: string;
  workdir: string | null;
  at: string;
}

/** A session that belonged to the conversation earlier. */
export interface EarlierSession {
  sessionId: string;
  ended: string;
  why: 'expired' | 'lost' | 'reset' | 'window';
  details?: string | null;
}

/** The body of every error. */
export interface ErrorAnswer {
  error: ErrorBody;
}

/** The code and the sentence of an error; `choices` are what can be done instead. */
export interface ErrorBody {
  code: string;
  message: string;
  choices?: Array<string>;
}

/** `messages` were whole, `blocks` were cut off in the middle; no transcript has either. */
export interface FailedTurn {
  uuid: string | null;
  started: string;
  ended: string;
  error?: Fault;
  had?: boolean;
  prompt?: QueuedMessage | null;
  said?: boolean;
  messages?: Array<Message>;
  blocks?: Array<PartialBlock>;
}

/**
 * A session with all that share its beginning, parents before children. `complete`: every
 * session has been examined.
 */
export interface Family {
  sessionId: string;
  sessions: Array<FamilyMember>;
  complete: boolean;
}

/**
 * A session of a family. `at`: the message of its parent after which it parts; `here`: the uuid
 * of the same message in its own file; `shared`: how many messages both have up to there. All of
 * it is null without a parent. `messages`, `began` and `firstPrompt` are of its own messages.
 */
export interface FamilyMember {
  sessionId: string;
  title: string | null;
  workdir: string | null;
  project: string | null;
  modified: string;
  archived?: boolean;
  parent?: string | null;
  at?: string | null;
  here?: string | null;
  shared?: number;
  messages?: number;
  began?: string | null;
  firstPrompt?: string | null;
}

/** An error of a session or a turn: a stable code, and a sentence for people. */
export interface Fault {
  code: string;
  message: string;
}

/**
 * The change of a file. `before` and `after`: its whole text, if that is recorded and not too
 * long; `pieces`: its edits, otherwise.
 */
export interface FileChange {
  path: string;
  fate?: 'changed' | 'created' | 'deleted';
  edits?: number;
  before?: string | null;
  after?: string | null;
  pieces?: Array<FilePiece>;
  cut?: boolean;
  uuid?: string | null;
}

/** One edit: the text before, and the text after. */
export interface FilePiece {
  before: string;
  after: string;
}

/** A fork. `at`: the last message that the fork has; without it, all of them. */
export interface ForkRequest {
  at?: string | null;
}

/** The health of the keeper. */
export interface Health {
  status: 'degraded' | 'ok';
  version: string;
  cli: string;
  uptime: number;
  sessions: number;
  live: number;
  watching: WatchState;
  scan: ScanProgress;
  search: IndexProgress;
}

/** Which messages wait for their turn again. */
export interface HeldSent {
  sessionId: string;
  uuids: Array<string>;
}

/** The first frame of the server. */
export interface Hello {
  type: 'hello';
  version: number;
  position: string;
}

/** A page of a session's history; `before` leads to the page above, null at the beginning. */
export interface HistoryPage {
  session: Session;
  messages: Array<Message>;
  before: string | null;
  branches: Array<BranchPoint>;
  queue: Array<QueuedPrompt>;
  partial: PartialBlock | null;
  turn: CurrentTurnView | null;
  position: string;
  interrupted?: InterruptedTurn | null;
  failed?: Array<FailedTurn>;
}

/** What the hook prints; null: the terminal decides. */
export interface HookAnswer {
  output: Record<string, unknown> | null;
}

/** An event, and where it comes from; `again`: it was asked before, and the answer was lost. */
export interface HookCall {
  event: HookEvent;
  at?: string;
  pid?: number;
  entrypoint?: string;
  again?: boolean;
}

/** The fields that we take; Claude Code adds others from version to version. */
export interface HookEvent {
  hook_event_name: string;
  session_id?: string;
  tool_name?: string | null;
  tool_input?: Record<string, unknown>;
  permission_suggestions?: Array<Record<string, unknown>>;
  permission_mode?: string | null;
  cwd?: string | null;
  agent_id?: string | null;
  message?: string | null;
  title?: string | null;
  notification_type?: string | null;
  source?: string | null;
  reason?: string | null;
}

/** How far the index is, in bytes of transcripts. */
export interface IndexProgress {
  stage?: 'building' | 'failed' | 'ready' | 'starting';
  done?: number;
  total?: number;
}

/** An interrupt. `hold`: the messages in the queue are held until a person sends them. */
export interface InterruptRequest {
  hold?: boolean;
}

/** Whether a turn was running, and how many messages are held now. */
export interface InterruptResult {
  interrupted: boolean;
  held?: number;
}

/** What was under way in a session. */
export interface InterruptedTurn {
  uuid: string | null;
  started: string;
  questions?: Array<Attention>;
  queue?: Array<QueuedMessage>;
  prompt?: QueuedMessage | null;
  workdir?: string | null;
  begun?: boolean;
  error?: Fault | null;
  stopped?: boolean;
}

/** A quotation, with its message. */
export interface KeyPoint {
  text: string;
  uuid?: string | null;
  at?: string | null;
}

/**
 * A turn: its prompt and its last reply. `prompt` is null if it is further back.
 *
 * `whole`: all of the turn was read; otherwise it has more calls than `tools`, and maybe a reply.
 */
export interface LastTurn {
  prompt: string | null;
  uuid: string | null;
  at: string | null;
  reply?: string | null;
  replyUuid?: string | null;
  tools?: number;
  whole?: boolean;
}

/** A dispatch in the audit trail; `outcome` is null until its turn has ended. */
export interface LoggedDispatch {
  at: string;
  sessionId: string;
  uuid: string;
  how: 'continued' | 'created' | 'renewed';
  text: string;
  outcome?: string | null;
  tokens?: number | null;
  tokensUsed?: number | null;
  costUsd?: number | null;
  finished?: string | null;
}

/** One message of a conversation. `content` is the list of blocks as Claude Code wrote it. */
export interface Message {
  uuid: string;
  sessionId: string;
  role: 'assistant' | 'system' | 'user';
  content: unknown;
  timestamp: string | null;
  kind: 'command' | 'compaction' | 'error' | 'interruption' | 'notice' | 'prompt' | 'reply' | 'toolResult';
  messageId?: string | null;
  parentUuid?: string | null;
  model?: string | null;
  usage?: unknown;
  agentId?: string | null;
  parentToolUseId?: string | null;
  branch?: string | null;
  deniedBy?: 'person' | 'rule' | null;
}

/** A message was added after the message `after`; null: at the end. */
export interface MessageAdded {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'message/added';
  message: Message;
  after?: string | null;
  sessionId: string;
}

/** A piece of the block that is being written. */
export interface MessageDelta {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'message/delta';
  messageId: string;
  index: number;
  kind: 'input' | 'text' | 'thinking';
  text: string;
  tool?: string | null;
  toolUseId?: string | null;
  sessionId: string;
}

/** The pieces of this block are void: it is written again, or was lost. */
export interface MessageWithdrawn {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'message/withdrawn';
  messageId: string;
  index: number;
  sessionId: string;
}

export interface Model {
  value: string;
  displayName?: string;
  description?: string;
}

/** The next action, and the prompt that would begin it. */
export interface NextAction {
  kind: 'answer' | 'continue' | 'done' | 'reply' | 'start' | 'working';
  text: string;
  prompt?: string | null;
  uuid?: string | null;
}

/** The next topic: an item of a category, and the prompt that begins it. */
export interface NextTopic {
  category: string;
  item: string;
  begun: boolean;
  prompt: string;
}

/** A question of Claude's that waits for an answer. */
export interface OpenQuestion {
  kind: 'permission' | 'plan' | 'question' | 'reply';
  text: string;
  options?: Array<string>;
  uuid?: string | null;
  attentionId?: string | null;
}

/** The block of a reply that is being written, so far. */
export interface PartialBlock {
  messageId: string;
  index: number;
  kind: 'input' | 'text' | 'thinking';
  text: string;
  tool?: string | null;
  toolUseId?: string | null;
}

/** Asks for a `pong`. */
export interface Ping {
  type: 'ping';
}

/** The answer to `ping`. */
export interface Pong {
  type: 'pong';
}

/** `recap`: how much of a session one is told on coming back; null until that was chosen. */
export interface PreferencesBody {
  recap: 'detailed' | 'dive' | 'quick' | null;
}

/** A Claude Code that somebody else runs: in a terminal (`cli`), an editor or a script. */
export interface Presence {
  pid: number;
  entrypoint: string;
  status: 'busy' | 'idle' | 'waiting';
  waitingFor: string | null;
  since: string | null;
  interactive: boolean;
}

/** A task of the session's own list. */
export interface ProgressItem {
  text: string;
  state: 'completed' | 'in_progress' | 'pending';
  group?: string | null;
}

/** A group of tasks. */
export interface ProgressPart {
  name: string;
  items: number;
  done: number;
  percent: number;
}

/** A prompt in short, and the message to jump to; `title` and `workdir` are the session's. */
export interface PromptLine {
  sessionId: string;
  uuid: string;
  at: string;
  text: string;
  title: string | null;
  workdir: string | null;
}

/** A message as it was sent, images included. */
export interface QueueEntry {
  uuid: string;
  state: 'cancelled' | 'held' | 'queued' | 'taken';
  content: Array<Record<string, unknown>>;
}

/** What waits, in its order: whoever takes one of them back has its words before it is gone. */
export interface QueueList {
  sessionId: string;
  messages: Array<QueueEntry>;
}

/** The queue of a session has changed; `queue` is all of it. */
export interface QueueUpdated {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'queue/updated';
  queue: Array<QueuedPrompt>;
  sessionId: string;
}

/** A message that somebody sent, as the CLI will get it. */
export interface QueuedMessage {
  uuid: string;
  content: string | Array<Record<string, unknown>>;
  held?: boolean;
}

/** A prompt in the queue. */
export interface QueuedPrompt {
  uuid: string;
  text: string;
  state: 'cancelled' | 'held' | 'queued' | 'taken';
  images?: number;
}

/** The recap: in a few sentences, and in detail. */
export interface RecapText {
  quick: string;
  detailed: string;
}

/** Lets the next dispatch start a new session. */
export interface ResetRequest {
  keepSystemPrompt?: boolean;
}

/** The request that answers a question. */
export interface Resolve {
  attentionId: string;
  decision: 'allow' | 'deny';
  message?: string | null;
  updatedInput?: Record<string, unknown> | null;
  updatedPermissions?: Array<Record<string, unknown>> | null;
  answers?: Record<string, string | Array<string>> | null;
  interrupt?: boolean;
  hold?: boolean;
  by?: string;
}

export interface Resolved {
  attentionId: string;
  decision: 'allow' | 'deny';
}

/** The resume report. `complete`: every line of the transcript has been read. */
export interface ResumeReport {
  sessionId: string;
  last: string | null;
  idleSeconds: number;
  turns: Array<LastTurn>;
  question: OpenQuestion | null;
  next: NextAction;
  progress: TaskProgress | null;
  coverage: Coverage | null;
  decisions: Array<Decision>;
  work: WorkDone | null;
  cost: WorkCost;
  warnings: Array<ResumeWarning>;
  choices: Array<'fresh' | 'resume'>;
  complete: boolean;
  recap: RecapText;
  outcome?: 'complete' | 'givenUp' | null;
  specification?: string | null;
}

/** A reason to hesitate before the session is resumed. */
export interface ResumeWarning {
  code: 'branch_moved' | 'directory_gone' | 'idle_long';
  message: string;
}

/** The events of this session have a gap: read it again over REST. */
export interface Resync {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'resync';
  sessionId: string;
}

/** The answer to `subscribe` if `since` is too old: read every session again over REST. */
export interface ResyncAll {
  type: 'resync';
}

/** Asks which recent session a prompt belongs to. Nothing is sent. */
export interface RouteRequest {
  text: string;
  workdir?: string | null;
  within?: Array<string> | null;
  scorer?: 'improved' | 'plain' | null;
}

/** The routing decision behind a message. */
export interface RoutedMessage {
  uuid: string;
  sessionId: string;
  at: string;
  routing: RoutingDecision;
  followed?: boolean;
  leftPlanFor?: string | null;
}

/** Where a prompt goes. `confidence` is that of the action: for `new`, 1 − the best score. */
export interface RoutingDecision {
  action: 'new' | 'resume';
  sessionId: string | null;
  title: string | null;
  confidence: number;
  reason: string;
  candidates: Array<CandidateScore>;
  scorer?: 'improved' | 'plain';
  threshold?: number;
  cause?: 'belowThreshold' | 'disabled' | 'fits' | 'noCandidates' | 'tooShort';
  id?: string | null;
}

/** Of messages of a session, why they went there, the oldest first. */
export interface RoutingList {
  routings: Array<RoutedMessage>;
}

/** How many sessions have been read to their end. */
export interface ScanProgress {
  done: number;
  total: number;
}

/** A hit, and the session that it stands in. */
export interface SearchHit {
  sessionId: string;
  uuid: string;
  agentId: string | null;
  toolUseId: string | null;
  role: 'assistant' | 'system' | 'user';
  kind: 'command' | 'compaction' | 'error' | 'interruption' | 'notice' | 'prompt' | 'reply' | 'toolResult';
  timestamp: string | null;
  decision: boolean;
  inside: boolean;
  where: 'input' | 'result' | 'text' | 'thinking';
  tool: string | null;
  snippet: Array<SnippetPart>;
  title: string | null;
  workdir: string | null;
  project: string | null;
}

/** What was found; `cursor` leads on, null at the end. `index`: how much was looked through. */
export interface SearchResults {
  hits: Array<SearchHit>;
  cursor: string | null;
  decisionsFirst: boolean;
  index: IndexProgress;
}

/** The message is in line; what becomes of it is told over the socket. */
export interface SendAccepted {
  sessionId: string;
  uuid: string;
  state: 'error' | 'idle' | 'running' | 'starting' | 'waiting';
  routing?: RoutingDecision;
  leftPlanFor?: string;
  systemPrompt?: AppendedPrompt | null;
}

/** Sends held messages: all of them, or these. `wait`: as in `SendRequest`. */
export interface SendHeldRequest {
  uuids?: Array<string> | null;
  wait?: boolean;
}

/** A prompt for an existing session (`sessionId`) or for a new one (`workdir`). */
export interface SendRequest {
  sessionId?: string | null;
  workdir?: string | null;
  text?: string | null;
  content?: Array<Record<string, unknown>> | null;
  uuid?: string | null;
  model?: string | null;
  permissionMode?: 'acceptEdits' | 'auto' | 'bypassPermissions' | 'default' | 'dontAsk' | 'plan' | null;
  wait?: boolean;
  fork?: boolean;
  route?: boolean;
  routing?: string | null;
  interrupt?: boolean;
  systemPrompt?: string | null;
}

/** A frame of the server that is no event. */
export type ServerAnswer = Hello | Subscribed | ResyncAll | Pong | WsError;

/** An event that the server sends. */
export type ServerEvent = SessionUpdated | SessionRemoved | Resync | SessionNotified | SessionFailed | MessageAdded | MessageDelta | MessageWithdrawn | TurnStarted | TurnStatus | TurnFinished | QueueUpdated | AttentionRaised | AttentionSettled | ConversationUpdated;

/** A frame that the server sends. Clients skip types they do not know. */
export type ServerFrame = ServerAnswer | ServerEvent;

/** A session. `messageCount`, `costUsd` and `tokens` are null until every line was read. */
export interface Session {
  id: string;
  workdir: string | null;
  project: string | null;
  name: string | null;
  title: string | null;
  firstPrompt: string | null;
  lastPrompt: string | null;
  messageCount: number | null;
  created: string | null;
  modified: string;
  gitBranch: string | null;
  size: number;
  model: string | null;
  permissionMode: string | null;
  state: 'error' | 'idle' | 'running' | 'starting' | 'waiting';
  origin: 'gateway' | 'terminal' | null;
  attention: number;
  costUsd: number | null;
  tokens: Tokens | null;
  error: Fault | null;
  unreadable: number;
  presence?: Presence | null;
  archived?: boolean;
  archivedSince?: string | null;
  progress?: SessionProgress | null;
  givenUp?: string | null;
  item?: WorkItem | null;
  systemPrompt?: AppendedPrompt | null;
}

/** A message could not be processed; `uuid` is that message. */
export interface SessionFailed {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'session/failed';
  uuid: string | null;
  error: Fault;
  sessionId: string;
}

/** A page of the sessions; `cursor` leads to the next page, null at the end. */
export interface SessionList {
  sessions: Array<Session>;
  cursor: string | null;
  position: string;
}

/** A hook of a Claude Code that somebody else runs: `Notification`, `Stop` and others. */
export interface SessionNotified {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'session/notified';
  event: string;
  text?: string | null;
  title?: string | null;
  reason?: string | null;
  sessionId: string;
}

/** A change of a session. `name`: null clears it. `givenUp`: whether a person gave it up. */
export interface SessionPatch {
  name?: string | null;
  givenUp?: boolean;
}

/** The progress of a session, by the project's checklist or by its own task lists. */
export interface SessionProgress {
  of: 'checklist' | 'tasks';
  items: number;
  done: number;
  percent: number;
  complete: boolean;
}

/** The transcript was deleted. */
export interface SessionRemoved {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'session/removed';
  sessionId: string;
}

/** A session is new or has changed. */
export interface SessionUpdated {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'session/updated';
  session: Session;
  sessionId: string;
}

/**
 * What people chose for a session; null leaves it to Claude Code.
 *
 * `pending`: the process that runs was started with another system prompt.
 */
export interface SettingsBody {
  model: string | null;
  permissionMode: 'acceptEdits' | 'auto' | 'bypassPermissions' | 'default' | 'dontAsk' | 'plan' | null;
  systemPrompt: string | null;
  pending: boolean;
}

/**
 * New session settings; `model: null` is Claude Code's own choice.
 *
 * `systemPrompt` is as in `SendRequest`: it holds from the session's next process on.
 */
export interface SettingsChange {
  model?: string | null;
  permissionMode?: 'acceptEdits' | 'auto' | 'bypassPermissions' | 'default' | 'dontAsk' | 'plan';
  systemPrompt?: string | null;
}

export interface SlashCommand {
  name: string;
  description?: string;
  argumentHint?: string;
}

/** Some text of a snippet; `match`: a term of the query. */
export interface SnippetPart {
  text: string;
  match?: boolean;
}

/** The file, below the working directory, and its text; `cut`: the file is longer. */
export interface Specification {
  path: string;
  text: string;
  modified: string;
  size: number;
  cut: boolean;
}

/** A subagent of a session and the call that started it. */
export interface Subagent {
  agentId: string;
  toolUseId?: string | null;
  parentAgentId?: string | null;
  type?: string | null;
  description?: string | null;
  workflow?: string | null;
  size?: number | null;
}

/** The subagents of a session. */
export interface SubagentList {
  subagents: Array<Subagent>;
}

/** A page of a subagent's conversation. */
export interface SubagentPage {
  subagent: Subagent;
  messages: Array<Message>;
  before: string | null;
  branches: Array<BranchPoint>;
}

/** Asks for the events of these sessions, or of all (`*`); `since` is a position. */
export interface Subscribe {
  type: 'subscribe';
  sessions: Array<string>;
  since?: string | null;
}

/** The answer to `subscribe`: so many missed events follow. */
export interface Subscribed {
  type: 'subscribed';
  replayed: number;
  position: string;
}

/** The progress of the session's own task lists. */
export interface TaskProgress {
  items: number;
  done: number;
  percent: number;
  groups: Array<ProgressPart>;
  tasks: Array<ProgressItem>;
}

/**
 * Every day or hour in which something was done, and the first prompts of all that time.
 *
 * Times are those of the keeper's zone, `before` is not included. `complete`: whether every line
 * has been read by now.
 */
export interface Timeline {
  by: 'day' | 'hour';
  zone: string;
  after: string | null;
  before: string | null;
  total: BucketWork;
  buckets: Array<TimelineBucket>;
  prompts: Array<PromptLine>;
  complete: boolean;
  completion?: Array<CompletionPoint> | null;
}

/** What was done in one day (`2026-03-01`) or hour (`2026-03-01T10`). */
export interface TimelineBucket {
  replies?: number;
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  costUsd?: number;
  prompts?: number;
  tools?: number;
  edits?: number;
  compactions?: number;
  start: string;
}

/** Tokens of all replies of a session. */
export interface Tokens {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/** A turn has ended. */
export interface TurnFinished {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'turn/finished';
  uuid: string | null;
  outcome: 'done' | 'failed' | 'interrupted';
  error?: Fault | null;
  usage?: Record<string, unknown> | null;
  costUsd?: number | null;
  tokensUsed?: number | null;
  durationMs?: number | null;
  sessionId: string;
}

/** A turn has started; `uuid` is that of its prompt, null for a turn without one. */
export interface TurnStarted {
  /** `epoch:seq`: where the event is in the stream. */
  position: string;
  type: 'turn/started';
  uuid: string | null;
  sessionId: string;
}

/** What a turn is doing: `retrying`, `compacting`, `rateLimited` or about a task. */
export interface TurnStatus {
  /** `epoch:seq`: where the event is in the stream. */
  position?: string;
  type: 'turn/status';
  status: string;
  attempt?: number | null;
  maxRetries?: number | null;
  delayMs?: number | null;
  error?: string | null;
  taskId?: string | null;
  toolUseId?: string | null;
  description?: string | null;
  taskStatus?: string | null;
  details?: Record<string, unknown> | null;
  sessionId: string;
}

/** Ends the subscription to these sessions, or to all (`*`). */
export interface Unsubscribe {
  type: 'unsubscribe';
  sessions: Array<string>;
}

/** What was used. `costUsd` is computed from list prices. */
export interface UsageAmount {
  replies?: number;
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  costUsd?: number;
}

/**
 * What was used, each reply once; `rows` has those that cost most, `total` all of them.
 *
 * Days are those of the keeper's zone, `before` is not included; `complete`: whether every
 * transcript has been read by now.
 */
export interface UsageReport {
  by: 'day' | 'model' | 'project' | 'session';
  zone: string;
  after: string | null;
  before: string | null;
  total: UsageAmount;
  rows: Array<UsageRow>;
  complete: boolean;
}

/** What was used by one day, project, model or session. */
export interface UsageRow {
  replies?: number;
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  costUsd?: number;
  key: string;
  label: string;
}

/** How changes are noticed, for /health: `watching`, `polling`, or `waiting` for a folder. */
export interface WatchState {
  mode?: string;
  reason?: string | null;
}

/** A conversation with its history, oldest first; of the dispatches the last hundred. */
export interface WholeConversation {
  key: string;
  state: 'active' | 'ended' | 'expired' | 'reset';
  sessionId: string | null;
  project: string | null;
  workdir: string;
  systemPrompt: string | null;
  metadata: Record<string, unknown>;
  created: string;
  updated: string;
  expires: string;
  messages: number | null;
  tokens: number;
  lastWindow: number;
  dispatches: number;
  costUsd: number;
  ceilings: Ceilings;
  attentionId: string | null;
  earlier: Array<EarlierSession>;
  acts: Array<AuditedAct>;
  log: Array<LoggedDispatch>;
}

export interface Withdrawn {
  uuid: string;
  state: string;
}

/** The conversation of a work item. */
export interface WorkConversation {
  key: string;
  state: 'active' | 'ended' | 'expired' | 'reset';
  sessionId: string | null;
  project: string | null;
  workdir: string;
  systemPrompt: string | null;
  metadata: Record<string, unknown>;
  created: string;
  updated: string;
  expires: string;
  messages: number | null;
  tokens: number;
  lastWindow: number;
  dispatches: number;
  costUsd: number;
  ceilings: Ceilings;
  attentionId: string | null;
}

/** Conversations, last used first; `cursor` leads to the next page, null at the end. */
export interface WorkConversations {
  conversations: Array<WorkConversation>;
  cursor: string | null;
}

/** The cost of a session, and of its next message: nothing of it is cached any more. */
export interface WorkCost {
  spentUsd: number | null;
  contextTokens: number | null;
  resumeTokens: number | null;
  resumeUsd: number | null;
}

/** The work of a session, in numbers. */
export interface WorkDone {
  prompts: number;
  files: Array<ChangedFile>;
  filesChanged: number;
  commands: number;
  commandsFailed: number;
  lastCommands: Array<string>;
  tools: number;
  compactions: number;
}

/** A work item. Its key is unique within its project. */
export interface WorkItem {
  key: string;
  project?: string | null;
}

/** A working directory and its sessions. */
export interface Workdir {
  workdir: string;
  project: string | null;
  sessions: number;
  modified: string;
}

/** The working directories of all sessions, last used first. */
export interface WorkdirList {
  workdirs: Array<Workdir>;
}

/** The answer to a frame that the server could not use. */
export interface WsError {
  type: 'error';
  error: Fault;
}
