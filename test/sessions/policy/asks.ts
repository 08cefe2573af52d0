// Requests for tests of the policy.
import { dirname } from "node:path";
import type { PolicyRule } from "../../../src/protocol/policy.ts";
import type { RequestPayload, RequestRow } from "../../../src/protocol/requests.ts";
import { type Decided, decide } from "../../../src/sessions/policy/decide.ts";
import { collectFacts } from "../../../src/sessions/policy/facts.ts";
import type { CountedRule, RequestFacts } from "../../../src/sessions/policy/types.ts";

export const CHOICES: RequestPayload["choices"] = [
  { decision: "accept" },
  { decision: "acceptForSession", remembers: ["this exact command"] },
  { decision: "decline", takes: ["message"] },
];
export const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
export const SESSION = { session_id: "s1", label: "main" };

export type Asked = Pick<RequestRow, "backend" | "request_type" | "payload" | "path">;

export function askCommand(command: string, cwd: string, more: Partial<RequestPayload> = {}): Asked {
  const payload = { title: `shell: ${command}`, command, cwd, tool_name: "shell", choices: CHOICES, ...more };
  return { backend: "fake", request_type: "command", payload };
}

export function askChange(paths: readonly string[], more: Partial<RequestPayload> = {}): Asked {
  const changes = paths.map((path) => ({ path, kind: "update" as const }));
  const payload = { title: "Edit", changes, tool_name: "Edit", choices: CHOICES, ...more };
  return { backend: "fake", request_type: "file_change", payload };
}

export function askTool(tool_name: string, input: unknown, more: Partial<RequestPayload> = {}): Asked {
  const payload = { title: tool_name, tool_name, input, choices: CHOICES, ...more };
  return { backend: "fake", request_type: "tool", payload };
}

export function factsOf(asked: Asked, cwd: string): Promise<RequestFacts> {
  return collectFacts(asked, { path: PATH, cwd });
}

export function counted(rules: readonly PolicyRule[]): CountedRule[] {
  return rules.map((rule) => ({ rule, uses: 0 }));
}

export async function judge(asked: Asked, cwd: string, rules: readonly PolicyRule[]): Promise<Decided> {
  return decide(await factsOf(asked, cwd), SESSION, counted(rules), 1_000);
}
