// Claude Code by its Agent SDK: one process a message, which has ended with everything that it started when this is over.
import { pathToFileURL } from "node:url";
import { within } from "../../../base/child.ts";
import { CodedError, errnoOf, messageOf } from "../../../base/coded-error.ts";
import { isObject } from "../../../base/json.ts";
import { type UserTurn, userTurn } from "./attachments.ts";
import { SDK_PACKAGE, SDK_VARIABLE, sdkMissing } from "./installed.ts";
import { NOTICE_TYPE } from "./notice.ts";
import { SdkChild } from "./sdk-process.ts";
import type { ClaudeSdk, SdkOptions, SdkQuery, SdkToolAbout } from "./sdk-types.ts";
import { claudeSettings } from "./tools.ts";
import {
  ACK_LIMIT_MS,
  ClaudeFailure,
  type ClaudeMessage,
  type ClaudeOrder,
  type ClaudeTransport,
  FINISH_LIMIT_MS,
  READY_LIMIT_MS,
  RESULT_LIMIT_MS,
  type ToolRequest,
} from "./transport.ts";

type Env = ClaudeOrder["env"];

export interface SdkTransportOptions {
  load?(env: Env): Promise<ClaudeSdk>;
  /** For its first word; the SDK itself waits for it without end. */
  readyLimitMs?: number;
}

export class SdkTransport implements ClaudeTransport {
  readonly #load: (env: Env) => Promise<ClaudeSdk>;
  readonly #readyLimitMs: number;

  constructor({ load = loadSdk, readyLimitMs = READY_LIMIT_MS }: SdkTransportOptions = {}) {
    this.#load = load;
    this.#readyLimitMs = readyLimitMs;
  }

  async *run(order: ClaudeOrder): AsyncGenerator<ClaudeMessage> {
    const { signal } = order;
    if (signal.aborted) return;
    const sdk = await this.#load(order.env);
    if (signal.aborted) return;
    const child = new SdkChild();
    const conversation = new Conversation(order);
    let cancelling: Promise<void> | undefined;
    let cancel: () => void = () => undefined;
    let isLate = false;
    const starting = setTimeout(() => {
      isLate = true;
      void child.stop();
    }, this.#readyLimitMs);
    try {
      const query = sdk.query({
        prompt: conversation.messages(),
        options: optionsOf(order, child),
      });
      cancel = () => {
        cancelling ??= interrupt(query, conversation, child);
      };
      signal.addEventListener("abort", cancel, { once: true });
      for await (const message of query) {
        clearTimeout(starting);
        if (!isMessage(message)) continue;
        if (message.type === "result") conversation.end("answered");
        yield message;
      }
      if (!conversation.isAnswered && !signal.aborted) {
        throw new ClaudeFailure("died", child.stderr.after("Claude Code ended without a result"));
      }
    } catch (error) {
      // The SDK throws after a result that is an error, and when we end the process: both are told already.
      if (conversation.isAnswered || signal.aborted) return;
      throw isLate ? notReady(child, this.#readyLimitMs) : failureOf(error, child);
    } finally {
      clearTimeout(starting);
      signal.removeEventListener("abort", cancel);
      conversation.end("over");
      await cancelling;
      await child.stop(conversation.isAnswered ? { finishMs: FINISH_LIMIT_MS } : {});
    }
  }
}

/** One message, after which Claude Code's stdin stays open until its answer: an interrupt needs it. */
class Conversation {
  readonly #order: ClaudeOrder;
  readonly ended: Promise<void>;
  #end: () => void = () => undefined;
  #isAnswered = false;

  constructor(order: ClaudeOrder) {
    this.#order = order;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  end(how: "answered" | "over"): void {
    if (how === "answered") this.#isAnswered = true;
    this.#end();
  }

  async *messages(): AsyncGenerator<UserTurn> {
    yield userTurn(this.#order);
    await this.ended;
  }
}

/** It ends its commands itself when it is asked to; whoever ends the process without that leaves them running. */
async function interrupt(query: SdkQuery, conversation: Conversation, child: SdkChild): Promise<void> {
  let isAsked = false;
  const asked = query.interrupt().then(
    () => {
      isAsked = true;
    },
    () => undefined,
  );
  await within(ACK_LIMIT_MS, Promise.race([asked, conversation.ended]));
  if (isAsked) await within(RESULT_LIMIT_MS, conversation.ended);
  await child.stop(conversation.isAnswered ? { finishMs: RESULT_LIMIT_MS } : {});
}

function optionsOf(order: ClaudeOrder, child: SdkChild): SdkOptions {
  const { systemPrompt, resume, executable, bare } = order;
  return {
    cwd: order.cwd,
    env: { ...order.env },
    model: order.model,
    maxTurns: order.maxTurns,
    ...(order.maxBudgetUsd === undefined ? {} : { maxBudgetUsd: order.maxBudgetUsd }),
    permissionMode: order.permissionMode,
    systemPrompt: {
      type: "preset",
      preset: "claude_code",
      ...(systemPrompt === "" ? {} : { append: systemPrompt }),
    },
    tools: [...order.tools],
    // A repository's settings run programs (hooks), the user's can replace the login (apiKeyHelper, env).
    settingSources: [],
    settings: claudeSettings(order.unreadable),
    strictMcpConfig: true,
    includePartialMessages: true,
    ...(resume === undefined ? {} : { resume }),
    ...(executable === undefined ? {} : { pathToClaudeCodeExecutable: executable }),
    ...(bare === true ? { extraArgs: { bare: null } } : {}),
    canUseTool: (tool, input, about) => {
      // The SDK hands over what it was sent, whatever that is.
      if (typeof tool !== "string" || typeof about.toolUseID !== "string" || !isObject(input)) {
        return Promise.resolve({ behavior: "deny", message: "Nobody can decide about that." });
      }
      return order.canUseTool(requestOf(tool, input, about), AbortSignal.any([about.signal, order.signal]));
    },
    // Without it Claude Code runs by itself what its own rules allow, and reading.
    hooks: { PreToolUse: [{ hooks: [askFirst] }] },
    spawnClaudeCodeProcess: (spawn) => child.start(spawn),
  };
}

function askFirst(): Promise<unknown> {
  return Promise.resolve({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask" },
  });
}

function requestOf(tool: string, input: Record<string, unknown>, about: SdkToolAbout): ToolRequest {
  const title = about.title ?? about.description;
  // With our own hook as the reason there is nothing to tell.
  const reason = about.decisionReasonType === "hook" ? undefined : about.decisionReason;
  return {
    callId: about.toolUseID,
    tool,
    input,
    ...(title === undefined || title === "" ? {} : { title }),
    ...(reason === undefined || reason === "" ? {} : { reason }),
    ...(about.agentID === undefined ? {} : { agentId: about.agentID }),
  };
}

/** From where the user says, else as any package of demian's. Throws `ClaudeFailure`. */
async function loadSdk(env: Env): Promise<ClaudeSdk> {
  const file = env[SDK_VARIABLE];
  // No literal, so that it is looked for when it is needed and not when demian is built.
  const where: string = file === undefined || file === "" ? SDK_PACKAGE : pathToFileURL(file).href;
  try {
    const sdk: Partial<ClaudeSdk> = await import(where);
    if (typeof sdk.query === "function") return { query: sdk.query };
  } catch (cause) {
    const isMissing = errnoOf(cause) === "ERR_MODULE_NOT_FOUND" && messageOf(cause).includes(SDK_PACKAGE);
    const what = isMissing ? "is not installed" : `cannot be loaded (${messageOf(cause)})`;
    throw new ClaudeFailure("not_installed", sdkMissing(what), cause);
  }
  throw new ClaudeFailure("not_installed", sdkMissing(`at ${where} has no query(): it is something else`));
}

function notReady(child: SdkChild, limitMs: number): ClaudeFailure {
  const message = `Claude Code did not start (it was not ready after ${limitMs / 1000} s)`;
  return new ClaudeFailure("start_failed", child.stderr.after(message));
}

function failureOf(error: unknown, child: SdkChild): ClaudeFailure {
  if (error instanceof ClaudeFailure) return error;
  const { fault } = child;
  if (fault !== undefined) {
    const isMissing = fault instanceof CodedError && fault.data?.["reason"] === "not_found";
    return new ClaudeFailure(isMissing ? "not_installed" : "start_failed", messageOf(fault), fault);
  }
  const words = messageOf(error);
  if (/native binary|executable not found|CLI binary/i.test(words)) {
    return new ClaudeFailure("not_installed", `${words}; name the \`claude\` program in cliPath`, error);
  }
  return new ClaudeFailure("died", child.stderr.after(`Claude Code failed: ${words}`), error);
}

function isMessage(value: unknown): value is ClaudeMessage {
  return isObject(value) && typeof value["type"] === "string" && value["type"] !== NOTICE_TYPE;
}
