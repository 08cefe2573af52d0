// The scenes in which the demo agent asks: for leave to run a command that it never runs, and a question.
import type { Answer, Choice, Question } from "../../protocol/requests.ts";
import { backend, type Scene, type Stage } from "./scene.ts";

export const SHELL = "demo_shell";
const COMMAND = "rm -rf build";

const REFUSALS: Choice[] = [{ decision: "decline", takes: ["message"] }, { decision: "cancel" }];

const ONCE_MORE: Answer = { decision: "accept" };

const QUESTION: Question = {
  id: "color",
  question: "Which color do you like?",
  header: "Color",
  options: [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "cold" },
  ],
  allows_other: true,
};

export const APPROVAL: Scene = {
  word: /\bapprov(e|als?)\b/i,
  async *play(stage) {
    const tool_use_id = `demo_${Date.now().toString(36)}`;
    const input = { command: COMMAND };
    yield { type: "agent.tool_use", backend, tool_use_id, name: SHELL, input };
    const wasAllowed = stage.allowed.has(COMMAND);
    const answer = wasAllowed ? ONCE_MORE : await askForCommand(stage, tool_use_id);
    if (answer === undefined) return;
    const refusal = refusalOf(answer);
    const output = refusal ?? "pretended to run";
    yield { type: "agent.tool_result", backend, tool_use_id, output, is_error: refusal !== undefined };
    if (isCancel(answer)) yield { type: "agent.result", backend, subtype: "interrupted" };
    else if (refusal !== undefined) yield* stage.say(refusal);
    else if (wasAllowed)
      yield* stage.say(`You approved \`${COMMAND}\` for the session: I pretended to run it.`);
    else yield* stage.say(`You approved it, so I pretended to run \`${COMMAND}\`.`);
    if ("decision" in answer && answer.decision === "acceptForSession") stage.allowed.add(COMMAND);
  },
};

export const QUESTIONING: Scene = {
  word: /\b(ask|question)\b/i,
  async *play(stage) {
    const answer = await stage.ask({
      request_type: "user_input",
      payload: {
        title: `Question: ${QUESTION.question}`,
        questions: [QUESTION],
        choices: [{ decision: "accept" }, ...REFUSALS],
      },
    });
    if (answer === undefined) return;
    if (isCancel(answer)) yield { type: "agent.result", backend, subtype: "interrupted" };
    else if ("answers" in answer)
      yield* stage.say(`You said ${[answer.answers[QUESTION.id]].flat().join(", ")}.`);
    else yield* stage.say("You did not want to answer.");
  },
};

function askForCommand(stage: Stage, item_id: string): Promise<Answer | undefined> {
  return stage.ask({
    request_type: "command",
    item_id,
    payload: {
      title: `${SHELL}: ${COMMAND}`,
      reason: "This is a demo: whatever you decide, nothing is run.",
      command: COMMAND,
      tool_name: SHELL,
      input: { command: COMMAND },
      choices: [
        { decision: "accept" },
        { decision: "acceptForSession", remembers: [`run ${COMMAND}`] },
        ...REFUSALS,
      ],
    },
  });
}

/** Undefined: it was accepted. */
function refusalOf(answer: Answer): string | undefined {
  if ("answers" in answer) return "That is no decision. I did nothing.";
  if (answer.decision !== "decline" && answer.decision !== "cancel") return undefined;
  return `You declined${answer.message === undefined ? "" : `: "${answer.message}"`}. I did nothing.`;
}

function isCancel(answer: Answer): boolean {
  return "decision" in answer && answer.decision === "cancel";
}
