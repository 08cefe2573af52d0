// Labels and the archive from the shell.
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpClient } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let daemon: TestDaemon;
let program: BuiltProgram;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  daemon = await startDaemon();
  const http = new HttpClient({ socket: daemon.socket });
  for (const name of ["one", "two"]) {
    const { session } = await http.spawn({ backend: "claude", name, prompt: "#say hi" });
    await http.wait(session.session_id, { until: ["idle"], timeoutMs: PATIENCE_MS });
  }
});
afterAll(async () => {
  await daemon.close();
  program.remove();
});

const sm = (...args: string[]): Promise<Ran> => program.run(daemon.socket, args);
const listNames = async (...args: string[]): Promise<string[]> => {
  const { sessions } = JSON.parse((await sm("all", "--json", ...args)).stdout) as {
    sessions: { name: string }[];
  };
  return sessions.map(({ name }) => name).sort();
};

test("labels are added, printed, searched for and taken away", async () => {
  expect(await sm("label", "one", "ui", "bug")).toMatchObject({ code: 0, stdout: "bug\nui\n" });
  expect(await listNames("--label", "ui", "--label", "bug")).toEqual(["one"]);
  expect((await sm("label", "one", "--remove", "ui")).stdout).toBe("bug\n");
  expect((await sm("label", "one")).stdout).toBe("bug\n");
  expect((await sm("show", "one")).stdout).toMatch(/^labels +bug$/m);
});

test("archived sessions are left out until they are taken back", async () => {
  expect(await sm("archive", "one", "two")).toMatchObject({ code: 0 });
  expect(await listNames()).toEqual([]);
  expect(await listNames("--archived")).toEqual(["one", "two"]);
  expect((await sm("all")).stderr).toContain("No sessions");
  expect((await sm("unarchive", "one")).stdout).toMatch(/^back in the lists: \S+ \(one\)$/m);
  expect(await listNames()).toEqual(["one"]);
  expect((await sm("all", "--by-project")).stdout).toMatch(/1 session$/m);
});

test.each([
  ["a label that is none", ["label", "one", "a,b"], "expected 1-40 characters"],
  ["a label both ways", ["label", "one", "x", "--remove", "x"], "both added and removed"],
  ["a session that does not exist", ["archive", "none"], "no session with the id or name"],
])("%s: one error, and nothing is changed", async (_what, args, message) => {
  const before = (await sm("all", "--json")).stdout;
  const ran = await sm(...args);
  expect(ran.code).not.toBe(0);
  expect(ran.stderr).toContain(message);
  const labelsOf = (text: string) =>
    JSON.stringify(JSON.parse(text).sessions.map((one: { labels?: string[] }) => one.labels));
  expect(labelsOf((await sm("all", "--json")).stdout)).toBe(labelsOf(before));
});
