// Adds the environment to the system prompt.
import { release, type } from "node:os";
import type { Hook, HookInput } from "../types.ts";

const ENFORCEMENT: Readonly<Record<string, string>> = {
  "linux-bwrap": "enforced by bubblewrap",
  "macos-sandbox-exec": "enforced by sandbox-exec",
  "env-only": "not enforced by the operating system",
};

export function createInjectEnvInfo(now: () => Date = () => new Date()): Hook {
  return {
    name: "inject-env-info",
    event: "SessionStart",
    kind: "builtin",
    onError: "block",
    run: (input) => Promise.resolve({ patch: { system: formatEnvironment(input, now()) } }),
  };
}

function formatEnvironment(input: HookInput, now: Date): string {
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
  // A path may contain newlines, which would look like lines of ours.
  return `Environment:\n${lines.map((line) => `- ${line.replace(/\s+/g, " ")}`).join("\n")}`;
}

function describeSandbox({ mode, adapter }: { mode: string; adapter?: string }): string {
  if (mode === "off") return "run without a sandbox";
  if (adapter === undefined) return "are refused, because no sandbox is available";
  return `run in a sandbox (${mode}), ${ENFORCEMENT[adapter] ?? adapter}`;
}
