// The view: what happened in a session → what a screen shows of it. Pure, and the same for the terminal, `sm tail` and
// the browser. How the inputs are cut into batches makes no difference, and what comes twice is shown once.
import { closeDraft, type Draft, type Moment, momentOf, openDraft } from "./view/draft.ts";
import { DEFAULT_LIMITS, type Limits } from "./view/limits.ts";
import { emptyMemory } from "./view/memory.ts";
import { reduceFrame } from "./view/reduce-frames.ts";
import { tell } from "./view/reduce-notices.ts";
import { reduceRequests } from "./view/reduce-requests.ts";
import { reduceSign } from "./view/reduce-signs.ts";
import type { Entry, View, ViewInput } from "./view/types.ts";
import { optional } from "./view/values.ts";

export function emptyView(): View {
  return {
    agent: {},
    entries: [],
    requests: [],
    queue: [],
    seq: 0,
    dropped: 0,
    link: { state: "connecting" },
    memory: emptyMemory(),
  };
}

/** The same object comes back when nothing changed. */
export function applyInputs(view: View, inputs: readonly ViewInput[], limits: Partial<Limits> = {}): View {
  const draft = openDraft(view, { ...DEFAULT_LIMITS, ...limits });
  for (const input of inputs) apply(draft, input);
  return draft.hasChanged ? closeDraft(draft) : view;
}

/** Where what is kept begins, when what came before was dropped: for `loadEarlier` (view/source.ts). */
export function keptFrom({ dropped, entries }: View): number | undefined {
  if (dropped === 0) return undefined;
  return entries.find(({ seq }) => seq !== null)?.seq ?? undefined;
}

export interface EntryChange {
  entry: Entry;
  /** As it was; absent when it is new. */
  before?: Entry;
}

/** The entries that are not what they were, oldest first. */
export function changedEntries(before: View, after: View): EntryChange[] {
  if (before.entries === after.entries) return [];
  const shift = after.dropped - before.dropped;
  const changes: EntryChange[] = [];
  after.entries.forEach((entry, index) => {
    const old = before.entries[index + shift];
    if (old !== entry) changes.push({ entry, ...(old?.id === entry.id ? { before: old } : {}) });
  });
  return changes;
}

type Apply<K extends ViewInput["kind"]> = (draft: Draft, input: Extract<ViewInput, { kind: K }>) => void;

const APPLY: { [K in ViewInput["kind"]]: Apply<K> } = {
  frame: applyFrame,
  gap: (draft, { data }) => reduceSign(draft, "gap", data, ours()),
  catching_up: (draft, { data }) => reduceSign(draft, "catching_up", data, ours()),
  closed: (draft, { data }) => reduceSign(draft, "closed", data, ours()),
  session: (draft, { session }) => set(draft, { session }),
  requests: (draft, { requests }) => reduceRequests(draft, requests),
  queue: (draft, { queue }) => set(draft, { queue }),
  link: (draft, { state, message }) => set(draft, { link: { state, ...optional("message", message) } }),
  local: (draft, { level, text, at_ms }) => tell(draft, ours(at_ms), { level, category: "local", text }),
  reset,
};

function apply(draft: Draft, input: ViewInput): void {
  // One that a newer source gives changes nothing.
  if (Object.hasOwn(APPLY, input.kind)) (APPLY[input.kind] as Apply<ViewInput["kind"]>)(draft, input);
}

function set(draft: Draft, fields: Partial<View>): void {
  Object.assign(draft.view, fields);
  draft.hasChanged = true;
}

function applyFrame(draft: Draft, input: ViewInput & { kind: "frame" }): void {
  const { seq, at_ms, frame } = input;
  if (seq !== null) {
    if (seq <= draft.view.seq) return;
    draft.view.seq = seq;
    // Somebody opened it again.
    delete draft.view.closed;
    draft.hasChanged = true;
  }
  reduceFrame(draft, frame, momentOf(frame, seq, at_ms));
}

/** What is made of events goes; what the manager said of the session stays until it says something else. */
function reset(draft: Draft, { up_to }: ViewInput & { kind: "reset" }): void {
  const { session, requests, queue, link } = draft.view;
  draft.view = { ...emptyView(), ...optional("session", session), requests, queue, link };
  draft.entries = [];
  draft.memory = { ...emptyMemory(), ...optional("wholeTo", up_to) };
  draft.hasChanged = true;
}

function ours(at_ms?: number): Moment {
  return { seq: null, ...optional("at_ms", at_ms), made: 0 };
}

export type { Limits } from "./view/limits.ts";
