// Real agents in the proof that agents outlive the daemon: each with a scripted model on loopback that streams numbered
// ticks, and asks for commands that leave a trace in the project.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kind, type Script, SMALL_RING } from "../../outlive/kinds.ts";
import { startMockAnthropic } from "../../tools/mock-anthropic.mjs";
import { startMockChat } from "../../tools/mock-chat.mjs";
import { startMockResponses } from "../../tools/mock-responses.mjs";
import { furnishOpencode, listAgents } from "../acp/world.ts";
import { claudeEnvironment, claudeProgram, trust } from "../claude/world.ts";
import { codexProgram, furnishCodex } from "../codex/world.ts";
import { configure } from "../demian/repository.ts";

export interface RealAgents {
  home: string;
  env: Record<string, string>;
  claude: Kind;
  codex: Kind;
  demian: Kind;
  opencode: Kind;
  /** Ends the models. */
  close(): Promise<void>;
}

/** Between two ticks. */
const PACE_MS = 15;
/** What every model says before it calls a tool. */
const BEFORE = "Running it.";

export async function furnishRealAgents(): Promise<RealAgents> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "blemees-e2e-outlive-")));
  const cwd = join(home, "project");
  const temp = join(home, "tmp");
  for (const directory of [cwd, temp]) mkdirSync(directory);
  const [anthropic, responses, chat] = await Promise.all([
    startMockAnthropic(),
    startMockResponses(),
    startMockChat(),
  ]);
  trust(join(home, "claude"), cwd);
  const codex = furnishCodex(home, responses.url);
  listAgents(home, { opencode: { ...furnishOpencode(home, chat.url), process: "shared" } });
  await configure(home, chat.url.replace(/\/v1$/, ""));
  const env = {
    ...{ TMPDIR: temp, BLEMEESD_CLAUDE: claudeProgram(), BLEMEESD_CODEX: codexProgram() },
    ...claudeEnvironment(anthropic.url),
    ...codex,
    ...SMALL_RING,
  };
  const make = (backend: string, options: object, write: (script: Script) => string): Kind => ({
    backend,
    options: { cwd, ...options },
    prompt: (script) => `${script.label}\n${write(script)}`,
    text: (script) => `${script.asks ? BEFORE : ""}${makeTicks(script)}`,
    effects: (name) => readLines(join(cwd, name)),
  });
  return {
    home,
    env,
    claude: make(
      "claude",
      { include_partial_messages: true, approvals: true, permission_mode: "default" },
      (script) => {
        const steps = [
          ["bash", makeCommand(script)],
          ["slow", makeOrder(script)],
        ];
        return script.asks ? `#mock:steps ${JSON.stringify(steps)}` : `#mock:slow ${makeOrder(script)}`;
      },
    ),
    codex: make("codex", { sandbox: "danger-full-access", "approval-policy": "untrusted" }, (script) =>
      writeSequence(script, "exec"),
    ),
    demian: make("demian", {}, (script) => writeSequence(script, "bash")),
    opencode: { ...make("opencode", {}, (script) => writeSequence(script, "bash")), isAccepted: true },
    close: async () => {
      await Promise.all([anthropic.close(), responses.close(), chat.close()]);
    },
  };
}

function writeSequence(script: Script, tool: string): string {
  const slow = `slow ${makeOrder(script)}`;
  return script.asks ? `#mock:seq ${tool} ${makeCommand(script)} ;; ${slow}` : `#mock:${slow}`;
}

/** In a file of the session: its label without the number. */
function makeCommand({ label }: Script): string {
  return `echo ${label} >> ${label.replace(/-\d+$/, "")}`;
}

function makeOrder({ label, ticks }: Script): string {
  return `${ticks} ${PACE_MS} ${label}:`;
}

function makeTicks({ label, ticks }: Script): string {
  return Array.from({ length: ticks }, (_, n) => `${label}:${n} `).join("");
}

function readLines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
}
