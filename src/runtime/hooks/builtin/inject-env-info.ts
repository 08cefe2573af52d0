// Tells the model at the start where it works and with what.
import { release, type } from "node:os";
import type { Hook, HookInput } from "../types.ts";

const HELD: Readonly<Record<string, string>> = {
  "linux-bwrap": "held by bubblewrap",
  "macos-sandbox-exec": "held by sandbox-exec",
  "env-only": "not held by the operating system",
};

export function createInjectEnvInfo(now: () => Date = () => new Date()): Hook {
  return {
    name: "inject-env-info",
    event: "SessionStart",
    kind: "builtin",
    onError: "block",
    run: (input) => Promise.resolve({ patch: { system: describe(input, now()) } }),
  };
}

function describe(input: HookInput, now: Date): string {
  const { cwd, agent, provider, model, tools, sandbox } = input;
  const lines = [
    `Working directory: ${cwd}`,
    `Operating system: ${type()} ${release()}`,
    `Date: ${now.toISOString().slice(0, 10)}`,
    `Agent: ${agent}`,
    ...(provider === undefined ? [] : [`Provider: ${provider}${model === undefined ? "" : ` (${model})`}`]),
    ...(tools === undefined ? [] : [`Tools: ${tools.join(", ") || "none"}`]),
    ...(sandbox === undefined ? [] : [`Commands: ${describeSandbox(sandbox)}`]),
  ];
  // A path may hold newlines: in here they would read as more lines of ours.
  return `Environment:\n${lines.map((line) => `- ${line.replace(/\s+/g, " ")}`).join("\n")}`;
}

function describeSandbox({ mode, adapter }: { mode: string; adapter?: string }): string {
  if (mode === "off") return "run without a sandbox";
  if (adapter === undefined) return "are refused, because no sandbox works here";
  return `run in a sandbox (${mode}), ${HELD[adapter] ?? adapter}`;
}
