// `sm usage`: its table, its ranges, and real turns of the demo agent.
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatUsage } from "../../../src/cli/blemees/usage.ts";
import type { UsageReply } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let program: BuiltProgram;
let daemon: TestDaemon;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  daemon = await startDaemon();
});
afterAll(async () => {
  await daemon.close();
  program.remove();
});
const sm = (...args: string[]): Promise<Ran> =>
  program.run(daemon.socket, args, "", { TZ: "Pacific/Auckland" });

const none = { turns: 1, turns_without_tokens: 1, turns_without_cost: 1, duration_ms: 65_000, waited_ms: 0 };
const some = {
  ...{ turns: 2, input_tokens: 1_500, cached_tokens: 9_000, output_tokens: 120, turns_without_tokens: 0 },
  ...{ cost_usd: 1.5, turns_without_cost: 1, duration_ms: 65_000, waited_ms: 5_000 },
};
const reply = (over: Partial<UsageReply>): UsageReply => ({
  ...{ by: "agent", from_ms: 0, to_ms: 1, time_zone: "UTC", groups: [], total: none },
  ...over,
});

test("what is not known is unknown, never 0, and a part of it is said too", () => {
  const groups = [
    { key: "claude", ...some },
    { key: "acp", ...none },
  ];
  expect(formatUsage(reply({ groups, total: { ...some, turns: 3 } }), 100)).toEqual([
    "AGENT   TURNS  INPUT    CACHED   OUTPUT   COST             TIME    WAITED",
    "claude  2      1.5k     9k       120      $1.50 + unknown  1m 05s  5.0s",
    "acp     1      unknown  unknown  unknown  unknown          1m 05s",
    "total   3      1.5k     9k       120      $1.50 + unknown  1m 05s  5.0s",
  ]);
});

test("a session has its name without escapes; deleted ones are one line", () => {
  const groups = [
    { key: "43e57990-4e0b-4ef5-8d73-f3b047d802e1", name: "fix\u001b[2J it", ...none },
    { key: "", ...none },
  ];
  const lines = formatUsage(reply({ by: "session", groups }), 100);
  expect(lines[1]).toMatch(/^43e57990 {2}fix.*it {2}/);
  expect(lines.join("")).not.toContain("\u001b");
  expect(lines[2]).toMatch(/^deleted sessions /);
});

test("turns are added up by day, agent, project and session, in the shell's time zone", async () => {
  const { stdout } = await sm("spawn", "demo", "-o", "pace_ms=0", "--name", "adder", "say", "hello");
  await sm("wait", "adder");
  const today = new Intl.DateTimeFormat("sv-SE", { timeZone: "Pacific/Auckland" }).format(new Date());
  const read = async (...args: string[]): Promise<UsageReply> =>
    JSON.parse((await sm("usage", ...args, "--json")).stdout);
  // The test may run at midnight.
  const byDay = await read("--since", "2d");
  expect(byDay).toMatchObject({ time_zone: "Pacific/Auckland", total: { turns: 1, turns_without_cost: 1 } });
  expect([today, byDay.groups[0]?.key]).toContain(byDay.groups[0]?.key);
  expect(byDay.total).not.toHaveProperty("cost_usd");
  expect((await read("--by", "agent")).groups).toMatchObject([{ key: "demo", turns: 1 }]);
  const id = stdout.trim();
  const [session] = (await read("--by", "session")).groups;
  expect(session).toMatchObject({ key: id, name: "adder", agent: "demo", turns: 1 });
  expect((await read("--by", "project")).groups).toMatchObject([{ key: session?.project, turns: 1 }]);
  expect((await read("--until", "yesterday", "--since", "2020-01-01")).groups).toEqual([]);
  const shown = await sm("usage", "adder", "--by", "session");
  expect(shown.stdout).toContain(`${id.slice(0, 8)}  adder`);
  await sm("rm", id, "--yes");
  expect((await sm("usage", "--by", "session")).stdout).toContain("deleted sessions");
});

test.each([
  [["--by", "agnt"], 'unknown group "agnt"; did you mean agent?'],
  [["--since", "tomorrow"], "--since must be a day such as 2026-01-31"],
  [["--since", "2026-02-30"], "--since must be a day such as 2026-01-31"],
  [["--since", "2026-02-02", "--until", "2026-02-01"], "--since 2026-02-02 is after --until 2026-02-01"],
])("%s is refused with what to write instead", async (args, message) => {
  const { code, stderr } = await sm("usage", ...args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
