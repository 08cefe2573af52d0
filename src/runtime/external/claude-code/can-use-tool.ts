// Passes Claude Code's permission requests to our gate. In plan mode it takes the plan, and nothing is carried out.
import { dirname } from "node:path";
import { getClaudeConfigDir } from "../../../base/claude-wire/environment.ts";
import { AskUserQuestion } from "../../../base/claude-wire/questions.ts";
import { toMessage } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import type { ExternalDecision, ExternalTurn } from "../types.ts";
import { findCategory } from "./tools.ts";
import type { Translation } from "./translate.ts";
import type { ClaudeOrder, ToolAnswer, ToolRequest } from "./transport.ts";

export interface BridgeOrder {
  turn: Pick<ExternalTurn, "decide" | "question" | "emit" | "signal">;
  translation: Translation;
  permissionMode: ClaudeOrder["permissionMode"];
  /** Claude Code's environment, which says where its plans are. */
  env: ClaudeOrder["env"];
}

/** Tools without events of their own. */
export const SILENT_TOOLS: readonly string[] = ["ExitPlanMode"];
const PLAN_ONLY = "Plan mode: change nothing. Read what you need, then finish with the plan.";

export class ToolBridge {
  readonly #order: BridgeOrder;
  #queue: Promise<unknown> = Promise.resolve();
  #plan: string | undefined;
  #isStopped = false;

  constructor(order: BridgeOrder) {
    this.#order = order;
  }

  /** The plan that it submitted. */
  get plan(): string | undefined {
    return this.#plan;
  }

  /** The user stopped the turn. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** For `ClaudeOrder.canUseTool`. One request at a time, so that the user gets one question at a time. */
  canUseTool(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const answer = this.#queue
      .then(() => this.#answer(request, signal))
      .catch((error: unknown): ToolAnswer => {
        this.#order.translation.deny(request.callId);
        return deny(`Permission could not be requested: ${toMessage(error)}`);
      });
    this.#queue = answer;
    return answer;
  }

  async #answer(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const { turn, translation, permissionMode } = this.#order;
    const { callId, tool, input } = request;
    for (const event of translation.request(request)) turn.emit(event);
    if (signal.aborted || this.#isStopped) return deny("Not run: the turn has ended.", true);
    if (tool === "AskUserQuestion") return this.#question(request, signal);
    if (permissionMode === "plan") {
      if (tool === "ExitPlanMode") return this.#takePlan(input);
      if (this.#isPlanFile(tool, input)) return this.#allow(request, input);
      if (!["read", "inner"].includes(findCategory(tool))) {
        translation.deny(callId);
        return deny(PLAN_ONLY);
      }
    }
    const decision = await turn.decide(toCall(request, translation), signal);
    if (decision.allowed) return this.#allow(request, decision.input ?? input, decision.shown);
    translation.deny(callId);
    if (decision.stop === true) this.#isStopped = true;
    return deny(decision.reason ?? "Not allowed.", decision.stop);
  }

  #allow(
    { callId, tool }: ToolRequest,
    input: ToolRequest["input"],
    shown: ExternalDecision["shown"] = { title: tool },
  ): ToolAnswer {
    const { turn, translation } = this.#order;
    for (const event of translation.allow(callId, shown)) turn.emit(event);
    return { behavior: "allow", updatedInput: { ...input } };
  }

  #takePlan(input: ToolRequest["input"]): ToolAnswer {
    const { plan } = input;
    if (typeof plan !== "string" || plan.trim() === "") {
      return deny("There is no plan yet. Write the plan first, then try again.");
    }
    this.#plan = plan;
    return deny("The plan was received. Do not carry it out now.", true);
  }

  /** Claude Code 2.1.197 writes its plans to a directory of its own, with its own tools, and reads them from there. */
  #isPlanFile(tool: string, { file_path }: ToolRequest["input"]): boolean {
    if (!["Read", "Write", "Edit"].includes(tool) || typeof file_path !== "string") return false;
    return (
      dirname(file_path) === `${getClaudeConfigDir(this.#order.env)}/plans` && /\/[\w-]+\.md$/.test(file_path)
    );
  }

  async #question(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const { turn, translation } = this.#order;
    const answers = await askUser(request.input, turn.question, signal);
    if (answers === undefined) {
      translation.deny(request.callId);
      return deny("There was no answer. Continue with your best judgment, and state your assumptions.");
    }
    return this.#allow(request, { ...request.input, answers });
  }
}

function toCall(request: ToolRequest, translation: Translation) {
  const { callId, tool, input, title, reason, agentId } = request;
  return {
    callId,
    tool,
    input,
    ...defined({ title, reason }),
    ...(agentId === undefined ? {} : { agentPath: [translation.findAgentName(agentId)] }),
  };
}

function deny(message: string, interrupt = false): ToolAnswer {
  return { behavior: "deny", message, ...(interrupt ? { interrupt } : {}) };
}

/** Asks the user Claude Code's questions, one at a time. Returns the answers by question; undefined if there are none. */
async function askUser(
  input: Readonly<Record<string, unknown>>,
  ask: ExternalTurn["question"],
  signal: AbortSignal,
): Promise<Record<string, string> | undefined> {
  const asked = AskUserQuestion.safeParse(input);
  if (!asked.success || ask === undefined) return undefined;
  const answers: Record<string, string> = {};
  for (const { question, multiSelect, options = [] } of asked.data.questions) {
    const several = multiSelect === true ? " (choose one or more)" : "";
    const labels = options.map(({ label }) => label);
    const answer = await ask(
      { text: `${question}${several}`, ...(labels.length === 0 ? {} : { options: labels }) },
      signal,
    );
    if (answer === undefined || signal.aborted) return undefined;
    answers[question] = answer;
  }
  return answers;
}
