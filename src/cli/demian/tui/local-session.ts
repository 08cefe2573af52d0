// Runs the session core in this process with one session and the memory store, and passes what it publishes to the
// screen's view.

import type { Backend } from "../../../backends/types.ts";
import { CodedError } from "../../../base/coded-error.ts";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { asNumber, asObject, defined } from "../../../base/values.ts";
import type { ChangesPort } from "../../../client/view/change-source.ts";
import type { Answer, RequestRow, ViewInput } from "../../../client/view/types.ts";
import { noObserver } from "../../../observe/index.ts";
import type { SessionView } from "../../../protocol/views.ts";
import {
  type Batch,
  createSessions,
  drain,
  type Sessions,
  type Subscriber,
} from "../../../sessions/index.ts";
import { createMemoryStore } from "../../../store/index.ts";
import type { Delivery } from "../../../tui/types.ts";
import { type CheckpointPlace, pruneCheckpoints } from "./checkpoints.ts";

export interface LocalSessionOptions {
  session_id: string;
  name: string;
  backend: Backend;
  cwd: string;
  push(input: ViewInput): void;
  checkpoints: CheckpointPlace;
  /** Called after the result of a turn. */
  onResult(): void;
}

/** The screen reads every frame at once, so few are kept. */
const RING_FRAMES = 1024;

export class LocalSession {
  readonly #options: LocalSessionOptions;
  readonly #sessions: Sessions;
  #view: SessionView | undefined;
  #contextTokens = 0;

  constructor(options: LocalSessionOptions) {
    this.#options = options;
    this.#sessions = createSessions({
      backends: [options.backend],
      store: createMemoryStore(),
      log: silentLog,
      observer: noObserver,
      metrics: createMetrics(),
      limits: { maxSessions: 1, maxSessionsPerClient: 1 },
      ringSize: RING_FRAMES,
      stderrRate: { lines: 0, windowMs: 0 },
      env: defined({ PATH: options.checkpoints.env["PATH"] }),
      checkpoints: options.checkpoints,
      expiryMs: 0,
      family: { limits: { maxChildren: 0, maxDepth: 0, maxSize: 1 }, stallMs: 0 },
      notify: {
        allowUrls: [],
        on: [],
        children: false,
        remindMs: 0,
        env: {},
        identity: {},
        userAgent: "demian",
      },
    });
  }

  /** A turn is running, or a message is queued. */
  get isBusy(): boolean {
    const session = this.#live;
    return session !== undefined && (session.isTurnActive || session.queued.length > 0);
  }

  async open(): Promise<void> {
    const { session_id, name, backend, cwd } = this.#options;
    const { manager } = this.#sessions;
    const { session } = await manager.spawn({ backend: backend.name, session_id, name, cwd });
    this.#show(session);
    manager.onChange((change) => {
      if (change.kind === "session") this.#show(change.session);
      if (change.kind === "queue") this.#showQueue();
    });
    const watched = await manager.watch({ id: "screen" }, this.#subscriber(), session_id, undefined);
    watched.attachment.start();
  }

  /** Allowed while a request is pending, unlike in the manager: the message waits for the turn to end. */
  async send(text: string, how: Delivery): Promise<string | undefined> {
    if (this.#live === undefined) throw new CodedError("session_closed", "the session is not open");
    const turn_id = this.#live.row.turn?.turn_id;
    const { note } = await this.#live.enqueue({
      message: { role: "user", content: text },
      kind: "user",
      isFirst: how === "now",
      ...(how === "steer" ? { steer: true } : {}),
    });
    // Not the turn that this message started.
    if (how === "now" && turn_id !== undefined && this.#live?.row.turn?.turn_id === turn_id)
      await this.interrupt();
    return note;
  }

  async interrupt(): Promise<void> {
    await this.#live?.interrupt(undefined, () => undefined);
  }

  async respond({ request_id, shown_hash }: RequestRow, answer: Answer): Promise<void> {
    const { session_id } = this.#options;
    const by = { source: "tui", answered_by: { actor: "person", via: "tui" } } as const;
    await this.#sessions.manager.respond({ session_id, request_id, shown_hash, answer, ...by });
  }

  /** What the turns changed in the repository. */
  get changes(): ChangesPort {
    const { session_id } = this.#options;
    const { manager } = this.#sessions;
    return {
      list: (query) => manager.changes(session_id, query),
      file: (query) => manager.fileChanges(session_id, query),
      undo: (order) => manager.undo(session_id, order),
    };
  }

  async cancelQueued(message_id: string): Promise<void> {
    await this.#live?.cancel(message_id);
  }

  /** Returns the number of messages removed. */
  async clearQueue(): Promise<number> {
    const cancelled = (this.#live?.queued ?? []).map(({ message_id }) =>
      this.cancelQueued(message_id).then(
        () => 1,
        () => 0, // its turn has just started
      ),
    );
    return (await Promise.all(cancelled)).reduce<number>((sum, one) => sum + one, 0);
  }

  async close(): Promise<void> {
    const { session_id } = this.#options;
    const { manager, hub, quiet, checkpoints } = this.#sessions;
    if (this.#live !== undefined) {
      await manager.stop(session_id, { tree: false });
      this.#show(await manager.view(session_id));
    }
    await quiet();
    await checkpoints?.close();
    await pruneCheckpoints(checkpoints);
    await drain(hub, 0, AbortSignal.abort(), silentLog);
  }

  get #live(): Sessions["hub"]["sessions"][number] | undefined {
    return this.#sessions.hub.table.live.get(this.#options.session_id);
  }

  #subscriber(): Subscriber {
    const nothing = () => undefined;
    return {
      write: (batch) => this.#write(batch),
      isFull: () => false,
      ...{ gap: nothing, lagging: nothing, taken: nothing, closed: nothing },
    };
  }

  #write({ bytes }: Batch): void {
    for (const line of bytes.toString().trimEnd().split("\n")) {
      const frame = JSON.parse(line);
      this.#options.push({ kind: "frame", seq: null, frame, at_ms: Date.now() });
      if (frame.category === "context_usage") this.#contextUsed(asObject(frame.data));
      if (frame.type === "agent.result") this.#options.onResult();
    }
  }

  /** The core sums the tokens of all model calls of a turn, which is not the current size of the context. */
  #contextUsed({ used_tokens }: Record<string, unknown>): void {
    this.#contextTokens = asNumber(used_tokens) ?? this.#contextTokens;
    if (this.#view !== undefined) this.#show(this.#view);
  }

  #show(session: SessionView): void {
    this.#view = session;
    const shown = { ...session, context_tokens: this.#contextTokens };
    this.#options.push({ kind: "session", session: shown });
  }

  #showQueue(): void {
    this.#options.push({ kind: "queue", queue: [...(this.#live?.queued ?? [])] });
  }
}
