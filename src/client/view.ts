// Reduces session events to what a screen shows. Pure; shared by the terminal UI, `sm tail` and the dashboard. Batching
// does not affect the result, and duplicates are ignored.
import { defined } from "../base/values.ts";
import { closeDraft, type Draft, type Moment, openDraft, toMoment } from "./view/draft.ts";
import { DEFAULT_LIMITS, type Limits } from "./view/limits.ts";
import { createMemory } from "./view/memory.ts";
import { reduceFrame } from "./view/reduce-frames.ts";
import { addNotice } from "./view/reduce-notices.ts";
import { reduceRequests } from "./view/reduce-requests.ts";
import { reduceSign } from "./view/reduce-signs.ts";
import type { Entry, View, ViewInput } from "./view/types.ts";

export function emptyView(): View {
  return {
    agent: {},
    entries: [],
    requests: [],
    queue: [],
    seq: 0,
    dropped: 0,
    link: { state: "connecting" },
    memory: createMemory(),
  };
}

/** Returns the same object if nothing changed. */
export function applyInputs(view: View, inputs: readonly ViewInput[], limits: Partial<Limits> = {}): View {
  const draft = openDraft(view, { ...DEFAULT_LIMITS, ...limits });
  for (const input of inputs) apply(draft, input);
  return draft.hasChanged ? closeDraft(draft) : view;
}

/** The first seq kept, if earlier entries were dropped: for `loadEarlier` (view/source.ts). */
export function findFirstSeq({ dropped, entries }: View): number | undefined {
  if (dropped === 0) return undefined;
  return entries.find(({ seq }) => seq !== null)?.seq ?? undefined;
}

export interface EntryChange {
  entry: Entry;
  /** Absent if the entry is new. */
  before?: Entry;
}

/** New and changed entries, oldest first. */
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
  gap: (draft, { data }) => reduceSign(draft, "gap", data, createMoment()),
  catching_up: (draft, { data }) => reduceSign(draft, "catching_up", data, createMoment()),
  closed: (draft, { data }) => reduceSign(draft, "closed", data, createMoment()),
  session: (draft, { session }) => set(draft, { session }),
  requests: (draft, { requests }) => reduceRequests(draft, requests),
  queue: (draft, { queue }) => set(draft, { queue }),
  link: (draft, { state, message }) => set(draft, { link: { state, ...defined({ message }) } }),
  local: (draft, { level, text, at_ms }) =>
    addNotice(draft, createMoment(at_ms), { level, category: "local", text }),
  reset,
};

function apply(draft: Draft, input: ViewInput): void {
  // Unknown kinds of newer sources are ignored.
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
    // Reopened.
    delete draft.view.closed;
    draft.hasChanged = true;
  }
  reduceFrame(draft, frame, toMoment(frame, seq, at_ms));
}

/** Clears what came from events; session, requests and queue stay until updated. */
function reset(draft: Draft, { up_to }: ViewInput & { kind: "reset" }): void {
  const { session, requests, queue, link } = draft.view;
  draft.view = { ...emptyView(), ...defined({ session }), requests, queue, link };
  draft.entries = [];
  draft.memory = { ...createMemory(), ...defined({ wholeTo: up_to }) };
  draft.hasChanged = true;
}

function createMoment(at_ms?: number): Moment {
  return { seq: null, ...defined({ at_ms }), made: 0 };
}

export type { Limits } from "./view/limits.ts";
