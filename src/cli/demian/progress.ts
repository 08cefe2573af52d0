// What the runtime tells, on the screen of a person: the main agent's words as they come, and a line for everything else.
// What a sub-agent says is for the agent that asked it, and never taken for the answer.
import { revealLine } from "../../base/sanitize.ts";
import type { RuntimeEvent } from "../../runtime/events.ts";
import { lineOf } from "./event-lines.ts";
import type { Screen } from "./screen.ts";

const INVOCATION_END = /^agent\.invocation\.(completed|failed|cancelled)$/;

export class Progress {
  readonly #screen: Screen;
  /** Of the answer that is being made. */
  #streamed = "";
  /** Whose thinking or writing was told for the request that runs. */
  #told = new Set<string>();
  /** Calls of `delegate_agent` whose end was told with the sub-agent's. */
  #endedCalls = new Set<string>();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  see(event: RuntimeEvent): void {
    if (isOfSubAgent(event)) this.#seeSubAgent(event);
    else this.#seeMain(event);
  }

  /** It stands on the screen already. */
  hasShown(answer: string): boolean {
    return this.#screen.hasAnswer && answer !== "" && this.#streamed === answer;
  }

  #seeMain(event: RuntimeEvent): void {
    switch (event.type) {
      case "user.message":
      case "model.request":
        this.#streamed = "";
        this.#told.clear();
        return;
      case "model.reasoning.delta":
        this.#tellOnce("", "· thinking…");
        return;
      case "model.text.delta":
        this.#streamed += event.text;
        this.#screen.stream(event.text);
        return;
      case "model.text":
        if (event.final) return;
        // What is said before a tool is talk; the final answer is printed by whoever asked for it.
        if (this.#streamed === "") this.#screen.stream(event.text);
        this.#streamed = "";
        this.#screen.freshLine();
        return;
      default:
        this.#line(event);
    }
  }

  #seeSubAgent(event: RuntimeEvent): void {
    const path = event.agentPath ?? [];
    const who = `${"  ".repeat(path.length)}${revealLine(path.at(-1) ?? "")}`;
    switch (event.type) {
      case "model.request":
        for (const kind of ["thinks", "writes"]) this.#told.delete(`${who} ${kind}`);
        return;
      case "model.reasoning.delta":
        this.#tellOnce(`${who} thinks`, `${who} · thinking…`);
        return;
      case "model.text.delta":
        this.#tellOnce(`${who} writes`, `${who} · writing…`);
        return;
      default:
        this.#line(event);
    }
  }

  /** Only where somebody looks: in a log nobody waits. */
  #tellOnce(key: string, text: string): void {
    if (this.#screen.isTerminal && !this.#told.has(key)) this.#screen.note(text);
    this.#told.add(key);
  }

  #line(event: RuntimeEvent): void {
    if ("callId" in event && event.callId !== undefined) {
      if (INVOCATION_END.test(event.type)) this.#endedCalls.add(event.callId);
      const isEnd = event.type === "tool.completed" || event.type === "tool.failed";
      if (isEnd && this.#endedCalls.delete(event.callId)) return;
    }
    const line = lineOf(event, this.#screen.columns);
    if (line !== undefined) this.#screen[line.kind](line.text);
  }
}

function isOfSubAgent({ agentPath }: RuntimeEvent): boolean {
  return agentPath !== undefined && agentPath.length > 0;
}
