// approve and decline for several sessions at once, against the real daemon: the same command asked by many is one card.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HttpClient, type RequestRow, type SpawnBody } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { removeSessions } from "../../support/sessions.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let program: BuiltProgram;
let daemon: TestDaemon;
let http: HttpClient;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  daemon = await startDaemon();
  http = new HttpClient({ socket: daemon.socket });
});
afterAll(async () => {
  await daemon.close();
  program.remove();
});
beforeEach(async () => {
  await Promise.all([...NAMES, "twin", "twin"].map((name) => ask({ name })));
});
afterEach(() => removeSessions(daemon));

const NAMES = ["kid-0", "kid-1", "kid-2"];
const sm = (...args: string[]): Promise<Ran> => program.run(daemon.socket, args);

/** A session that waits for an answer. */
async function ask({
  name = "asker",
  prompt = "approve it",
  ...more
}: Partial<SpawnBody>): Promise<RequestRow> {
  const order = { backend: "demo", cwd: daemon.home, options: { pace_ms: 0 }, name, prompt, ...more };
  const { session } = await http.spawn({ ...order, labels: ["askers"] });
  await http.wait(session.session_id, { until: ["blocked"] });
  const [row] = await http.allRequests({ session_id: session.session_id });
  if (row === undefined) throw new Error("it does not ask");
  return row;
}
const requestsOf = async (...names: string[]): Promise<string[]> => {
  const found = await Promise.all(
    names.map(async (name) => (await http.sessions({ name }))[0]?.session_id ?? ""),
  );
  const rows = await Promise.all(found.map((session_id) => http.allRequests({ session_id })));
  return rows.flat().map(({ request_id }) => request_id);
};
const countPending = async (): Promise<number> => (await http.allRequests()).length;

const VERBS = [["approve"], ["decline"]];

describe("nothing is answered", () => {
  test.each(VERBS)("by %s if no session fits the flags, or none of them asks", async (verb) => {
    expect(await sm(verb, "--label", "nobody", "--yes")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("nothing done: no session fits --label nobody"),
    });
    await http.spawn({ backend: "demo", labels: ["silent"] });
    expect(await sm(verb, "--label", "silent", "--yes")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("no request is pending in the session that fits --label silent"),
    });
    expect(await countPending()).toBe(5);
  });

  test.each(VERBS)("by %s if one name is unknown, or that of two sessions", async (verb) => {
    expect(await sm(verb, [...NAMES, "kid-x"].join(","), "--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/nothing done: 1 of 4 names cannot be used:\n {2}no session .*"kid-x"/),
    });
    expect(await sm(verb, "kid-0,twin", "--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /nothing done: 1 of 2 names cannot be used:\n {2}"twin" matches 2 sessions/,
      ),
    });
    expect(await countPending()).toBe(5);
  });

  test("if a named request is settled, asks a question, or its id is too short", async () => {
    const [first = "", second = ""] = await requestsOf("kid-0", "kid-1");
    const question = await ask({ prompt: "ask me something" });
    await http.respond((await http.sessions({ name: "kid-0" }))[0]?.session_id ?? "", first, {
      decision: "accept",
    });
    for (const [odd, text] of [
      [first, `no pending request ${first}`],
      [question.request_id, "this request asks a question"],
      ["req_", "several requests match"],
    ] as const)
      expect(await sm("approve", second, odd)).toMatchObject({
        code: expect.any(Number),
        stdout: "",
        stderr: expect.stringMatching(new RegExp(`nothing done.*${text}`, "s")),
      });
    expect(await requestsOf("kid-1")).toEqual([second]);
  });

  test("without a terminal, if sessions are chosen and not requests; the requests are named", async () => {
    const { code, stderr } = await sm("approve", "--label", "askers");
    expect(code).toBe(2);
    expect(stderr).toMatch(/\n {2}sm approve( req_\w+){5} {2}# run rm -rf build\nor add --yes/);
    expect(await sm("approve", "kid-0", "--same")).toMatchObject({ code: 2 });
    expect(await countPending()).toBe(5);
  });

  test("with --shown or --input, or with names and flags", async () => {
    for (const odd of ["--shown", "--input"])
      expect(await sm("approve", "kid-0", "kid-1", odd, "{}")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${odd} takes a single request`),
      });
    expect(await sm("approve", "kid-0", "--failed")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("not both"),
    });
    expect(await sm("approve")).toMatchObject({ code: 2 });
    expect(await countPending()).toBe(5);
  });
});

describe("the same command of several sessions", () => {
  test("is one row of the list, and one card", async () => {
    const { stdout } = await sm("requests");
    expect(stdout.match(/run rm -rf build/g)).toHaveLength(1);
    expect(stdout).toMatch(/^\d+s +(kid-\d|twin) \+4 .*run rm -rf build\n\+N: .*sm approve REQUEST --same/m);
    const { items, requests } = JSON.parse((await sm("requests", "--json")).stdout);
    expect([items.length, items[0].request_ids.length, requests.length]).toEqual([1, 5, 5]);
  });

  test("is approved as a whole with --same, each request by its own id", async () => {
    const [id = ""] = await requestsOf("kid-0");
    const other = await ask({ prompt: "approve it", cwd: "/" });
    const { code, stdout, stderr } = await sm("approve", id, "--same");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "run rm -rf build: accepted 5 of 5\n" });
    expect(stderr).toMatch(/\? \S+ \(demo\) and 4 more in \S+ ask to run a command:\n {2}│ also /);
    // In another project it is not the same.
    expect((await http.allRequests()).map(({ request_id }) => request_id)).toEqual([other.request_id]);
  });

  test("without --same only the named request is answered", async () => {
    const [id = ""] = await requestsOf("kid-0");
    expect(await sm("approve", id)).toMatchObject({ code: 0 });
    expect(await countPending()).toBe(4);
  });

  test("is answered for the named ones only, and each outcome is in the JSON", async () => {
    const ids = await requestsOf("kid-0", "kid-1");
    const { code, stdout } = await sm("approve", ...ids, "--json");
    expect(code).toBe(0);
    const { results } = JSON.parse(stdout);
    expect(results.map(({ request_id }: RequestRow) => request_id).sort()).toEqual(ids.sort());
    expect(results).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await countPending()).toBe(3);
  });
});

test("decline sends its message to each; what cannot be answered is left out and reported", async () => {
  await ask({ name: "asks", prompt: "ask me something" });
  const { code, stdout, stderr } = await sm("approve", "--label", "askers", "--yes");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "run rm -rf build: accepted 5 of 5\n" });
  expect(stderr).toMatch(/left out: asks \(req_\w+\): this request asks a question/);
  await Promise.all([ask({ name: "a" }), ask({ name: "b" })]);
  expect(await sm("decline", "a,b", "not", "now")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("declined 2 of 2"),
  });
  const settled = await http.allRequests({ include_settled: true });
  const declined = settled.filter(
    ({ answer }) => answer !== undefined && "decision" in answer && answer.decision === "decline",
  );
  expect(declined.map(({ answer }) => answer)).toEqual([
    expect.objectContaining({ message: "not now" }),
    expect.objectContaining({ message: "not now" }),
  ]);
});
