// What must be true of the ledger, as plain data and the simplest code that says it: one entry a request, with what
// clients see, what the store has, and what the history has told. Nothing here knows how the ledger works.
import type { Ask } from "../../src/backends/types.ts";
import type { Answer, RequestStatus } from "../../src/protocol/requests.ts";

/** Apart from the model's other times, so that what is due is never a matter of milliseconds. */
export const EXPIRY_MS = 101_000;
/** How long the ledger waits for an agent to take an answer, and between two tries to store. */
export const LIMIT_MS = 2000;

export const KINDS = ["command", "sub-agent", "question", "secret"] as const;
export type Kind = (typeof KINDS)[number];

/** What is known of one request, by clients or in the store. */
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
  /** The agent that asked; an answer goes to no other. */
  agent: number;
  ask: Ask;
  kind: Kind;
  dueMs: number;
  live: State;
  stored: State;
  /** Its notices in the history. */
  told: string[];
  /** The store owes `live`, and perhaps its notice. */
  owes?: { notice: boolean };
  /** Its session was closed while the store owed it: told when that is next opened. */
  isUntold: boolean;
  /** The agent still waits for it. */
  isAwaited: boolean;
  /** What was handed to the agent that it has not taken yet. */
  handed?: Answer;
  /** What the agent took. */
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
  /** What agents heard about requests that are in no list: refused unasked, or deleted since. */
  heard: string[];
}

export function createModel(nowMs: number): Model {
  const session = (answers: Session["answers"], agent: number): Session => ({
    ...{ isLive: true, isOwned: true, hasTurn: false, isDeaf: false },
    ...{ answers, agent },
  });
  return {
    ...{ nowMs, isFailing: false, agents: 2, requests: [], heard: [] },
    sessions: [session("owner", 0), session("any", 1)],
  };
}

export function isInput(kind: Kind): boolean {
  return kind === "question" || kind === "secret";
}

export function policyOf(kind: Kind): Answer {
  return isInput(kind) ? { answers: {} } : { decision: "decline" };
}

/** What others than the agent may see of an answer. */
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

/** Stored and told before anything else happens; the agent hears of it next. */
export function resolved(model: Model, request: Request, answer: Answer): void {
  store(request, { status: "resolved", answer, resolution_source: "api", isDispatched: false });
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

/** The agent gets to what was handed to it. */
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

/** So it is, whatever the disk says; the disk and the history follow when they can. */
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

/** Something is asked, or an answer is on its way. */
export function isWaiting(model: Model, session: number): boolean {
  return model.requests.some((request) => request.session === session && isOpen(request.live));
}

/** Time goes on; true when an agent was handed something that it does not take. */
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

/** Whatever the session's agent waited for, it does so no more. */
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

/** What the disk did not take is lost with the session; the next one tells so. */
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

/** Nobody owns it and nothing goes on in it: its agent is let go. */
export function letGo(model: Model): void {
  model.sessions.forEach((session, index) => {
    const isEngaged = session.hasTurn || isWaiting(model, index);
    if (session.isLive && !session.isOwned && !isEngaged) agentEnded(model, index);
  });
}

/** Only the store is left, and what was open in it is told as lost. */
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
