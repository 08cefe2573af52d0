// Runs Claude Code by its Agent SDK: one process per message, which ends, with everything it started, when this is over.
// We start the process ourselves: the SDK's own way to end it leaves a running command alone (0.3.325 with 2.1.197).

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { AgentProcess } from "../../../base/agent-process.ts";
import { checkCwd } from "../../../base/child.ts";
import type { ControlAnswer } from "../../../base/claude-wire/control.ts";
import { awaitInterrupt, RESULT_LIMIT_MS } from "../../../base/claude-wire/interrupt.ts";
import { CodedError, readErrno, toMessage } from "../../../base/coded-error.ts";
import { isObject } from "../../../base/json.ts";
import { defined } from "../../../base/values.ts";
import { toUserTurn, type UserTurn } from "./attachments.ts";
import { describeMissingSdk, SDK_PACKAGE, SDK_VARIABLE } from "./installed.ts";
import { NOTICE_TYPE } from "./notice.ts";
import type { ClaudeSdk, SdkOptions, SdkQuery, SdkSpawnOrder } from "./sdk-types.ts";
import { ASK, toToolRequest } from "./tool-requests.ts";
import { buildClaudeSettings } from "./tools.ts";
import {
  ClaudeFailure,
  type ClaudeMessage,
  type ClaudeOrder,
  type ClaudeTransport,
  describeFailure,
  MARKER,
  READY_LIMIT_MS,
  toStartFailure,
} from "./transport.ts";

type Env = ClaudeOrder["env"];

export interface SdkTransportOptions {
  load?(env: Env): Promise<ClaudeSdk>;
  /** For its first message; the SDK itself waits without a limit. */
  readyLimitMs?: number;
}

const FINISH_LIMIT_MS = 5000;

export class SdkTransport implements ClaudeTransport {
  readonly #load: (env: Env) => Promise<ClaudeSdk>;
  readonly #readyLimitMs: number;

  constructor({ load = loadSdk, readyLimitMs = READY_LIMIT_MS }: SdkTransportOptions = {}) {
    this.#load = load;
    this.#readyLimitMs = readyLimitMs;
  }

  async *run(order: ClaudeOrder): AsyncGenerator<ClaudeMessage> {
    if (order.signal.aborted) return;
    const sdk = await this.#load(order.env);
    await checkCwd(order.cwd).catch((cause: unknown) => Promise.reject(toStartFailure(cause)));
    if (order.signal.aborted) return;
    yield* new SdkRun(order).messages(sdk, this.#readyLimitMs);
  }
}

class SdkRun {
  readonly #order: ClaudeOrder;
  readonly #stdout = new PassThrough();
  readonly #process = new AgentProcess({
    name: "claude",
    reader: { push: (chunk) => void this.#stdout.write(chunk), end: () => void this.#stdout.end() },
    finishMs: FINISH_LIMIT_MS,
    errorLine: () => undefined,
    ended: () => undefined,
  });
  /** Why the process could not be started; undefined if it was. */
  #fault: Promise<unknown> = Promise.resolve();
  #isAnswered = false;
  #settleOver: () => void = () => undefined;
  readonly #over = new Promise<void>((resolve) => {
    this.#settleOver = resolve;
  });

  constructor(order: ClaudeOrder) {
    this.#order = order;
  }

  async *messages(sdk: ClaudeSdk, readyLimitMs: number): AsyncGenerator<ClaudeMessage> {
    const { signal } = this.#order;
    let cancelling: Promise<void> | undefined;
    let cancel: () => void = () => undefined;
    let isLate = false;
    const starting = setTimeout(() => {
      isLate = true;
      void this.#process.stop("now");
    }, readyLimitMs);
    try {
      const query = sdk.query({ prompt: this.#prompt(), options: this.#toOptions() });
      cancel = () => {
        cancelling ??= this.#interrupt(query);
      };
      signal.addEventListener("abort", cancel, { once: true });
      for await (const message of query) {
        clearTimeout(starting);
        if (!isMessage(message)) continue;
        if (message.type === "result") this.#finish();
        yield message;
      }
      if (!this.#isAnswered && !signal.aborted) throw this.#toDeath("Claude Code ended without a result");
    } catch (error) {
      // The SDK throws after a result that is an error, and when we end the process: both are known already.
      if (this.#isAnswered || signal.aborted) return;
      throw isLate ? this.#notReady(readyLimitMs) : await this.#toFailure(error);
    } finally {
      clearTimeout(starting);
      signal.removeEventListener("abort", cancel);
      this.#settleOver();
      await cancelling;
      await this.#stop();
    }
  }

  /** One message; claude's stdin stays open until its answer, because an interrupt needs it. */
  async *#prompt(): AsyncGenerator<UserTurn> {
    yield toUserTurn(this.#order);
    await this.#over;
  }

  #finish(): void {
    this.#isAnswered = true;
    this.#settleOver();
    void this.#stop();
  }

  #stop(): Promise<void> {
    return this.#process.stop(this.#isAnswered ? "finish" : "now");
  }

  /** An interrupted claude ends its commands; ending only the process would leave them running. */
  async #interrupt(query: SdkQuery): Promise<void> {
    const asked = query.interrupt().then(
      (): ControlAnswer => ({ ok: true, response: {} }),
      (error: unknown): ControlAnswer => ({ ok: false, error: toMessage(error) }),
    );
    await awaitInterrupt(asked, this.#over);
    await this.#process.stop(this.#isAnswered ? "finish" : "now", { finishMs: RESULT_LIMIT_MS });
  }

  #toOptions(): SdkOptions {
    const { systemPrompt, resume, executable, maxBudgetUsd, bare, ...order } = this.#order;
    return {
      cwd: order.cwd,
      env: { ...order.env },
      model: order.model,
      maxTurns: order.maxTurns,
      permissionMode: order.permissionMode,
      systemPrompt: {
        type: "preset",
        preset: "claude_code",
        ...(systemPrompt === "" ? {} : { append: systemPrompt }),
      },
      tools: [...order.tools],
      // A workspace's settings can run programs (hooks), the user's can replace the login (apiKeyHelper, env).
      settingSources: [],
      settings: buildClaudeSettings(order.unreadable),
      strictMcpConfig: true,
      includePartialMessages: true,
      ...defined({ maxBudgetUsd, resume, pathToClaudeCodeExecutable: executable }),
      extraArgs: { ...(bare === true ? { bare: null } : {}), ...defined({ effort: order.effort }) },
      canUseTool: async (tool_name, input, about) => {
        // In the form of the control protocol, whose values the SDK passes on unchecked.
        const request = toToolRequest({
          tool_name,
          input,
          tool_use_id: about.toolUseID,
          agent_id: about.agentID,
          title: about.title,
          description: about.description,
          decision_reason: about.decisionReason,
          decision_reason_type: about.decisionReasonType,
        });
        if (request === undefined)
          return { behavior: "deny", message: "demian could not read this request." };
        return order.canUseTool(request, AbortSignal.any([about.signal, order.signal]));
      },
      hooks: { PreToolUse: [{ hooks: [() => Promise.resolve(ASK)] }] },
      spawnClaudeCodeProcess: (spawn) => this.#spawn(spawn),
    };
  }

  #spawn({ command, args, cwd, env }: SdkSpawnOrder): ChildProcessWithoutNullStreams {
    const { [MARKER]: _outer, ...rest } = env;
    const order = { command, args, env: rest, marker: MARKER, ...defined({ cwd }) };
    const { process, started } = this.#process.spawn(order);
    this.#fault = started.then(
      () => undefined,
      (error: unknown) => error,
    );
    // The SDK reads stdout through our stream, which ends even if a process that outlives claude keeps the pipe open.
    return new Proxy(process, {
      get: (target, key) => (key === "stdout" ? this.#stdout : Reflect.get(target, key)),
    });
  }

  #notReady(limitMs: number): ClaudeFailure {
    const message = `Claude Code did not start (it was not ready after ${limitMs / 1000} s)`;
    return new ClaudeFailure("start_failed", describeFailure(message, this.#process.lastLines));
  }

  #toDeath(message: string, cause?: unknown): ClaudeFailure {
    return new ClaudeFailure("died", describeFailure(message, this.#process.lastLines), cause);
  }

  async #toFailure(error: unknown): Promise<ClaudeFailure> {
    if (error instanceof ClaudeFailure) return error;
    const fault = await this.#fault;
    if (fault !== undefined) return toStartFailure(fault);
    if (error instanceof CodedError && error.code === "spawn_failed") return toStartFailure(error);
    const message = toMessage(error);
    if (/native binary|executable not found|CLI binary/i.test(message)) {
      return new ClaudeFailure("not_installed", `${message}; set cliPath to the \`claude\` program`, error);
    }
    return this.#toDeath(`Claude Code failed: ${message}`, error);
  }
}

/** From the file that the user names, otherwise like any package of demian's. Throws `ClaudeFailure`. */
async function loadSdk(env: Env): Promise<ClaudeSdk> {
  const file = env[SDK_VARIABLE];
  // Not a literal, so that the build does not try to resolve it.
  const where: string = file === undefined || file === "" ? SDK_PACKAGE : pathToFileURL(file).href;
  try {
    const sdk: Partial<ClaudeSdk> = await import(where);
    if (typeof sdk.query === "function") return { query: sdk.query };
  } catch (cause) {
    const isMissing = readErrno(cause) === "ERR_MODULE_NOT_FOUND" && toMessage(cause).includes(SDK_PACKAGE);
    const what = isMissing ? "is not installed" : `could not be loaded (${toMessage(cause)})`;
    throw new ClaudeFailure("not_installed", describeMissingSdk(what), cause);
  }
  throw new ClaudeFailure(
    "not_installed",
    describeMissingSdk(`at ${where} has no query(): it is another module`),
  );
}

function isMessage(value: unknown): value is ClaudeMessage {
  return isObject(value) && typeof value["type"] === "string" && value["type"] !== NOTICE_TYPE;
}
