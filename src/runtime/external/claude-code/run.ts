// Runs one message to Claude Code: budget, session, permissions, cost and report.

import { CodedError, toMessage } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import { type Effort, pickNearestEffort } from "../../providers/effort.ts";
import type { ClaudeCodeConfig } from "../../providers/registry-types.ts";
import type { ProviderFailure } from "../../providers/types.ts";
import { getStateDir } from "../../state-dir.ts";
import { createUsage } from "../../usage.ts";
import type { ExternalReport, ExternalTurn } from "../types.ts";
import { type AttachedMessage, attach } from "./attachments.ts";
import { SILENT_TOOLS, ToolBridge } from "./can-use-tool.ts";
import { buildClaudeEnvironment } from "./environment.ts";
import { findLoginProblem } from "./login.ts";
import { readNotice } from "./notice.ts";
import { addSummary, chooseRecovery, chooseStart, type SessionSplit, toLostSplit } from "./resume.ts";
import { type SessionKey, toSessionKey } from "./session-key.ts";
import { lockSession } from "./session-lock.ts";
import { SessionMap } from "./session-map.ts";
import { listOfferedTools } from "./tools.ts";
import { Translation } from "./translate.ts";
import type { TurnEnding } from "./translate-result.ts";
import { EXECUTOR } from "./translate-tools.ts";
import type { ClaudeOrder, ClaudeTransport } from "./transport.ts";
import { type ProcessSpend, UsageLedger } from "./usage-ledger.ts";

export interface ClaudeRunParts {
  config: ClaudeCodeConfig;
  transport: ClaudeTransport;
  /** The `claude` program; absent to use the one that comes with the transport. */
  executable?: string;
  /** Spent by this process. */
  spend: ProcessSpend;
  /** How long the user may take to answer when the session no longer exists. */
  questionLimitMs?: number;
}

/** The outcome of one try. */
interface Attempt {
  report: ExternalReport;
  isResumeInvalid: boolean;
}

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Never rejects. */
export async function runClaudeTurn(parts: ClaudeRunParts, turn: ExternalTurn): Promise<ExternalReport> {
  try {
    return await new ClaudeTurn(parts, turn).run();
  } catch (error) {
    if (turn.signal.aborted) return { ...emptyReport(), outcome: "aborted", message: "aborted" };
    return { ...emptyReport(), outcome: "failed", message: toMessage(error), ...toFailure(error) };
  }
}

class ClaudeTurn {
  readonly #parts: ClaudeRunParts;
  readonly #turn: ExternalTurn;
  readonly #env: Record<string, string>;
  readonly #key: SessionKey;
  readonly #map: SessionMap;
  readonly #ledger: UsageLedger;
  /** What is left of the budget. */
  #leftUsd: number | undefined;
  /** By Claude Code session. */
  readonly #locks = new Map<string, () => void>();

  constructor(parts: ClaudeRunParts, turn: ExternalTurn) {
    const { config, spend } = parts;
    const warn = (message: string) => turn.emit({ type: "warning", message });
    this.#parts = parts;
    this.#turn = turn;
    this.#env = buildClaudeEnvironment(turn.env, config);
    this.#key = toSessionKey(turn, config);
    this.#map = new SessionMap({ directory: turn.stateDirectory, warn });
    this.#ledger = new UsageLedger({
      directory: getStateDir(turn.env),
      profile: turn.profile,
      scope: config.usageLedgerScope,
      budgetUsd: config.budgetUsd,
      memory: spend,
      warn,
    });
  }

  async run(): Promise<ExternalReport> {
    const { config } = this.#parts;
    const { signal, text, parts } = this.#turn;
    const attached = attach(text, parts, config.attachmentFallback);
    this.#leftUsd = await this.#ledger.check();
    if (config.authPreflight) await this.#checkLogin();
    try {
      const resume = await this.#begin();
      signal.throwIfAborted();
      const report = await this.#converse(attached, resume);
      await this.#ledger.add(report.usage.costUsd ?? 0);
      if (report.outcome === "aborted") await this.#afterAbort();
      return report;
    } finally {
      for (const free of this.#locks.values()) free();
    }
  }

  async #checkLogin(): Promise<void> {
    const missing = await findLoginProblem(this.#env);
    if (missing !== undefined) throw new CodedError("auth", missing);
  }

  /** The session to resume, locked. Reports a new session that replaces another. */
  async #begin(): Promise<string | undefined> {
    if (this.#isStateless) return undefined;
    const start = chooseStart(this.#key, await this.#map.list(this.#key.rootSessionId), this.#turn);
    if (start.resume !== undefined) {
      await this.#lock(start.resume);
      return start.resume;
    }
    if (start.split !== undefined) this.#tellSplit(start.split);
    return undefined;
  }

  async #converse(attached: AttachedMessage, resume: string | undefined): Promise<ExternalReport> {
    const first = await this.#attempt(attached, resume);
    if (!first.isResumeInvalid || resume === undefined) return first.report;
    const { config, questionLimitMs } = this.#parts;
    const recovery = await chooseRecovery(config.onInvalidResume, this.#turn, questionLimitMs);
    this.#turn.signal.throwIfAborted();
    if (recovery === "stop") {
      const message = `not sent: Claude Code session ${resume} no longer exists`;
      return { ...emptyReport(), outcome: "denied", message };
    }
    await this.#map.forget(this.#key);
    this.#tellSplit(toLostSplit(resume, recovery));
    const { prompt, images } = attached;
    const again = recovery === "fresh" ? prompt : addSummary(prompt, this.#turn.history);
    return (await this.#attempt({ prompt: again, images }, undefined)).report;
  }

  async #attempt(attached: AttachedMessage, resume: string | undefined): Promise<Attempt> {
    const { profile, emit, signal } = this.#turn;
    const translation = new Translation({ provider: profile, silentTools: SILENT_TOOLS });
    const bridge = new ToolBridge({
      turn: this.#turn,
      translation,
      permissionMode: this.#parts.config.permissionMode,
      env: this.#env,
    });
    const given = new AbortController();
    const order = this.#order(attached, resume, bridge, AbortSignal.any([signal, given.signal]));
    let fault: string | undefined;
    let cancelled: string | undefined;
    let session = resume;
    try {
      for await (const message of this.#parts.transport.run(order)) {
        const notice = readNotice(message);
        if (notice?.kind === "cancelled") cancelled = notice.text;
        if (notice?.kind === "warning") emit({ type: "warning", message: notice.text });
        for (const event of translation.take(message)) emit(event);
        if (translation.sessionId !== session) {
          session = translation.sessionId;
          await this.#remember(session);
        }
        if (translation.isHopeless && !given.signal.aborted) given.abort();
      }
    } catch (error) {
      fault = toMessage(error);
    }
    const { isResumeInvalid } = translation;
    if (resume !== undefined && session === resume && !isResumeInvalid) await this.#remember(session);
    const ending: TurnEnding = {
      aborted: signal.aborted,
      stopped: bridge.isStopped,
      plan: bridge.plan,
      ...defined({ fault }),
    };
    for (const event of translation.finish(ending)) emit(event);
    const report = translation.report(ending);
    if (report.outcome !== "aborted" || cancelled === undefined) return { report, isResumeInvalid };
    return { report: { ...report, message: `aborted (Claude Code: ${cancelled})` }, isResumeInvalid };
  }

  #order(
    { prompt, images }: AttachedMessage,
    resume: string | undefined,
    bridge: ToolBridge,
    signal: AbortSignal,
  ): ClaudeOrder {
    const { config, executable } = this.#parts;
    const { systemPrompt, model, effort, cwd, maxTurns, unreadable, question } = this.#turn;
    const { permissionMode, allowSubagents, useBareMode } = config;
    return {
      ...{ prompt, images, systemPrompt, model, cwd, maxTurns, unreadable, permissionMode, signal },
      tools: listOfferedTools({ allowSubagents, permissionMode, canAsk: question !== undefined }),
      env: this.#env,
      canUseTool: (request, requestSignal) => bridge.canUseTool(request, requestSignal),
      ...defined({ resume, executable, effort: toClaudeEffort(effort) }),
      ...(useBareMode ? { bare: true } : {}),
      ...defined({ maxBudgetUsd: this.#leftUsd }),
    };
  }

  /** Stores the session as soon as it has an id, so that it can be resumed after an interrupt or a crash. */
  async #remember(session: string | undefined): Promise<void> {
    if (session === undefined || !SESSION_ID.test(session) || this.#isStateless) return;
    await this.#lock(session).catch(() => undefined); // no one else can know a new session
    await this.#map.remember(this.#key, {
      claudeSessionId: session,
      isSubagent: this.#turn.agentPath !== undefined,
    });
  }

  async #lock(session: string): Promise<void> {
    const { emit, stateDirectory } = this.#turn;
    if (!this.#parts.config.sessionLock || this.#locks.has(session)) return;
    try {
      this.#locks.set(session, await lockSession(stateDirectory, session));
    } catch (error) {
      if (error instanceof CodedError && error.code === "session_locked") throw error;
      // A full or read-only disk costs the lock, not the message.
      const message = `could not lock the Claude Code session, so another demian may use it too: ${toMessage(error)}`;
      emit({ type: "warning", message });
      this.#locks.set(session, () => undefined);
    }
  }

  async #afterAbort(): Promise<void> {
    if (this.#parts.config.abortPolicy !== "fresh" || this.#isStateless) return;
    await this.#map.forget(this.#key);
    this.#tellSplit({
      reason: "abort",
      message: "Claude Code was interrupted; the next message starts a new session (abortPolicy: fresh)",
    });
  }

  get #isStateless(): boolean {
    return this.#parts.config.historyPolicy === "stateless";
  }

  #tellSplit({ reason, message }: SessionSplit): void {
    this.#turn.emit({ type: "session.context.split", executor: EXECUTOR, reason, message });
  }
}

const emptyReport = () => ({ text: "", turns: 0, usage: createUsage() });

function toFailure(error: unknown): { failure?: ProviderFailure } {
  if (!(error instanceof CodedError) || error.code !== "auth") return {};
  return { failure: { kind: "auth", message: error.message } };
}

const CLAUDE_EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

function toClaudeEffort(effort: Effort | undefined): string | undefined {
  return effort === undefined ? undefined : pickNearestEffort(effort, CLAUDE_EFFORTS);
}
