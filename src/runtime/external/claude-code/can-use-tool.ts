// What Claude Code asks before each of its tools, brought to our permissions. Plans are taken here, and nothing of them is
// carried out.
import { dirname } from "node:path";
import { messageOf } from "../../../base/coded-error.ts";
import type { ExternalDecision, ExternalTurn } from "../types.ts";
import { claudeHome } from "./login.ts";
import { askUser } from "./questions.ts";
import { categoryOf } from "./tools.ts";
import type { Translation } from "./translate.ts";
import type { ClaudeOrder, ToolAnswer, ToolRequest } from "./transport.ts";

export interface BridgeOrder {
  turn: Pick<ExternalTurn, "decide" | "question" | "emit" | "signal">;
  translation: Translation;
  permissionMode: ClaudeOrder["permissionMode"];
  /** Claude Code's own: where its plans are. */
  env: ClaudeOrder["env"];
}

/** For the options of a translation: their end is told in another way. */
export const SILENT_TOOLS: readonly string[] = ["ExitPlanMode"];
const PLAN_ONLY =
  "Only a plan is wanted, nothing is to be carried out: read what you need, then finish with the plan.";

export class ToolBridge {
  readonly #order: BridgeOrder;
  #queue: Promise<unknown> = Promise.resolve();
  #plan: string | undefined;
  #isStopped = false;

  constructor(order: BridgeOrder) {
    this.#order = order;
  }

  /** The plan that it wanted to have approved. */
  get plan(): string | undefined {
    return this.#plan;
  }

  /** The person wants no more of this turn. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** For `ClaudeOrder.canUseTool`. One after the other: a person is asked one thing at a time. */
  canUseTool(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const answer = this.#queue
      .then(() => this.#answer(request, signal))
      .catch((error: unknown): ToolAnswer => {
        this.#order.translation.denied(request.callId);
        return deny(`The question could not be asked: ${messageOf(error)}`);
      });
    this.#queue = answer;
    return answer;
  }

  async #answer(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const { turn, translation, permissionMode } = this.#order;
    const { callId, tool, input } = request;
    for (const event of translation.requested(request)) turn.emit(event);
    if (signal.aborted || this.#isStopped) return deny("Not run: the turn has ended.", true);
    if (tool === "AskUserQuestion") return this.#question(request, signal);
    if (permissionMode === "plan") {
      if (tool === "ExitPlanMode") return this.#takePlan(input);
      if (this.#isPlanFile(tool, input)) return this.#allow(request, input);
      if (!["read", "inner"].includes(categoryOf(tool))) {
        translation.denied(callId);
        return deny(PLAN_ONLY);
      }
    }
    const decision = await turn.decide(callOf(request, translation), signal);
    if (decision.allowed) return this.#allow(request, decision.input ?? input, decision.shown);
    translation.denied(callId);
    if (decision.stop === true) this.#isStopped = true;
    return deny(decision.reason ?? "It is not allowed.", decision.stop);
  }

  #allow(
    { callId, tool }: ToolRequest,
    input: ToolRequest["input"],
    shown: ExternalDecision["shown"] = { title: tool },
  ): ToolAnswer {
    const { turn, translation } = this.#order;
    for (const event of translation.allowed(callId, shown)) turn.emit(event);
    return { behavior: "allow", updatedInput: { ...input } };
  }

  #takePlan(input: ToolRequest["input"]): ToolAnswer {
    const { plan } = input;
    if (typeof plan !== "string" || plan.trim() === "") {
      return deny("There is no plan yet: write it down first, then try again.");
    }
    this.#plan = plan;
    return deny("The plan was taken. It is not to be carried out now.", true);
  }

  /** Where Claude Code keeps plans (2.1.197): it writes them down with its own tools, and reads them from there. */
  #isPlanFile(tool: string, { file_path }: ToolRequest["input"]): boolean {
    if (!["Read", "Write", "Edit"].includes(tool) || typeof file_path !== "string") return false;
    return dirname(file_path) === `${claudeHome(this.#order.env)}/plans` && /\/[\w-]+\.md$/.test(file_path);
  }

  async #question(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const { turn, translation } = this.#order;
    const answers = await askUser(request.input, turn.question, signal);
    if (answers === undefined) {
      translation.denied(request.callId);
      return deny("Nobody answered. Go on with what seems best, and say what you assumed.");
    }
    return this.#allow(request, { ...request.input, answers });
  }
}

function callOf(request: ToolRequest, translation: Translation) {
  const { callId, tool, input, title, reason, agentId } = request;
  return {
    callId,
    tool,
    input,
    ...(title === undefined ? {} : { title }),
    ...(reason === undefined ? {} : { reason }),
    ...(agentId === undefined ? {} : { agentPath: [translation.agentName(agentId)] }),
  };
}

function deny(message: string, interrupt = false): ToolAnswer {
  return { behavior: "deny", message, ...(interrupt ? { interrupt } : {}) };
}
