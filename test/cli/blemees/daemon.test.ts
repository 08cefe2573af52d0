// `sm daemon` as users run it: status, start, stop, restart and logs, with the real daemon and with scripted ones.
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isRunning } from "../../backends/processes.ts";
import { type Answerer, ScriptedHttp } from "../../client/scripted-http.ts";
import { FAKE_CLAUDE } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";
import { ROOT } from "../../support/root.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

let program: BuiltProgram;
beforeAll(() => {
  program = new BuiltProgram("sm");
});
afterAll(() => program.remove());

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Home {
  directory: string;
  socket: string;
  log: string;
  env: Record<string, string>;
  sm(...args: string[]): Promise<Ran>;
  json(...args: string[]): Promise<Record<string, unknown>>;
}

/** Its own home; a daemon that is left in it is stopped. */
function home(more: Record<string, string> = {}): Home {
  const directory = mkdtempSync(join(tmpdir(), "sm-daemon-"));
  for (const name of ["run", "state", "claude"]) mkdirSync(join(directory, name), { mode: 0o700 });
  const socket = join(directory, "run/blemeesd.sock");
  const env = {
    HOME: directory,
    XDG_RUNTIME_DIR: join(directory, "run"),
    XDG_STATE_HOME: join(directory, "state"),
    CLAUDE_CONFIG_DIR: join(directory, "claude"),
    BLEMEESD_CLAUDE: FAKE_CLAUDE,
    BLEMEESD_SHUTDOWN_GRACE: "0",
    ...more,
  };
  const sm = (...args: string[]): Promise<Ran> => program.run(socket, args, "", env);
  closers.push(async () => {
    if (existsSync(socket)) await sm("daemon", "stop");
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  const json = async (...args: string[]) => JSON.parse((await sm(...args, "--json")).stdout);
  return { directory, socket, log: join(directory, "state/blemees/blemeesd.log"), env, sm, json };
}

async function scripted(answer: Answerer): Promise<ScriptedHttp> {
  const server = await ScriptedHttp.start(answer);
  closers.push(() => server.close().catch(() => undefined));
  return server;
}

function reply(response: ServerResponse, status: number, body: object): undefined {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

const OLD_STATUS = {
  daemon: "blemeesd/0.0.1",
  pid: 1,
  uptime_s: 61,
  sessions: { total: 2, attached: 0, detached: 2, active_turns: 1, by_backend: {} },
  config: { shutdown_grace_s: 0 },
};
/** A daemon that answers `GET /status` with this, and `POST /daemon/stop` not at all. */
const fixed =
  (status: object): Answerer =>
  ({ path }, response) => {
    if (path === "/health") return { ok: true, daemon: "blemeesd/0.0.1", pid: 1 };
    if (path === "/status") return status;
    return reply(response, 404, { error: { code: "not_found", message: `no route ${path}` } });
  };

describe("without a daemon", () => {
  test("status says so, exits with 3 and starts none", async () => {
    const { socket, sm } = home();
    expect(await sm("daemon", "status")).toEqual({
      code: 3,
      stdout: `no daemon is running on ${socket}\n`,
      stderr: "",
    });
    const asJson = await sm("daemon", "status", "--json");
    expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([
      3,
      { running: false, stopping: false, socket_path: socket },
    ]);
    expect(existsSync(socket)).toBe(false);
  });

  test("stop has nothing to do", async () => {
    const { socket, sm } = home();
    expect(await sm("daemon", "stop")).toMatchObject({
      code: 0,
      stdout: `no daemon is running on ${socket}\n`,
    });
  });

  test("logs shows the log of the last one, or says that there is none", async () => {
    const { socket, log, sm } = home();
    const missing = await sm("daemon", "logs");
    expect(missing.code).toBe(1);
    expect(missing.stderr).toBe(
      `sm: no daemon is running on ${socket}, and ${log}, the log of daemons that \`sm\` starts, does not exist\n`,
    );
    mkdirSync(join(log, ".."), { recursive: true });
    writeFileSync(log, "why\nit\ndied\n");
    expect(await sm("daemon", "logs", "-n", "2")).toEqual({ code: 0, stdout: "it\ndied\n", stderr: "" });
  });

  test("restart starts one", async () => {
    const { sm, json } = home();
    const { code, stdout } = await sm("daemon", "restart");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^no daemon was running; started blemeesd\//)]);
    expect(await json("daemon", "status")).toMatchObject({ running: true });
  });
});

describe("with a daemon", () => {
  test("start, status and stop: it is started once, described, and gone when stop returns", async () => {
    const { directory, socket, log, sm, json } = home();
    const started = await sm("daemon", "start");
    expect(started).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^started blemeesd\/\S+ \(pid \d+\); log: \S+blemeesd\.log\n$/),
      stderr: "",
    });
    const pid = Number(/pid (\d+)/.exec(started.stdout)?.[1]);
    expect((await sm("daemon", "start")).stdout).toContain(`(pid ${pid}) is already running`);
    const status = await json("daemon", "status");
    expect(status).toMatchObject({
      ...{ running: true, pid, version, socket_path: socket, running_agents: 0 },
      state_dir: join(directory, "state/blemees"),
      log: { to: "file", path: log },
    });
    const text = (await sm("daemon", "status")).stdout;
    for (const row of [/^daemon +blemeesd\/.* \(pid \d+\), up \d+s/m, /^socket +\//m, /^state +\//m])
      expect(text).toMatch(row);
    expect(text).toMatch(/^sessions +0 live, 0 in a turn; agents running: 0$/m);
    expect(text).toMatch(/^log +\S+blemeesd\.log$/m);
    expect(await json("daemon", "stop")).toEqual({ stopped: true, pid, leaving_agents: false });
    expect(isRunning(pid)).toBe(false);
    expect((await sm("daemon", "status")).code).toBe(3);
  });

  test("stop ends the agents, and stop --leave-agents leaves them", async () => {
    const { log, sm } = home({ FAKE_CLAUDE_FAULT: "ignore-eof" });
    const agentOf = async (): Promise<number> => {
      await sm("spawn", "claude", "#hang");
      const spawned = readFileSync(log, "utf8")
        .split("\n")
        .findLast((line) => line.includes('"backend.spawn"'));
      return Number(JSON.parse(spawned ?? "{}").pid);
    };
    const left = await agentOf();
    closers.push(() => isRunning(left) && process.kill(left, "SIGKILL"));
    const { stdout } = await sm("daemon", "stop", "--leave-agents");
    expect(stdout).toMatch(/^stopped .*; agents left running: 1, `sm daemon start` continues with them\n$/);
    expect(isRunning(left)).toBe(true);
    const ended = await agentOf();
    expect((await sm("daemon", "stop")).stdout).toMatch(/^stopped blemeesd\/\S+ \(pid \d+\)\n$/);
    expect(isRunning(ended)).toBe(false);
  });

  test("stop reports how long the running turns may take", async () => {
    const { sm } = home({ BLEMEESD_SHUTDOWN_GRACE: "5" });
    await sm("spawn", "demo", "-o", "pace_ms=20", "hello");
    const { code, stderr } = await sm("daemon", "stop");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^(· up to 5 s for 1 running turn to finish\n)?$/),
    });
  });

  test("restart replaces it, with the same sessions, and says by what", async () => {
    const { sm, json } = home();
    const id = (await sm("spawn", "demo", "-o", "pace_ms=0", "--wait", "hello")).stderr.match(
      /[0-9a-f-]{36}/,
    )?.[0];
    const before = await json("daemon", "status");
    const { code, stdout, stderr } = await sm("daemon", "restart");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const after = await json("daemon", "status");
    expect(after["pid"]).not.toBe(before["pid"]);
    expect(stdout).toMatch(
      new RegExp(
        `^replaced \\S+ \\(pid ${before["pid"]}\\) with \\S+ \\(pid ${after["pid"]}\\); running agents: `,
      ),
    );
    expect(isRunning(Number(before["pid"]))).toBe(false);
    expect((await sm("show", id ?? "")).code).toBe(0);
    const twice = await json("daemon", "restart");
    expect(twice).toMatchObject({ before: { pid: after["pid"], version }, after: { version } });
  });

  test("commands of users and agents work all the time while it is restarted again and again", async () => {
    const { socket, env, sm } = home();
    const id = (await sm("spawn", "demo", "-o", "pace_ms=0", "hello")).stdout.trim();
    const inside = { ...env, BLEMEES_SESSION_ID: id, BLEMEES_SOCKET: socket };
    let isOver = false;
    const ask = async (all: Record<string, string>): Promise<Ran[]> => {
      const ran: Ran[] = [];
      while (!isOver) ran.push(await program.run(socket, ["show", id], "", all));
      return ran;
    };
    const asking = [ask(env), ask(inside)];
    for (let n = 0; n < 3; n += 1) expect(await sm("daemon", "restart")).toMatchObject({ code: 0 });
    isOver = true;
    for (const ran of await Promise.all(asking)) {
      expect(ran.length).toBeGreaterThan(0);
      expect(ran.filter(({ code, stdout }) => code !== 0 || !stdout.includes(id))).toEqual([]);
    }
  });

  test("restarts at the same time all succeed, and one daemon is left", async () => {
    const { sm, json } = home();
    await sm("daemon", "start");
    const ran = await Promise.all([1, 2, 3].map(() => sm("daemon", "restart")));
    expect(ran.map(({ code, stderr }) => [code, stderr.replace(/^· .*\n/, "")])).toEqual(
      ran.map(() => [0, ""]),
    );
    const { pid } = await json("daemon", "status");
    await sm("daemon", "stop");
    expect(isRunning(Number(pid))).toBe(false);
    expect(await json("daemon", "status")).toMatchObject({ running: false });
  });

  test("a restart that fails leaves the running daemon, and says why in one line", async () => {
    const { socket, env, sm, json } = home();
    const { pid } = await json("daemon", "start");
    const more = { ...env, BLEMEESD_LOG_LEVEL: "loud" };
    const { code, stderr } = await program.run(socket, ["daemon", "restart"], "", more);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(
          `^sm: the daemon \\(pid ${pid}\\) was not replaced and is still running: BLEMEESD_LOG_LEVEL: .*\n$`,
        ),
      ),
    });
    expect(await json("daemon", "status")).toMatchObject({ pid });
    expect((await sm("all")).code).toBe(0);
  });

  test("a restart keeps the state directory of a daemon that was started with another one", async () => {
    const { directory, socket, env, json } = home();
    const state = join(directory, "other");
    await program.run(socket, ["daemon", "start"], "", { ...env, BLEMEESD_STATE_DIR: state });
    await json("daemon", "restart");
    const log = { to: "file", path: join(state, "blemeesd.log") };
    expect(await json("daemon", "status")).toMatchObject({ state_dir: state, log });
  });

  test("the log is in the state directory that the config file names", async () => {
    const { directory, json } = home();
    const state = join(directory, "configured");
    mkdirSync(join(directory, ".config/blemeesd"), { recursive: true });
    writeFileSync(join(directory, ".config/blemeesd/config.toml"), `state_dir = ${JSON.stringify(state)}\n`);
    const log_file = join(state, "blemeesd.log");
    expect(await json("daemon", "start")).toMatchObject({ started: true, log_file });
    await json("daemon", "stop");
    expect(await json("daemon", "logs")).toMatchObject({ log_file });
    expect(existsSync(join(directory, "state/blemees"))).toBe(false);
  });

  test("logs prints the end of its log, and follows it across a restart", async () => {
    const { socket, log, env, sm, json } = home();
    await sm("daemon", "start");
    expect((await sm("daemon", "logs")).stdout).toContain('"daemon.start"');
    const last = await json("daemon", "logs", "-n", "1");
    expect(last).toEqual({ log_file: log, lines: [expect.any(String)] });
    const tail = program.start(socket, ["daemon", "logs", "-f", "-n", "0"], env);
    closers.push(() => void tail.kill("SIGKILL"));
    let text = "";
    tail.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    // Only what comes after its start is followed, and that moment is not visible.
    await expect
      .poll(() => {
        appendFileSync(log, "marker\n");
        return text;
      }, PATIENT)
      .toContain("marker");
    await sm("daemon", "restart");
    await expect.poll(() => text, PATIENT).toContain('"daemon.took_over"');
    const ended = new Promise((resolve) => tail.once("exit", resolve));
    tail.kill("SIGINT");
    expect(await ended).toBe(0);
  });
});

describe("a daemon that logs elsewhere", () => {
  const elsewhere = async (fields: object): Promise<string> => {
    const server = await scripted(fixed({ ...OLD_STATUS, ...fields }));
    const { code, stdout, stderr } = await program.run(server.path, ["daemon", "logs"]);
    expect([code, stdout]).toEqual([1, ""]);
    return stderr;
  };

  test("to the journal: the command that shows it", async () => {
    const supervisor = { name: "systemd", restart: "r", logs: "journalctl --user -u x.service" };
    expect(await elsewhere({ log: { to: "journal" }, supervisor })).toBe(
      "sm: blemeesd/0.0.1 (pid 1) logs to the journal; show it with: journalctl --user -u x.service -f\n",
    );
  });

  test("to its stderr, or to a file that is gone", async () => {
    expect(await elsewhere({ log: { to: "stderr" } })).toMatch(
      /logs to its stderr, which is not a file: .*log_file\n$/,
    );
    expect(await elsewhere({ log: { to: "file" } })).toMatch(/logs to a file that was moved or removed; /);
  });
});

describe("a daemon of another version, or of a service manager", () => {
  test("an old one is described as far as it goes, with the way to replace it", async () => {
    const server = await scripted(fixed(OLD_STATUS));
    const { code, stdout } = await program.run(server.path, ["daemon", "status"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^daemon +blemeesd\/0\.0\.1 \(pid 1\), up 1m; \S+ is installed: sm daemon restart$/m,
    );
    expect(stdout).toMatch(/^sessions +2 live, 1 in a turn$/m);
  });

  test.each([[["restart"]], [["stop", "--leave-agents"]]])(
    "an old one cannot be asked to leave its agents: %j",
    async (args) => {
      const server = await scripted(fixed(OLD_STATUS));
      const { code, stderr } = await program.run(server.path, ["daemon", ...args]);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(
          /^sm: blemeesd\/0\.0\.1 \(pid 1\) is too old .*`sm daemon stop`, which ends them, .*`sm daemon start`\n$/,
        ),
      });
    },
  );

  test("an old one is stopped by a signal", async () => {
    const child = spawn("sleep", ["1000"]);
    closers.push(() => void child.kill("SIGKILL"));
    const server = await scripted(fixed({ ...OLD_STATUS, pid: child.pid }));
    const ended = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
    void ended.then(() => server.kill());
    const { code, stdout } = await program.run(server.path, ["daemon", "stop"]);
    expect([code, stdout]).toEqual([0, `stopped blemeesd/0.0.1 (pid ${child.pid})\n`]);
    expect(await ended).toBe("SIGTERM");
  });

  test("one that a service manager runs is restarted there, and not by us", async () => {
    const supervisor = { name: "systemd", restart: "systemctl --user restart x.service" };
    const server = await scripted(fixed({ ...OLD_STATUS, state_dir: "/s", supervisor }));
    const { code, stderr } = await program.run(server.path, ["daemon", "restart"]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        "sm: blemeesd/0.0.1 (pid 1) is run by systemd; restart it with: systemctl --user restart x.service\n",
    });
    const { stdout } = await program.run(server.path, ["daemon", "status"]);
    expect(stdout).toMatch(/^service +systemd: systemctl --user restart x\.service$/m);
  });

  test("one that is shutting down is reported as such, and stop waits for its end", async () => {
    const stopping = { error: { code: "daemon_shutdown", message: "the daemon is shutting down" } };
    let asked = 0;
    const server: ScriptedHttp = await scripted((_received, response) => {
      asked += 1;
      if (asked > 3) response.once("close", () => void server.kill());
      return reply(response, 503, stopping);
    });
    const status = await program.run(server.path, ["daemon", "status"]);
    expect(status).toMatchObject({
      code: 3,
      stdout: `the daemon on ${server.path} is shutting down\n`,
    });
    const stop = await program.run(server.path, ["daemon", "stop"]);
    expect(stop).toEqual({
      code: 0,
      stdout: `the daemon on ${server.path} has stopped\n`,
      stderr: "· the daemon is already shutting down; waiting for it to exit\n",
    });
  });
});

test("one that has replaced a daemon that was shutting down is stopped instead", async () => {
  const stopping = { error: { code: "daemon_shutdown", message: "the daemon is shutting down" } };
  const pid = 2 ** 30; // none
  let asked = 0;
  const server: ScriptedHttp = await scripted(({ path }, response) => {
    asked += 1;
    if (asked < 3) return reply(response, 503, stopping);
    if (path !== "/daemon/stop") return path === "/health" ? { ok: true, pid } : { ...OLD_STATUS, pid };
    response.once("close", () => void server.kill());
    return reply(response, 202, { pid, leaving_agents: false });
  });
  const { code, stdout, stderr } = await program.run(server.path, ["daemon", "stop"]);
  expect([code, stdout]).toEqual([0, `stopped blemeesd/0.0.1 (pid ${pid})\n`]);
  expect(stderr).toContain("· the daemon is already shutting down; waiting for it to exit\n");
});

describe("mistakes", () => {
  test.each([
    [["daemon"], "usage: sm daemon status|start|stop|restart|logs"],
    [["daemon", "stauts"], 'unknown action "stauts"; did you mean status?'],
    [["daemon", "frobnicate"], "the actions are status, start, stop, restart, logs"],
    [["daemon", "status", "now"], "usage: sm daemon"],
    [["daemon", "status", "--follow"], "--follow is for `sm daemon logs`"],
    [["daemon", "restart", "--leave-agents"], "--leave-agents is for `sm daemon stop`"],
    [["daemon", "logs", "-n", "many"], "--lines must be a whole number"],
    [["daemon", "start", "--no-start"], "--no-start contradicts `sm daemon start`"],
    [["daemon", "stop", "--leave"], "unknown flag --leave"],
  ])("%j is wrong usage", async (args, text) => {
    const { socket, sm } = home();
    const { code, stdout, stderr } = await sm(...args);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining(text) });
    expect(stderr).toContain("Try 'sm help daemon'.");
    expect(existsSync(socket)).toBe(false);
  });

  test.each(["start", "stop", "restart"])("an agent cannot %s the daemon that runs it", async (action) => {
    const { socket, env } = home();
    const inside = { ...env, BLEMEES_SESSION_ID: "s1" };
    const { code, stderr } = await program.run(socket, ["daemon", action], "", inside);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `sm: an agent cannot ${action} the daemon that runs it; run \`sm daemon ${action}\` in your own terminal\n`,
    });
  });

  test("a file that is no socket is named", async () => {
    const { directory, sm } = home();
    const file = join(directory, "file");
    writeFileSync(file, "");
    const { code, stderr } = await sm("daemon", "restart", "--socket", file);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `sm: ${file} is a file, not a socket; use --socket PATH\n`,
    });
  });
});
