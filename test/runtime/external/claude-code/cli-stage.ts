// Runs the fake `claude` program by the transport, in its own home.
// lane: process
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliTransport } from "../../../../src/runtime/external/claude-code/cli.ts";
import type {
  ClaudeMessage,
  ClaudeOrder,
  ToolAnswer,
  ToolRequest,
} from "../../../../src/runtime/external/claude-code/transport.ts";
import { ROOT } from "../../../support/root.ts";

export const FAKE_CLAUDE = join(ROOT, "test/fakes/fake-claude.cjs");

export interface Heard {
  messages: ClaudeMessage[];
  /** The text of the result. */
  text: string;
  error?: unknown;
}

/** What the program can do is asked once. */
const SHARED = new CliTransport();

export class CliStage {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "demian-cli-")));
  readonly cwd = join(this.root, "project");
  readonly asked: ToolRequest[] = [];
  readonly env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    HOME: this.root,
    CLAUDE_CONFIG_DIR: join(this.root, "claude"),
    // What everything of it can be found by.
    DEMIAN_TEST_HOME: this.root,
  };
  transport = SHARED;

  constructor() {
    mkdirSync(this.cwd);
  }

  order(prompt: string, more: Partial<ClaudeOrder> = {}): ClaudeOrder {
    return {
      prompt,
      images: [],
      systemPrompt: "Be brief.",
      model: "sonnet",
      cwd: this.cwd,
      maxTurns: 5,
      unreadable: [],
      permissionMode: "default",
      tools: ["Bash", "Read"],
      env: this.env,
      executable: FAKE_CLAUDE,
      signal: new AbortController().signal,
      canUseTool: (request) => this.allow(request),
      ...more,
    };
  }

  allow(request: ToolRequest): Promise<ToolAnswer> {
    this.asked.push(request);
    return Promise.resolve({ behavior: "allow", updatedInput: { ...request.input } });
  }

  /** Collects all messages and the error; `onMessage` gets each as it arrives. */
  async hear(
    prompt: string,
    more: Partial<ClaudeOrder> = {},
    onMessage: (message: ClaudeMessage) => void = () => undefined,
  ): Promise<Heard> {
    const messages: ClaudeMessage[] = [];
    try {
      for await (const message of this.transport.run(this.order(prompt, more))) {
        messages.push(message);
        onMessage(message);
      }
      return { messages, text: resultOf(messages) };
    } catch (error) {
      return { messages, text: resultOf(messages), error };
    }
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function resultOf(messages: readonly ClaudeMessage[]): string {
  return String(messages.findLast(({ type }) => type === "result")?.["result"] ?? "");
}

export function notices(messages: readonly ClaudeMessage[]): string[] {
  return messages.flatMap(({ type, text }) => (type === "demian.notice" ? [String(text)] : []));
}
