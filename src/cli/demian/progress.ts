// Shows runtime events in the plain chat: the main agent's text as it arrives, and a line for everything else. A
// sub-agent's text goes to the agent that called it and is not shown.
import { revealLine } from "../../base/sanitize.ts";
import type { RuntimeEvent } from "../../runtime/events.ts";
import { formatEvent } from "./event-lines.ts";
import type { Screen } from "./screen.ts";

const INVOCATION_END = /^agent\.invocation\.(completed|failed|cancelled)$/;

export class Progress {
  readonly #screen: Screen;
  /** Text of the current answer. */
  #streamed = "";
  /** Activity notes already shown for the current model request. */
  #noted = new Set<string>();
  /** Calls of `delegate_agent` whose end was already shown as the sub-agent's end. */
  #endedCalls = new Set<string>();

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  see(event: RuntimeEvent): void {
    if (isOfSubAgent(event)) this.#seeSubAgent(event);
    else this.#seeMain(event);
  }

  /** The answer was streamed already. */
  hasShown(answer: string): boolean {
    return this.#screen.hasAnswer && answer !== "" && this.#streamed === answer;
  }

  #seeMain(event: RuntimeEvent): void {
    switch (event.type) {
      case "user.message":
      case "model.request":
        this.#streamed = "";
        this.#noted.clear();
        return;
      case "model.reasoning.delta":
        this.#noteOnce("", "· thinking…");
        return;
      case "model.text.delta":
        this.#streamed += event.text;
        this.#screen.stream(event.text);
        return;
      case "model.text":
        if (event.final) return;
        // Text before a tool call. The caller prints the final answer.
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
        for (const kind of ["thinks", "writes"]) this.#noted.delete(`${who} ${kind}`);
        return;
      case "model.reasoning.delta":
        this.#noteOnce(`${who} thinks`, `${who} · thinking…`);
        return;
      case "model.text.delta":
        this.#noteOnce(`${who} writes`, `${who} · writing…`);
        return;
      default:
        this.#line(event);
    }
  }

  /** Only on a terminal: a log does not need it. */
  #noteOnce(key: string, text: string): void {
    if (this.#screen.isTerminal && !this.#noted.has(key)) this.#screen.note(text);
    this.#noted.add(key);
  }

  #line(event: RuntimeEvent): void {
    if ("callId" in event && event.callId !== undefined) {
      if (INVOCATION_END.test(event.type)) this.#endedCalls.add(event.callId);
      const isEnd = event.type === "tool.completed" || event.type === "tool.failed";
      if (isEnd && this.#endedCalls.delete(event.callId)) return;
    }
    const line = formatEvent(event, this.#screen.columns);
    if (line !== undefined) this.#screen[line.kind](line.text);
  }
}

function isOfSubAgent({ agentPath }: RuntimeEvent): boolean {
  return agentPath !== undefined && agentPath.length > 0;
}
