// One session: who owns it and who watches it. Operations that start or end its agent go one after another
// through `#ops`, so that two resumes cannot start two agents and a quick reconnect never meets a dying one.
import { CodedError } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { Serial } from "../base/serial.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { ResultEvent } from "../protocol/events.ts";
import type { InputRecord } from "../protocol/queue.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Store } from "../store/types.ts";
import { Audience } from "./audience.ts";
import { Conversation } from "./conversation.ts";
import type { ConversationContext } from "./conversation-context.ts";
import { Delivery } from "./delivery.ts";
import type { Feed } from "./feed.ts";
import { notAllowed, unknownSession } from "./refusals.ts";
import type { Ledger, RespondOrder } from "./requests.ts";
import { Stream } from "./stream.ts";
import { idleNotice } from "./turn.ts";
import type { Client, OpenOrder, Subscriber } from "./types.ts";

export interface SessionContext
  extends Pick<
    ConversationContext,
    "backend" | "publisher" | "ledger" | "log" | "stderrRate" | "env" | "hooks"
  > {
  store: Store;
  ringSize: number;
  /** Starts an agent when there may be one more. */
  withRoom(start: () => Promise<void>): Promise<void>;
  /** Nothing is delivered from the queue any more. */
  isQuiet(): boolean;
  /** What became of a message of the queue. */
  inputChanged(session_id: string, input: InputRecord): void;
}

export class Session {
  readonly row: SessionRow;
  readonly stream: Stream;
  readonly conversation: Conversation;
  readonly delivery: Delivery;
  readonly #context: SessionContext;
  readonly #ops = new Serial();
  readonly #audience: Audience;
  readonly #log: Log;
  #isClosed = false;
  /** An agent that nobody owns is being let go. */
  #isEnding = false;
  /** Messages whose turn has not begun yet. */
  #sending = 0;
  /** The last result, while more is to follow: queued messages, or what the agent does behind its turn. */
  #unfinished: ResultEvent | undefined;
  #settling = 0;
  detached_at_ms: number | undefined;
  /** When work in the background last ended. */
  #calmedAtMs = 0;
  /** It was made for a client who is not its owner yet. */
  isStarting = false;
  /** Its agent is being ended to make room. */
  isResting = false;

  constructor(row: SessionRow, context: SessionContext) {
    this.row = row;
    this.#context = context;
    this.stream = new Stream({
      row,
      ringSize: context.ringSize,
      store: context.store,
      pressure: () => this.balance(),
      owed: () => {
        if (!this.#isClosed) context.publisher.saveRow(this.stream);
      },
    });
    this.#audience = new Audience(this.stream);
    this.#log = context.log.with({ session_id: row.session_id });
    this.conversation = new Conversation({
      ...context,
      log: this.#log,
      stream: this.stream,
      turnEnding: (result) => {
        this.delivery.turnEnding(result);
        const goesOn = this.delivery.queued.length > 0 || this.conversation.isBusy;
        this.#unfinished = goesOn ? result : undefined;
        context.hooks.turnEnded(row, result, goesOn);
        this.#settle();
      },
      calmed: () => {
        this.#calmedAtMs = Date.now();
        this.#noteEnd();
        this.#goOn();
      },
      turnEnded: () => this.#goOn(),
      keepWarm: () => !this.#isForsaken && !this.#isClosed,
    });
    this.delivery = new Delivery({
      row,
      stream: this.stream,
      conversation: this.conversation,
      publisher: context.publisher,
      log: this.#log,
      ops: this.#ops,
      isClosed: () => this.#isClosed || context.isQuiet(),
      start: () =>
        context.withRoom(async () => {
          await this.conversation.start(true);
        }),
      changed: (input) => {
        context.inputChanged(row.session_id, input);
        context.hooks.changed(row.session_id);
      },
      drained: () => this.#noteEnd(),
      failed: (message_id, error) => context.hooks.inputFailed(row, message_id, error),
    });
  }

  /** Nobody will go on talking: no client owns it, and it was not spawned to live by itself. */
  get #isForsaken(): boolean {
    return this.owner === undefined && this.row.managed !== true && !this.#isClosed;
  }

  /** A turn has ended, and its result is on its way to the disk. */
  get isSettling(): boolean {
    return this.#settling > 0;
  }

  #settle(): void {
    this.#settling += 1;
    // Behind the caller's own work, in which the result is given to the log.
    void Promise.resolve()
      .then(() => this.stream.settled())
      .then(() => {
        this.#settling -= 1;
        this.#context.hooks.changed(this.row.session_id);
        this.delivery.pump();
      });
  }

  /** The work that was to follow the last turn is over or was called off, so that turn was the end after all. */
  #noteEnd(): void {
    const { conversation, delivery } = this;
    if (this.#unfinished === undefined || conversation.isTurnActive || conversation.isBusy) return;
    if (delivery.queued.length > 0) return;
    this.#context.hooks.turnEnded(this.row, this.#unfinished, false);
    this.#unfinished = undefined;
    this.#context.publisher.saveRow(this.stream);
  }

  /** What was to follow the last turn will not follow now. */
  #callOff(isAsked: boolean): void {
    if (this.#unfinished !== undefined && !isAsked) {
      this.#context.hooks.turnEnded(this.row, this.#unfinished, false);
    }
    this.#unfinished = undefined;
  }

  /** Since when nothing has been done with it; undefined while something goes on. */
  get idleSinceMs(): number | undefined {
    if (this.owner !== undefined || this.isStarting) return undefined;
    if (this.delivery.isEngaged || this.conversation.isAsking) return undefined;
    if (this.stream.isOwed) return undefined; // what the disk did not take is told by this session
    if (this.conversation.isBusy) return undefined; // work in the background goes on although nobody looks
    // Spec §5.9: a turn that outlasts the time ends with its session.
    if (this.row.managed !== true) {
      const { detached_at_ms } = this;
      return detached_at_ms === undefined ? undefined : Math.max(detached_at_ms, this.#calmedAtMs);
    }
    if (this.conversation.isEngaged) return undefined;
    const { last_event_at_ms = 0 } = this.conversation;
    return Math.max(this.detached_at_ms ?? 0, this.row.last_active_at_ms, last_event_at_ms);
  }

  get owner(): Client | undefined {
    return this.#audience.owner?.client;
  }

  /** Makes `client` the owner, with its agent running. If that fails, nobody has lost anything. */
  open(client: Client, subscriber: Subscriber, order: OpenOrder): Promise<Feed> {
    const opening = this.#open(client, subscriber, order);
    const done = () => {
      this.isStarting = false;
    };
    opening.then(done, done);
    return opening;
  }

  #open(client: Client, subscriber: Subscriber, order: OpenOrder): Promise<Feed> {
    // Who comes back while the old agent is still being let go in peace does not want to wait for that.
    if (this.#isEnding) void this.conversation.stop("now");
    return this.#ops.run(async () => {
      this.#checkOpen();
      await this.conversation.calm();
      checkPresent(client);
      // What the agent says while it starts is for whoever starts it.
      const fresh_seq = this.stream.last_seq;
      await this.#startWith(order);
      if (order.answers !== undefined) this.row.answers = order.answers;
      delete this.row.stopped_at_ms;
      // Whoever is told of a session can resume it, even if we die right behind the reply (DESIGN R3).
      this.#context.publisher.saveRow(this.stream);
      if (!order.resume) await this.stream.settled();
      if (client.isGone && this.owner === undefined) this.#endUnowned("now");
      checkPresent(client);
      const after_seq = order.last_seen_seq ?? (order.resume ? this.stream.ringStart : fresh_seq);
      const feed = this.#audience.own({ client, subscriber }, after_seq);
      this.detached_at_ms = undefined;
      this.balance();
      this.delivery.pump();
      return feed;
    });
  }

  watch(client: Client, subscriber: Subscriber, last_seen_seq: number | undefined): Feed {
    checkPresent(client);
    return this.#audience.watch({ client, subscriber }, last_seen_seq);
  }

  unwatch(client: Client): boolean {
    return this.#audience.unwatch(client);
  }

  async send(client: Client, message: UserMessage): Promise<void> {
    this.#sending += 1;
    const begun = this.#ops.run(async () => {
      this.#checkOpen();
      if (this.owner !== client) throw unknownSession(this.row.session_id);
      await this.conversation.calm();
      return this.conversation.send(message);
    });
    // Only the beginning is queued: a stuck agent that does not read must not hold up close and takeover.
    const { taken } = await begun.finally(() => {
      this.#sending -= 1;
    });
    await taken;
  }

  /** Starts the agent of a session that nobody owns, and stores what it is. If that fails, it never was. */
  begin(): Promise<void> {
    return this.#ops.run(async () => {
      this.#checkOpen();
      await this.conversation.start(false);
      await this.delivery.store();
    });
  }

  /** Ends an agent that has nothing to do; the next message starts it again. False when it has something to do. */
  rest(): Promise<boolean> {
    return this.#ops.run(async () => {
      if (this.#isClosed || this.idleSinceMs === undefined) return false;
      this.isResting = true;
      await this.conversation.stop("finish").finally(() => {
        this.isResting = false;
      });
      this.#log.info("session.rested");
      return true;
    });
  }

  /** Ends the agent until somebody sends a message or opens the session again. `isAsked`: its parent wants it. */
  halt({ isAsked }: { isAsked: boolean }): Promise<void> {
    // At once: what waits for an agent that is just starting stays in the queue.
    this.row.stopped_at_ms = Date.now();
    return this.#ops.run(async () => {
      if (this.#isClosed) return;
      await this.conversation.calm();
      await this.conversation.stop("now");
      this.row.stopped_at_ms = Date.now();
      this.#callOff(isAsked);
      this.#context.hooks.changed(this.row.session_id);
      await this.delivery.store().catch((cause: unknown) => {
        const message = "the agent was ended, but the disk did not take that: after a restart it may go on";
        throw new CodedError("store_failed", message, { cause });
      });
    });
  }

  /** Not queued: an agent that waits for this answer may be what holds up the queue. */
  respond(client: Client | undefined, order: RespondOrder): ReturnType<Ledger["respond"]> {
    // A manager is nobody's client: it may answer where nobody else could.
    if (this.owner !== client && this.row.answers !== "any") throw notAllowed(this.row.session_id); // mutation: only-the-owner-answers
    return this.#context.ledger.respond(order);
  }

  /** Not queued, except behind a message whose turn has not begun: that is the turn which is meant. */
  async interrupt(client: Client, acknowledged: (was_idle: boolean) => void): Promise<void> {
    if (this.#sending > 0 && !this.conversation.isTurnActive) await this.#ops.idle();
    await this.interruptTurn(() => this.owner === client, acknowledged);
  }

  async interruptTurn(mayStop: () => boolean, acknowledged: (was_idle: boolean) => void): Promise<void> {
    const isAllowed = !this.#isClosed && mayStop();
    const isRunning = isAllowed && this.conversation.markInterrupted();
    this.#log.info("session.interrupt", { was_idle: !isRunning });
    acknowledged(!isRunning);
    // Behind the turn there may be sub-agents: they are stopped too, but no result follows.
    if (isRunning || (isAllowed && this.conversation.isBusy)) await this.conversation.stopTurn();
  }

  /**
   * Ends the session for good. A running turn gets its result, then the watchers are told. `mayClose` is asked when
   * its turn has come: a session that has changed hands meanwhile stays, and the answer is false.
   */
  close(reason: string, mayClose: (owner: Client | undefined) => boolean = () => true): Promise<boolean> {
    return this.#ops.run(async () => {
      if (this.#isClosed) return true;
      if (!mayClose(this.owner)) return false;
      this.#isClosed = true;
      if (reason === "idle_timeout" && this.conversation.isTurnActive) {
        this.#context.publisher.publish(this.stream, idleNotice(this.row.backend));
      }
      this.delivery.close();
      await this.conversation.calm();
      await this.conversation.stop("now");
      await this.#context.ledger.idle(this.row.session_id);
      // What its children do must not start it again.
      if (reason === "owner_closed") {
        this.row.stopped_at_ms = Date.now();
        this.#callOff(false);
      }
      if (reason === "owner_closed" || this.stream.isOwed) this.#context.publisher.saveRow(this.stream);
      await this.stream.settled();
      this.stream.close();
      this.#context.ledger.release(this.row.session_id);
      this.#audience.close(reason);
      return true;
    });
  }

  /** The owner is gone (spec §5.9): a turn goes on, a question goes on waiting, an idle agent is ended. */
  detach(nowMs: number): void {
    this.#audience.disown();
    this.detached_at_ms = nowMs;
    this.balance();
    if (this.#isForsaken && !this.conversation.isEngaged) this.#endUnowned("now");
  }

  /** Backpressure (DESIGN R11): the owner's full outbox or a slow log pauses the agent; a watcher never does. */
  balance(): void {
    this.conversation.hold(this.stream.isOverfull || this.#audience.owner?.isFull === true);
  }

  /** Resolves when the operations queued so far are done. */
  idle(): Promise<void> {
    return this.#ops.idle();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw unknownSession(this.row.session_id);
  }

  /** Whoever owns the session keeps its options when the agent does not start with the new ones. */
  async #startWith(order: OpenOrder): Promise<void> {
    const { options, cwd } = this.row;
    if (!this.conversation.isRunning && order.options !== undefined) this.#adoptOptions(order.options);
    try {
      await this.conversation.start(order.resume);
    } catch (error) {
      this.row.options = options;
      if (cwd === undefined) delete this.row.cwd;
      else this.row.cwd = cwd;
      throw error;
    }
  }

  /** New options count from the next start of the agent; a missing cwd stays what it was. */
  #adoptOptions(options: Record<string, unknown>): void {
    if (Object.keys(options).length === 0) return;
    const { cwd = this.row.cwd } = options;
    this.row.options = cwd === undefined ? options : { ...options, cwd };
    if (typeof cwd === "string") this.row.cwd = cwd;
  }

  /** The agent has nothing to do: the next message, or its end if nobody is there to send one. */
  #goOn(): void {
    this.delivery.pump();
    if (this.#isForsaken && this.delivery.queued.length === 0) this.#endUnowned("finish");
  }

  #endUnowned(how: "finish" | "now"): void {
    void this.#ops.run(async () => {
      await this.conversation.calm();
      if (!this.#isForsaken || this.conversation.isEngaged) return;
      this.#isEnding = true;
      await this.conversation.stop(how).finally(() => {
        this.#isEnding = false;
      });
    });
  }
}

function checkPresent(client: Client): void {
  if (client.isGone) throw new CodedError("session_unknown", "the client disconnected before it was served");
}
