// Messages to Claude Code with a transport that is a script: what is ordered is kept, what comes back is made up.
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentDefinition } from "../../../../src/runtime/agents/types.ts";
import { ClaudeCode } from "../../../../src/runtime/config/login-providers.ts";
import type { EventBody } from "../../../../src/runtime/events.ts";
import { type ClaudeRunParts, runClaudeTurn } from "../../../../src/runtime/external/claude-code/run.ts";
import type { ClaudeMessage, ClaudeOrder } from "../../../../src/runtime/external/claude-code/transport.ts";
import type { ProcessSpend } from "../../../../src/runtime/external/claude-code/usage-ledger.ts";
import type { ExternalReport, ExternalTurn } from "../../../../src/runtime/external/types.ts";

export const AGENT: AgentDefinition = {
  name: "build",
  description: "builds",
  mode: "primary",
  prompt: { system: "You build." },
  tools: { visible: [] },
  permissions: [],
};

type Script = (order: ClaudeOrder) => AsyncIterable<ClaudeMessage>;

export class RunStage {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "demian-run-")));
  readonly events: EventBody[] = [];
  readonly orders: ClaudeOrder[] = [];
  readonly known = new Set<string>();
  readonly spend: ProcessSpend = { days: [], warned: new Set() };
  costUsd = 0.25;
  /** Instead of the usual answer. */
  script: Script | undefined;

  constructor() {
    mkdirSync(join(this.root, "project"));
  }

  get stateDirectory(): string {
    return join(this.root, "state/demian/projects/p");
  }

  run(
    config: object = {},
    turn: Partial<ExternalTurn> = {},
    parts: Partial<ClaudeRunParts> = {},
  ): Promise<ExternalReport> {
    return runClaudeTurn(
      {
        config: ClaudeCode.parse({ type: "claudecode", model: "sonnet", ...config }),
        transport: { run: (order) => this.#transport(order) },
        spend: this.spend,
        ...parts,
      },
      this.turn(turn),
    );
  }

  turn(more: Partial<ExternalTurn> = {}): ExternalTurn {
    return {
      rootSessionId: "ses_one",
      agent: AGENT,
      systemPrompt: "You build.",
      profile: "claudecode",
      model: "sonnet",
      cwd: join(this.root, "project"),
      text: "hello",
      parts: [],
      maxTurns: 10,
      globalRules: [],
      unreadable: [],
      env: {
        HOME: this.root,
        XDG_STATE_HOME: join(this.root, "state"),
        CLAUDE_CODE_OAUTH_TOKEN: "fixture",
      },
      stateDirectory: this.stateDirectory,
      signal: new AbortController().signal,
      emit: (event) => this.events.push(event),
      decide: () => Promise.resolve({ allowed: true }),
      ...more,
    };
  }

  /** The reported session splits. */
  get splits(): string[] {
    return this.events.flatMap((event) => (event.type === "session.context.split" ? [event.reason] : []));
  }

  get warnings(): string[] {
    return this.events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
  }

  /** The session that each order was to continue. */
  get resumed(): (string | undefined)[] {
    return this.orders.map(({ resume }) => resume);
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  async *#transport(order: ClaudeOrder): AsyncGenerator<ClaudeMessage> {
    this.orders.push(order);
    yield* (this.script ?? ((given: ClaudeOrder) => this.answer(given)))(order);
  }

  /** As recorded: a known session is resumed, an unknown one is an error. */
  async *answer(order: ClaudeOrder, text = "hi"): AsyncGenerator<ClaudeMessage> {
    const session_id = order.resume ?? randomUUID();
    if (order.resume !== undefined && !this.known.has(order.resume)) {
      const errors = [`No conversation found with session ID: ${order.resume}`];
      yield { type: "result", subtype: "error_during_execution", is_error: true, errors, session_id };
      return;
    }
    this.known.add(session_id);
    yield { type: "system", subtype: "init", session_id, model: "sonnet" };
    yield {
      type: "assistant",
      session_id,
      message: { id: "msg_1", role: "assistant", content: [{ type: "text", text }] },
    };
    yield {
      type: "result",
      subtype: "success",
      is_error: false,
      result: text,
      session_id,
      total_cost_usd: this.costUsd,
    };
  }
}
