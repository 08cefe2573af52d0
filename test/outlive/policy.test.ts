// A daemon is killed while rules decide. Its agents live on: the next daemon decides or shows every request exactly once,
// counts every use once, and the audit stays intact.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { checkChainFiles } from "../../src/base/chain/files.ts";
import { HttpClient, type RequestRow } from "../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENCE_MS, PATIENT } from "../support/patience.ts";

const RULES = `[[rules]]
id = "show"
then = "allow"
max_uses = 100
[rules.when]
argv = ["git", "show", "<rev>"]
`;
/** Loaded into the daemon: it never gets to read the rules, so its decisions never end. */
const NO_RULES = `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const { open } = fs.promises;
fs.promises.open = (path, ...rest) =>
  String(path).endsWith("policy.toml") ? new Promise(() => {}) : open(path, ...rest);
syncBuiltinESMExports();`;

interface Life {
  daemon: TestDaemon;
  http: HttpClient;
}

async function start(home: string, env: Record<string, string> = {}): Promise<Life> {
  const daemon = await startDaemon({ home, env });
  onTestFinished(() => daemon.close());
  return { daemon, http: new HttpClient({ socket: daemon.socket, retry: false }) };
}

function createHome(): { home: string; state: string; cwd: string } {
  const home = mkdtempSync(join(tmpdir(), "blemees-policy-"));
  const [config, cwd] = [join(home, "config/blemeesd"), join(home, "project")];
  for (const path of [config, cwd]) mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(join(config, "policy.toml"), RULES, { mode: 0o600 });
  return { home, state: join(home, "state/blemees"), cwd };
}

const ask = (command: string): string => `#ask-tool Bash ${JSON.stringify({ command })}`;

async function spawn({ http }: Life, cwd: string, prompt: string): Promise<string> {
  return (await http.spawn({ backend: "claude", prompt, cwd, approvals: true })).session.session_id;
}

const listRows = ({ http }: Life, session_id: string): Promise<RequestRow[]> =>
  http.allRequests({ session_id, include_settled: true, include_orphaned: true });

/** Categories of the notices about requests, and the results. */
async function listNews({ http }: Life, session_id: string): Promise<unknown[]> {
  const { events } = await http.events(session_id, { limit: 1000 });
  return events
    .map(({ frame }) => (frame["type"] === "agent.result" ? frame["subtype"] : frame["category"]))
    .filter((name) => /^(request_|success)/.test(String(name)));
}

function readAnswers(state: string): { request_id: string; rule_id?: string }[] {
  const lines = readFileSync(join(state, "audit.ndjson"), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "answer");
}

/** Whether the session has a stored row that waits for rules. No client sees it. */
function hasUndecided(state: string, session_id: string): boolean {
  const files = readdirSync(state, { recursive: true, encoding: "utf8" }).map((name) => join(state, name));
  return files
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
    .some((file) =>
      new RegExp(`"session_id":"${session_id}"[^\\n]*"undecided":true`).test(readFileSync(file, "latin1")),
    );
}

test("requests that a killed daemon had not decided are decided or shown by the next, exactly once", async () => {
  const { home, state, cwd } = createHome();
  const preload = join(home, "no-rules.mjs");
  writeFileSync(preload, NO_RULES);
  const first = await start(home, { NODE_OPTIONS: `--import=${preload}` });
  const [ruled, other] = await Promise.all([
    spawn(first, cwd, ask("git show HEAD")),
    spawn(first, cwd, ask("git push")),
  ]);
  await vi.waitFor(() => {
    expect([ruled, other].map((id) => hasUndecided(state, id))).toEqual([true, true]);
  }, PATIENT);
  expect(await first.http.allRequests({})).toEqual([]);
  await first.daemon.kill("SIGKILL");

  const next = await start(home);
  await next.http.wait(ruled, { until: ["idle"], timeoutMs: PATIENCE_MS });
  expect(await listRows(next, ruled)).toMatchObject([{ status: "resolved", rule_id: "show" }]);
  const shown = await vi.waitFor(async () => {
    const rows = await next.http.allRequests({ session_id: other });
    expect(rows).toHaveLength(1);
    return rows[0]?.request_id ?? "";
  }, PATIENT);
  await next.http.respond(other, shown, { decision: "decline" });
  await next.http.wait(other, { until: ["idle"], timeoutMs: PATIENCE_MS });
  for (const id of [ruled, other])
    expect(await listNews(next, id)).toEqual(["request_pending", "request_resolved", "success"]);
  expect(readAnswers(state).map(({ rule_id }) => rule_id)).toEqual(["show", undefined]);
  expect(checkChainFiles(state, "audit").fault).toBeUndefined();
});

test("a kill among many decisions leaves an intact audit, with its torn line set aside, and exact uses", async () => {
  const TURNS = 8;
  const { home, state, cwd } = createHome();
  const first = await start(home);
  const ids = await Promise.all([1, 2].map(() => spawn(first, cwd, ask("git show HEAD"))));
  for (let turn = 1; turn < TURNS; turn += 1)
    for (const id of ids) await first.http.input(id, { text: ask("git show HEAD") });
  await vi.waitFor(() => expect(readAnswers(state).length).toBeGreaterThanOrEqual(3), PATIENT);
  await first.daemon.kill("SIGKILL");
  appendFileSync(join(state, "audit.ndjson"), '{"n":99,"at_ms":1,"kind":"ans');

  const next = await start(home);
  await vi.waitFor(
    async () => {
      for (const id of ids)
        expect((await listNews(next, id)).filter((name) => name === "success")).toHaveLength(TURNS);
      // Seldom: each look reads the whole history, which would keep a busy machine from the turns.
    },
    { ...PATIENT, interval: 500 },
  );
  const rows = (await Promise.all(ids.map((id) => listRows(next, id)))).flat();
  expect(rows.map(({ status, rule_id }) => `${status} ${rule_id}`)).toEqual(
    Array(2 * TURNS).fill("resolved show"),
  );
  expect((await next.http.policy()).rules).toMatchObject([{ uses: 2 * TURNS }]);
  const audited = new Set(readAnswers(state).map(({ request_id }) => request_id));
  expect(audited).toEqual(new Set(rows.map(({ request_id }) => request_id)));
  expect(
    readFileSync(join(state, "audit.ndjson"), "utf8").match(/"kind":"repair","torn_bytes":29/g),
  ).toHaveLength(1);
  expect(checkChainFiles(state, "audit").fault).toBeUndefined();
});
