// The ledger's required behaviour as plain data and the simplest code: one entry per request, with what clients see,
// what the store has and what the history shows. It knows nothing of how the ledger works.
import type { Ask } from "../../src/backends/types.ts";
import type { Answer, RequestStatus } from "../../src/protocol/requests.ts";

/** Distinct from the model's other durations, so that due times never depend on milliseconds. */
export const EXPIRY_MS = 101_000;
/** How long the ledger waits for an agent to take an answer, and between two attempts to store. */
export const LIMIT_MS = 2000;

export const KINDS = ["command", "sub-agent", "question", "secret"] as const;
/** Commands that a rule is about: it allows, denies or asks. */
export const RULED = ["allowed", "denied", "referred"] as const;
export type Ruled = (typeof RULED)[number];
export type Kind = (typeof KINDS)[number] | Ruled;

/** What the rule answers; undefined: it asks. */
export function ruledAnswer(kind: Kind): Answer | undefined {
  if (kind === "allowed") return { decision: "accept" };
  return kind === "denied" ? { decision: "decline", message: "denied" } : undefined;
}

/** The state of one request, as clients or the store see it. */
export interface State {
  status: RequestStatus;
  answer?: Answer;
  error_code?: string;
  resolution_source?: string;
  isDispatched: boolean;
}

export interface Request {
  request_id: string;
  session: number;
  /** The agent that asked; only it gets the answer. */
  agent: number;
  ask: Ask;
  kind: Kind;
  dueMs: number;
  live: State;
  stored: State;
  /** Its notices in the history. */
  told: string[];
  /** The store has yet to write `live`, and perhaps its notice. */
  owes?: { notice: boolean };
  /** Its session was closed before it was stored; reported when the session is next opened. */
  isUntold: boolean;
  /** The agent is still waiting for it. */
  isAwaited: boolean;
  /** Sent to the agent and not yet taken. */
  handed?: Answer;
  /** The answer that the agent took. */
  heard: Answer[];
  isTampered: boolean;
}

export interface Session {
  isLive: boolean;
  isOwned: boolean;
  hasTurn: boolean;
  answers: "owner" | "any";
  agent: number | undefined;
  isDeaf: boolean;
}

export interface Model {
  nowMs: number;
  isFailing: boolean;
  sessions: Session[];
  requests: Request[];
  agents: number;
  /** How often rules have answered, also requests that were deleted since. */
  uses: number;
  /** What agents received for requests that are in no list: refused at once, or deleted since. */
  heard: string[];
}

export function createModel(nowMs: number): Model {
  const session = (answers: Session["answers"], agent: number): Session => ({
    ...{ isLive: true, isOwned: true, hasTurn: false, isDeaf: false },
    ...{ answers, agent },
  });
  return {
    ...{ nowMs, isFailing: false, agents: 2, uses: 0, requests: [], heard: [] },
    sessions: [session("owner", 0), session("any", 1)],
  };
}

export function isInput(kind: Kind): boolean {
  return kind === "question" || kind === "secret";
}

export function policyOf(kind: Kind): Answer {
  return isInput(kind) ? { answers: {} } : { decision: "decline" };
}

/** The part of an answer that others than the agent may see. */
export function masked(answer: Answer | undefined, kind: Kind): Answer | undefined {
  if (kind !== "secret" || answer === undefined || !("answers" in answer)) return answer;
  return { answers: Object.fromEntries(Object.keys(answer.answers).map((id) => [id, "[secret]"])) };
}

/** The request is stored and shown. */
export function asked(
  model: Model,
  request: Pick<Request, "request_id" | "session" | "ask" | "kind">,
): Request {
  const state: State = { status: "pending", isDispatched: false };
  const full: Request = {
    ...request,
    agent: model.sessions[request.session]?.agent ?? -1,
    dueMs: model.nowMs + EXPIRY_MS,
    ...{
      live: state,
      stored: state,
      told: ["request_pending"],
      isAwaited: true,
      heard: [],
      isTampered: false,
      isUntold: false,
    },
  };
  model.requests.push(full);
  return full;
}

/** Stored and announced before anything else happens; then delivered to the agent. */
export function resolved(model: Model, request: Request, answer: Answer, source = "api"): void {
  store(request, { status: "resolved", answer, resolution_source: source, isDispatched: false });
  if (source === "policy") model.uses += 1;
  hand(model, request, answer);
}

function store(request: Request, state: State): void {
  request.live = state;
  request.stored = state;
  request.told.push(`request_${state.status}`);
}

function hand(model: Model, request: Request, answer: Answer): void {
  request.handed = request.isTampered ? policyOf(request.kind) : answer;
  if (model.sessions[request.session]?.isDeaf !== true) taken(model, request);
}

/** The agent takes what was sent to it. */
export function taken(model: Model, request: Request): void {
  const { handed, live } = request;
  delete request.handed;
  if (handed === undefined) return;
  if (!request.isAwaited) {
    end(model, request, "withdrawn", "request_withdrawn");
    return;
  }
  request.isAwaited = false;
  request.heard.push(handed);
  if (request.isTampered) end(model, request, "orphaned", "request_changed");
  else if (live.status === "resolved") settle(model, request, { ...live, isDispatched: true }, false);
  else {
    const state = { ...live, status: "resolved", resolution_source: "policy", isDispatched: true } as const;
    settle(model, request, state, true);
  }
}

export function end(
  model: Model,
  request: Request,
  status: "withdrawn" | "orphaned",
  error_code: string,
): void {
  delete request.handed;
  request.isAwaited = false;
  settle(model, request, { ...request.live, status, error_code }, true);
}

/** Final, even if the disk fails; the disk and the history follow when they can. */
function settle(model: Model, request: Request, state: State, notice: boolean): void {
  const { kind } = request;
  request.live = { ...state };
  const answer = masked(state.answer, kind);
  if (answer !== undefined) request.live.answer = answer;
  request.owes = { notice };
  if (!model.isFailing) pay(request);
}

function pay(request: Request): void {
  if (request.owes === undefined) return;
  request.stored = request.live;
  if (request.owes.notice) request.told.push(`request_${request.live.status}`);
  delete request.owes;
}

export const isOpen = ({ status, isDispatched }: State): boolean =>
  status === "pending" || status === "expired" || (status === "resolved" && !isDispatched);

export function pendingOf(model: Model, session: number): Request[] {
  return model.requests.filter((request) => request.session === session && request.live.status === "pending");
}

/** A request is pending, or an answer is on its way. */
export function isWaiting(model: Model, session: number): boolean {
  return model.requests.some((request) => request.session === session && isOpen(request.live));
}

/** Advances time; true if an agent got something it does not accept. */
export function passed(model: Model, ms: number): boolean {
  model.nowMs += ms;
  if (model.isFailing) return false;
  for (const request of model.requests) pay(request);
  let isStuck = false;
  for (const request of model.requests) {
    if (request.live.status !== "pending" || request.dueMs > model.nowMs) continue;
    const answer = policyOf(request.kind);
    store(request, { status: "expired", answer, error_code: "request_expired", isDispatched: false });
    hand(model, request, answer);
    isStuck ||= request.handed !== undefined;
  }
  return isStuck;
}

/** The session's agent no longer waits for anything. */
export function interrupted(model: Model, index: number): void {
  for (const request of model.requests) {
    if (request.session !== index || request.agent !== model.sessions[index]?.agent) continue;
    request.isAwaited = false;
    if (request.live.status === "pending") end(model, request, "withdrawn", "request_withdrawn");
  }
}

export function agentEnded(model: Model, index: number): void {
  const session = model.sessions[index];
  if (session?.agent === undefined) return;
  for (const request of model.requests) {
    if (request.agent !== session.agent) continue;
    const isLost = request.live.status === "pending" || request.handed !== undefined;
    if (isLost) end(model, request, "orphaned", "agent_gone");
    request.isAwaited = false;
  }
  Object.assign(session, { agent: undefined, hasTurn: false, isDeaf: false });
}

/** What the disk refused is lost with the session; the next one reports it. */
export function closed(model: Model, index: number): void {
  agentEnded(model, index);
  for (const request of model.requests) {
    if (request.session !== index || request.owes === undefined) continue;
    delete request.owes;
    request.isUntold = isOpen(request.stored);
    request.live = request.stored;
    if (request.isUntold) request.live = lost(request);
  }
  Object.assign(model.sessions[index] ?? {}, { isLive: false, isOwned: false });
}

export function deleted(model: Model, index: number): void {
  model.heard.push(...heardOf(model.requests.filter(({ session }) => session === index)));
  model.requests = model.requests.filter(({ session }) => session !== index);
}

export function heardOf(requests: Request[]): string[] {
  return requests.flatMap(({ agent, ask, heard }) =>
    heard.map((answer) => `${agent} ${ask.native_id} ${JSON.stringify(answer)}`),
  );
}

export function opened(model: Model, index: number): void {
  const session = model.sessions[index];
  if (session === undefined) return;
  for (const request of model.requests) {
    if (session.isLive || model.isFailing || request.session !== index || !request.isUntold) continue;
    request.isUntold = false;
    store(request, request.live);
  }
  Object.assign(session, { isLive: true, isOwned: true });
  if (session.agent === undefined) session.agent = model.agents++;
}

function lost({ stored, kind }: Request): State {
  const answer = masked(stored.answer, kind);
  const state = { ...stored, status: "orphaned", error_code: "server_restarted" } as const;
  return answer === undefined ? state : { ...state, answer };
}

/** No owner and nothing in progress: the agent is released. */
export function letGo(model: Model): void {
  model.sessions.forEach((session, index) => {
    const isEngaged = session.hasTurn || isWaiting(model, index);
    if (session.isLive && !session.isOwned && !isEngaged) agentEnded(model, index);
  });
}

/** Only the store survives; its open requests are reported as lost. */
export function restarted(model: Model): void {
  model.isFailing = false;
  for (const request of model.requests) {
    delete request.owes;
    delete request.handed;
    Object.assign(request, { isAwaited: false, isUntold: false, live: request.stored });
    if (isOpen(request.stored)) store(request, lost(request));
  }
  for (const session of model.sessions) {
    Object.assign(session, {
      isLive: false,
      isOwned: false,
      hasTurn: false,
      isDeaf: false,
      agent: undefined,
    });
  }
}
