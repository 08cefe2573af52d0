// What the model thought before its last answer, for `/thinking`. It is folded everywhere else.
import { sanitize } from "../../base/sanitize.ts";
import type { RuntimeEvent } from "../../runtime/events.ts";

const MAX_CHARS = 200_000;

export class Thoughts {
  #parts: string[] = [];
  #chars = 0;
  #isLeftOut = false;

  see(event: RuntimeEvent): void {
    if (event.agentPath !== undefined && event.agentPath.length > 0) return;
    if (event.type === "user.message") this.#clear();
    if (event.type !== "model.reasoning.delta") return;
    if (this.#chars + event.text.length > MAX_CHARS) {
      this.#isLeftOut = true;
      return;
    }
    this.#parts.push(event.text);
    this.#chars += event.text.length;
  }

  format(): string {
    const text = sanitize(this.#parts.join("")).trim();
    if (text === "") return "the model has shown no thoughts since your last message";
    return this.#isLeftOut ? `${text}\n… the rest was too long to keep` : text;
  }

  #clear(): void {
    this.#parts = [];
    this.#chars = 0;
    this.#isLeftOut = false;
  }
}
