// Runs a tool as the loop does: check, plan, execute, in its own workspace.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Sandbox } from "../../../src/runtime/sandbox/types.ts";
import { getOutputDirectory, keepOutput } from "../../../src/runtime/tools/output.ts";
import type { PlanStep } from "../../../src/runtime/tools/todo.ts";
import type { ToolContext, ToolDefinition, ToolPlan, ToolResult } from "../../../src/runtime/tools/types.ts";
import { openWorkspace } from "../../../src/runtime/workspace/open.ts";
import type { Workspace } from "../../../src/runtime/workspace/types.ts";

const SANDBOX: Sandbox = {
  mode: "off",
  adapter: undefined,
  run: () => Promise.reject(new Error("no command is run here")),
};

export class Bench {
  readonly root: string;
  readonly workspace: Workspace;
  readonly plans: (readonly PlanStep[])[] = [];

  static async open(): Promise<Bench> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "demian-tools-")));
    return new Bench(root, await openWorkspace(root));
  }

  private constructor(root: string, workspace: Workspace) {
    this.root = root;
    this.workspace = workspace;
  }

  put(path: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), content);
  }

  get(path: string): string {
    return readFileSync(this.path(path), "utf8");
  }

  path(path: string): string {
    return join(this.root, path);
  }

  context(signal = new AbortController().signal): ToolContext {
    return {
      sessionId: "s",
      callId: "call_1",
      agent: "build",
      workspace: this.workspace,
      sandbox: SANDBOX,
      env: {},
      signal,
      dryRun: false,
      mayRead: () => true,
      progress: () => undefined,
      showPlan: (steps) => void this.plans.push(steps),
      keepOutput: (output) =>
        keepOutput({ directory: getOutputDirectory(this.root), callId: "call_1" }, output),
    };
  }

  async plan(tool: ToolDefinition, input: unknown): Promise<{ value: unknown; plan: ToolPlan }> {
    const checked = tool.check(input);
    if (!checked.ok) throw new Error(checked.message);
    return { value: checked.value, plan: await tool.plan(checked.value, this.context()) };
  }

  async run(tool: ToolDefinition, input: unknown, signal?: AbortSignal): Promise<ToolResult> {
    const { value, plan } = await this.plan(tool, input);
    return tool.execute(value, plan, this.context(signal));
  }

  /** What the model reads. */
  async text(tool: ToolDefinition, input: unknown): Promise<string> {
    return (await this.run(tool, input)).content;
  }

  /** The code and the message of the failure. */
  async fault(tool: ToolDefinition, input: unknown): Promise<string> {
    try {
      await this.run(tool, input);
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      return `${code}: ${message}`;
    }
    throw new Error("it did not fail");
  }

  async close(): Promise<void> {
    await this.workspace.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}
