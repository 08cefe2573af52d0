// A small repository with a failing test, demian's configuration for a scripted model, and the model's part of the
// conversation that fixes it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { whyNoSandbox } from "../../runtime/sandbox/ground.ts";
import { bash, chatReply, type ModelServer, type Reply } from "../../support/model-server.ts";

export const TEST_COMMAND = "node sum.test.js";
export const BROKEN = "export const sum = (a, b) => a - b;\n";
export const MENDED = "export const sum = (a, b) => a + b;\n";
const TEST = `import assert from "node:assert";
import { test } from "node:test";
import { sum } from "./sum.js";

test("one and two are three", () => assert.equal(sum(1, 2), 3));
`;

export function writeRepository(directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), '{"type":"module"}\n');
  writeFileSync(join(directory, "sum.js"), BROKEN);
  writeFileSync(join(directory, "sum.test.js"), TEST);
}

/**
 * Returns the sandbox adapter used here; if there is none, demian runs commands after consent, and that is reported.
 */
export async function configure(home: string, modelUrl: string): Promise<string> {
  const lacking = await whyNoSandbox();
  if (lacking !== undefined) console.warn(`NO SANDBOX HERE, commands run without one: ${lacking}`);
  mkdirSync(join(home, ".demian"), { recursive: true });
  const local = { type: "openai-compatible", model: "the-model", baseURL: `${modelUrl}/v1`, maxRetries: 0 };
  const config = {
    defaultProvider: "local",
    providers: { local },
    sandbox: { allowEnvOnly: lacking !== undefined },
  };
  writeFileSync(join(home, ".demian/config.json"), JSON.stringify(config));
  if (lacking !== undefined) return "env-only";
  return process.platform === "darwin" ? "macos-sandbox-exec" : "linux-bwrap";
}

/** Reads, sees the test fail, fixes it, sees it pass, and reports it. */
export function mendingReplies(): Reply[] {
  const edit = { path: "sum.js", oldString: "a - b", newString: "a + b" };
  return [
    chatReply("", [{ name: "read_file", input: { path: "sum.js" } }]),
    bash(TEST_COMMAND),
    chatReply("", [{ name: "edit_file", input: edit }]),
    bash(TEST_COMMAND),
    chatReply("The sign was wrong. It passes now."),
  ];
}

/** The last message of the model's request with this number, once it has arrived. */
export async function lastSent(
  model: ModelServer,
  index: number,
): Promise<{ role: string; content: string }> {
  const { body } = await model.request(index);
  const { messages } = body as { messages: { role: string; content: string }[] };
  return messages.at(-1) ?? { role: "nobody", content: "" };
}

/** All user texts in the model's last request. */
export function userTexts(model: ModelServer): unknown[] {
  const { messages } = (model.requests.at(-1)?.body ?? { messages: [] }) as {
    messages: { role: string; content: unknown }[];
  };
  return messages.filter(({ role }) => role === "user").map(({ content }) => content);
}

/** Calls without a result in the model's last request: a strict server refuses them. */
export function danglingCalls(model: ModelServer): string[] {
  const { messages } = (model.requests.at(-1)?.body ?? { messages: [] }) as {
    messages: { tool_calls?: { id: string }[]; tool_call_id?: string }[];
  };
  const answered = new Set(messages.map(({ tool_call_id }) => tool_call_id));
  return messages
    .flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id))
    .filter((id) => !answered.has(id));
}

export interface TranscriptLine {
  type: string;
  name?: string;
  ok?: boolean;
  sandbox?: string;
}

/** Of the only session in the repository. */
export function transcriptOf(directory: string): TranscriptLine[] {
  const transcripts = join(directory, ".demian/transcripts");
  const sessions = readdirSync(transcripts).filter((name) => name !== ".gitignore");
  if (sessions.length !== 1) throw new Error(`not one transcript: ${sessions.join(", ")}`);
  const lines = readFileSync(join(transcripts, String(sessions[0]), "session.jsonl"), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as TranscriptLine);
}

/** Which tools ran, how they ended, and their sandbox. */
export function toolsOf(transcript: readonly TranscriptLine[]): unknown[] {
  const held = transcript.filter(({ type }) => type === "tool.started").map(({ sandbox }) => sandbox);
  return transcript
    .filter(({ type }) => type === "tool.completed" || type === "tool.failed")
    .map(({ name, ok }, index) => [name, ok, held[index]]);
}
