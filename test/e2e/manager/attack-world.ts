// One daemon with the real agents, and what is needed to attack it from inside them: a script that tries everything and says
// how each attempt ended, in files, so that a script that did not run is noticed.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import { HttpClient, type RequestRow, type SpawnBody } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENCE_MS, PATIENT } from "../../support/patience.ts";
import { ROOT } from "../../support/root.ts";
import { furnishRealAgents, type RealAgents } from "../outlive/kinds.ts";

export interface Kind {
  backend: string;
  body: Partial<SpawnBody>;
  /** Makes its model run a command. */
  run(command: string): string;
  /** Makes it ask for one, if that differs. */
  asks?(command: string): string;
  /** Its commands are in a sandbox that hides the daemon. */
  isBoxed?: boolean;
  /** demian's sandbox. */
  sandbox?: "off" | "workspace-write";
  /** What its commands start ends with them. */
  isTidy?: boolean;
}

const bash = (command: string): string => `#mock:bash ${command}`;
const codex = (sandbox: string, policy: string): Partial<SpawnBody> => ({
  options: { sandbox, "approval-policy": policy },
});

/** They ask a person for commands; codex in its own sandbox only for those outside of it. */
export const KINDS: Readonly<Record<string, Kind>> = {
  claude: { backend: "claude", body: { options: { permission_mode: "default" } }, run: bash },
  codex: {
    backend: "codex",
    body: codex("danger-full-access", "untrusted"),
    run: (command) => `#mock:exec ${command}`,
  },
  "codex in its sandbox": {
    backend: "codex",
    body: codex("workspace-write", "on-request"),
    run: (command) => `#mock:exec ${command}`,
    asks: (command) => `#mock:escalate ${command}`,
    isBoxed: true,
  },
  demian: { backend: "demian", body: {}, run: bash, isBoxed: true, sandbox: "workspace-write" },
  "demian without its sandbox": { backend: "demian", body: {}, run: bash, sandbox: "off", isTidy: true },
  opencode: { backend: "opencode", body: {}, run: bash },
};

export type Outcomes = Record<string, unknown>;
export type Target = Pick<RequestRow, "session_id" | "request_id">;
export const toTarget = ({ session_id, request_id }: RequestRow): Target => ({ session_id, request_id });

/** What a script in an agent left. */
export interface Report {
  /** Of the attacker as it is, and in each disguise. */
  outcomes: Readonly<Record<string, Outcomes>>;
  /** Exit code and output of each sm command. */
  sm: readonly { code: number; output: string }[];
}

export class AttackWorld {
  readonly agents: RealAgents;
  readonly daemon: TestDaemon;
  readonly http: HttpClient;
  readonly project: string;
  #spawning: Promise<unknown> = Promise.resolve();

  static async create(): Promise<AttackWorld> {
    const agents = await furnishRealAgents();
    const env = { ...agents.env, BLEMEESD_HTTP: "0" };
    return new AttackWorld(agents, await startDaemon({ home: agents.home, env }));
  }

  constructor(agents: RealAgents, daemon: TestDaemon) {
    this.agents = agents;
    this.daemon = daemon;
    this.http = new HttpClient({ socket: daemon.socket });
    this.project = join(agents.home, "project");
    writeFileSync(
      join(this.project, "nest.sh"),
      'n=$1; shift\nif [ $n = 0 ]; then "$@"; else sh nest.sh $((n - 1)) "$@"; fi\nexit $?\n',
    );
    copyFileSync(join(ROOT, "test/fakes/attacker.mjs"), join(this.project, "attacker.mjs"));
  }

  async close(): Promise<void> {
    await this.daemon.close();
    await this.agents.close();
    rmSync(this.agents.home, { recursive: true, force: true, maxRetries: 5 });
  }

  async spawn(kind: Kind, prompt: string, more: Partial<SpawnBody> = {}): Promise<string> {
    const { backend, body, sandbox } = kind;
    const order = { backend, prompt, cwd: this.project, approvals: true, ...body, ...more };
    const start = async (): Promise<string> => (await this.http.spawn(order)).session.session_id;
    if (sandbox === undefined) return start();
    // Its settings are read when the session starts, and are the same for all sessions.
    const spawned = this.#spawning.then(() => {
      this.#setSandbox(sandbox);
      return start();
    });
    this.#spawning = spawned.catch(() => undefined);
    return spawned;
  }

  /** Such an agent, at rest. */
  async rested(kind: Kind, more: Partial<SpawnBody>): Promise<string> {
    const session_id = await this.spawn(kind, "#mock:text ready", more);
    await this.http.wait(session_id, { until: ["idle"], timeoutMs: PATIENCE_MS });
    return session_id;
  }

  /** A claude that waits for an answer. */
  async asking(more: Partial<SpawnBody> = {}): Promise<RequestRow> {
    const { claude } = KINDS;
    if (claude === undefined) throw new Error("no claude");
    return this.pendingOf(await this.spawn(claude, bash("touch precious"), more));
  }

  pendingOf(session_id: string): Promise<RequestRow> {
    return vi.waitFor(async () => {
      const [row] = await this.http.allRequests({ session_id });
      if (row === undefined) throw new Error("no request yet");
      return row;
    }, PATIENT);
  }

  async statusOf({ session_id, request_id }: Target): Promise<string> {
    return (await this.http.request(session_id, request_id)).status;
  }

  /** Runs a command inside the agent; a person accepts it. `file` exists when it is over. */
  async run(session_id: string, kind: Kind, command: string, file: string): Promise<void> {
    const { input } = await this.http.input(session_id, { text: kind.run(command) });
    await vi.waitFor(async () => {
      for (const row of await this.http.allRequests({ session_id })) {
        if (row.payload.tool_name === "spawn") continue; // what the script asks for is not accepted
        await this.http.respond(session_id, row.request_id, { decision: "accept" });
      }
      if (!existsSync(join(this.project, file))) throw new Error(`no ${file} yet`);
    }, PATIENT);
    for (const row of await this.http.allRequests({ session_id }))
      await this.http.respond(session_id, row.request_id, { decision: "decline" });
    await this.http.wait(session_id, { message_id: input.message_id, timeoutMs: PATIENCE_MS });
  }

  /**
   * Everything at once, from inside this session: as it is and in disguises, with the other programs, and a process that waits
   * for `attackOwn`.
   */
  async attack(session_id: string, kind: Kind, targets: readonly Target[]): Promise<Report> {
    const name = toDirectory(session_id);
    const dir = join(this.project, name);
    mkdirSync(dir);
    const [parent, stranger] = targets;
    const wide = { backend: "claude", approvals: false, options: { permission_mode: "bypassPermissions" } };
    const short = { answers: targets, isShort: true, ...this.#places() };
    const plans: Readonly<Record<string, object>> = {
      plain: {
        ...short,
        isShort: false,
        self: session_id,
        forged: [parent?.session_id, "nobody"],
        asks: { ...wide, ask: true },
        spawns: [wide, ...targets.map((one) => ({ backend: "claude", parent: one.session_id }))],
        opens: [{ claude: { permission_mode: "bypassPermissions" } }],
        others: [stranger?.session_id],
        daemon: true,
      },
      short,
      own: { ...short, wait: join(dir, "own-target") },
    };
    for (const [plan, content] of Object.entries(plans))
      writeFileSync(join(dir, `${plan}.plan`), JSON.stringify(content));
    const node = (plan: string): string => `"$NODE" attacker.mjs @${name}/${plan}.plan`;
    const forged = `BLEMEES_SESSION_ID=${parent?.session_id}`;
    const runs: Readonly<Record<string, string>> = {
      plain: node("plain"),
      forged: `env ${forged} ${node("short")}`,
      nested: `env -i sh nest.sh 300 ${node("short")}`,
      hidden: `env -i ATTACK_HIDDEN=1 ${node("short")}`,
      detached: `(ATTACK_PARENT=$$ setsid env ${forged} ${node("short")} & wait)`,
    };
    const sm = this.#listCommands(parent, stranger);
    const lines = [
      `cd "${this.project}"; NODE="${process.execPath}"; [ -x "$NODE" ] || NODE=node`,
      `setsid ${node("own")} > ${name}/own.out 2>&1 < /dev/null &`,
      // All at once: with two cores that is faster.
      ...Object.entries(runs).map(
        ([run, command]) => `${command} > ${name}/${run}.out 2> ${name}/${run}.err & ${run}=$!`,
      ),
      ...sm.map(
        (words, at) =>
          `{ ${words} > ${name}/sm-${at}.out 2>&1; echo $? > ${name}/sm-${at}.code; } & sm${at}=$!`,
      ),
      `wait ${[...Object.keys(runs), ...sm.map((_words, at) => `sm${at}`)].map((run) => `$${run}`).join(" ")}`,
      `echo over > ${name}/over`,
    ];
    writeFileSync(join(dir, "script.sh"), `${lines.join("\n")}\n`);
    await this.run(session_id, kind, `sh ${name}/script.sh`, `${name}/over`);
    const read = (file: string): string => readFileSync(join(dir, file), "utf8");
    return {
      outcomes: Object.fromEntries(Object.keys(runs).map((run) => [run, parse(read, run)])),
      sm: sm.map((_words, at) => ({ code: Number(read(`sm-${at}.code`)), output: read(`sm-${at}.out`) })),
    };
  }

  /** Answers these from inside this session, in all ways of one attacker. */
  async answer(session_id: string, kind: Kind, targets: readonly Target[]): Promise<Outcomes> {
    const name = toDirectory(session_id);
    const plan = JSON.stringify({ answers: targets, isShort: true, ...this.#places() });
    writeFileSync(join(this.project, `${name}.plan`), plan);
    const run = `"${process.execPath}" attacker.mjs @${name}.plan > ${name}.out 2> ${name}.err; echo over > ${name}.over`;
    await this.run(session_id, kind, run, `${name}.over`);
    return parse((file) => readFileSync(join(this.project, `${name}.${file}`), "utf8"), "");
  }

  /** Makes the agent ask, and the process that `attack` left answer it. Undefined: there is none, or it is stuck. */
  async attackOwn(
    session_id: string,
    kind: Kind,
  ): Promise<{ row: RequestRow; outcomes: Outcomes | undefined }> {
    const { asks = kind.run } = kind;
    await this.http.input(session_id, { text: asks("touch precious-too") });
    const row = await this.pendingOf(session_id);
    const dir = join(this.project, toDirectory(session_id));
    writeFileSync(join(dir, "target"), JSON.stringify([toTarget(row)]));
    renameSync(join(dir, "target"), join(dir, "own-target"));
    if (kind.isBoxed === true || kind.isTidy === true) return { row, outcomes: undefined };
    const outcomes = await vi.waitFor(() => JSON.parse(readFileSync(join(dir, "own.out"), "utf8")), PATIENT);
    return { row, outcomes };
  }

  /** The actions of an agent that were refused, as they are in the log. */
  listRefused(session_id: string): string[] {
    return this.daemon
      .log()
      .split("\n")
      .filter((line) => line.includes('"rights.refused"'))
      .map((line) => JSON.parse(line))
      .filter(({ actor }) => String(actor).includes(session_id))
      .map(({ action, target }) => `${action} (${target})`);
  }

  /** Where else the daemon can be reached. */
  #places(): object {
    const [, port, token = ""] = /"port":(\d+),"token_file":"([^"]+)"/.exec(this.daemon.log()) ?? [];
    return { socket: this.daemon.socket, port: Number(port), token, root: join(ROOT, "package.json") };
  }

  #listCommands(parent: Target | undefined, stranger: Target | undefined): string[] {
    const sm = `"$NODE" "${join(ROOT, "dist/sm.js")}" --socket "${this.daemon.socket}"`;
    return [
      `${sm} approve ${parent?.request_id} --yes`,
      `env -u BLEMEES_SESSION_ID ${sm} approve ${stranger?.request_id} --yes`,
      `env BLEMEES_SESSION_ID=${parent?.session_id} ${sm} approve ${stranger?.request_id} --yes`,
      `${sm} spawn claude --no-approvals "do it"`,
      `${sm} spawn claude --parent ${stranger?.session_id} "do it"`,
    ];
  }

  #setSandbox(mode: string): void {
    const file = join(this.agents.home, ".demian/config.json");
    const config = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...config, sandbox: { ...config.sandbox, mode } }));
  }
}

function toDirectory(session_id: string): string {
  return `attack-${session_id}`;
}

function parse(read: (file: string) => string, run: string): Outcomes {
  const named = (ending: string): string => read(run === "" ? ending : `${run}.${ending}`);
  const text = named("out");
  if (text === "") throw new Error(`the attacker failed (${run}): ${named("err")}`);
  return JSON.parse(text);
}
