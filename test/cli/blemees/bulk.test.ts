// Commands for several sessions at once, against the real daemon: by names, and by what the sessions have in common.
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpClient, type SpawnBody } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let program: BuiltProgram;
let daemon: TestDaemon;
let http: HttpClient;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  daemon = await startDaemon();
  http = new HttpClient({ socket: daemon.socket });
  await Promise.all([...NINE, "twin", "twin"].map((name) => spawn({ name })));
});
afterAll(async () => {
  await daemon.close();
  program.remove();
});

const NINE = Array.from({ length: 9 }, (_, at) => `kid-${at}`);
const sm = (...args: string[]): Promise<Ran> => program.run(daemon.socket, args);
async function spawn(body: Partial<SpawnBody>): Promise<string> {
  const { session } = await http.spawn({ backend: "demo", options: { pace_ms: 0 }, ...body });
  return session.session_id;
}
/** What any of the commands would change. */
const readAll = async (): Promise<unknown> =>
  (await http.sessions())
    .map(({ session_id, turns, queued, stopped_at_ms }) => ({ session_id, turns, queued, stopped_at_ms }))
    .sort((a, b) => (a.session_id < b.session_id ? -1 : 1));

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/** Each with what follows the names. */
const VERBS: readonly (readonly [verb: string, ...rest: string[]])[] = [
  ["send", "hello"],
  ["stop"],
  ["interrupt"],
  ["rm", "--yes"],
  ["wait"],
  ["resume", "--yes"],
];

test.each(VERBS)("%s does nothing if no session fits the flags", async (verb, ...rest) => {
  const before = await readAll();
  const { code, stdout, stderr } = await sm(verb, "--label", "no-such-label", "--failed", ...rest);
  expect({ code, stdout }).toEqual({ code: verb === "wait" ? 4 : 1, stdout: "" });
  expect(stderr).toContain("nothing done: no session fits --label no-such-label --failed");
  expect(await readAll()).toEqual(before);
});

test.each(VERBS)("%s does nothing if one of ten names is unknown", async (verb, ...rest) => {
  const before = await readAll();
  const { code, stdout, stderr } = await sm(verb, [...NINE, "kid-x"].join(","), ...rest);
  expect({ code, stdout }).toEqual({ code: verb === "wait" ? 4 : 1, stdout: "" });
  expect(stderr).toMatch(
    /nothing done: 1 of 10 names cannot be used:\n {2}no session .*"kid-x"; did you mean/,
  );
  expect(await readAll()).toEqual(before);
});

test.each(VERBS)("%s does nothing if a name is that of two sessions", async (verb, ...rest) => {
  const before = await readAll();
  const { code, stdout, stderr } = await sm(verb, "kid-0,twin", ...rest);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /nothing done: 1 of 2 names cannot be used:\n {2}"twin" matches 2 sessions; .*\n +\S+ +demo/,
  );
  const { error } = JSON.parse((await sm(verb, "kid-0,twin", ...rest, "--json")).stderr);
  expect(error).toMatchObject({
    code: "session_ambiguous",
    data: { problems: [{ name: "twin", candidates: [expect.any(String), expect.any(String)] }] },
  });
  expect(await readAll()).toEqual(before);
});

test("names and flags together are refused, and so is neither", async () => {
  for (const [args, text] of [
    [["stop", "kid-0", "--failed"], "not both"],
    [["stop"], "name a session, or choose with"],
    [["send"], "name a session, or choose with"],
  ] as const)
    expect(await sm(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
});

test("a message goes to each named session once, with an outcome for each", async () => {
  const ids = await Promise.all(["one", "two"].map((name) => spawn({ name })));
  const sent = await sm("send", "one,two,one", "hello", "there");
  expect(sent).toMatchObject({ code: 0, stderr: "" });
  expect(sent.stdout).toMatch(/^\S+ \(one\): msg_\w+: .*\n\S+ \(two\): msg_\w+: .*\n$/);
  expect(await sm("wait", "one", "two")).toMatchObject({ code: 0 });
  for (const id of ids) expect(await http.session(id)).toMatchObject({ turns: 1, title: "hello there" });
});

test("one that fails does not stop the others, and it is said what was done", async () => {
  const ids = await Promise.all([
    spawn({ labels: ["mixed"], name: "asks", prompt: "approve it" }),
    spawn({ labels: ["mixed"], name: "rests" }),
  ]);
  await http.wait(ids[0] ?? "", { until: ["blocked"] });
  const sent = await sm("send", "--label", "mixed", "go on");
  expect(sent).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\S+ \(rests\): msg_\w+: .*\n$/) });
  expect(sent.stderr).toMatch(
    /\(asks\): .*\(show it with: sm requests req_\w+\)\ndone for 1 of 2 sessions\n$/,
  );
  const { exit_code, results } = JSON.parse((await sm("send", "--label", "mixed", "again", "--json")).stdout);
  expect(exit_code).toBe(1);
  expect(results.toSorted(byName)).toMatchObject([
    { session_id: ids[0], name: "asks", ok: false, error: { code: "pending_structured_request" } },
    { session_id: ids[1], name: "rests", ok: true, reply: { input: { kind: "user" } } },
  ]);
});

test("sessions are chosen by label, failure and parent; archived ones only by name", async () => {
  const lead = await spawn({ name: "lead" });
  const good = await spawn({ name: "good", parent: lead, labels: ["batch"], wakes_parent: false });
  const bad = await spawn({
    parent: lead,
    labels: ["batch", "slow"],
    prompt: "please fail",
    wakes_parent: false,
  });
  await spawn({ labels: ["batch"], prompt: "please fail", name: "stranger" });
  await http.wait(bad, { until: ["idle"] });
  const chosen = async (...flags: string[]): Promise<string[]> => {
    const { results } = JSON.parse((await sm("interrupt", ...flags, "--json")).stdout);
    return results.map(({ session_id }: { session_id: string }) => session_id).sort();
  };
  expect(await chosen("--children-of", "lead")).toEqual([good, bad].sort());
  expect(await chosen("--children-of", "lead", "--failed")).toEqual([bad]);
  expect(await chosen("--label", "batch", "--label", "slow")).toEqual([bad]);
  await http.change(good, { archived: true });
  expect(await chosen("--children-of", "lead")).toEqual([bad]);
  expect(await sm("interrupt", "good")).toMatchObject({ code: 0 });
});

test("many sessions are waited for without a warning", async () => {
  const dozen = await Promise.all(
    Array.from({ length: 12 }, () => spawn({ labels: ["dozen"], prompt: "hi" })),
  );
  const { code, stdout, stderr } = await sm("wait", "--label", "dozen");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trim().split("\n")).toHaveLength(dozen.length);
});

test("inside an agent, flags find only sessions below its own", async () => {
  const lead = await spawn({ name: "inner" });
  const child = await spawn({ parent: lead, labels: ["everywhere"], wakes_parent: false });
  await spawn({ labels: ["everywhere"] });
  const env = { BLEMEES_SESSION_ID: lead, BLEMEES_SOCKET: daemon.socket };
  const { stdout } = await program.run("/nowhere.sock", ["stop", "--label", "everywhere", "--json"], "", env);
  expect(JSON.parse(stdout).results).toMatchObject([{ session_id: child, ok: true }]);
});

test("rm --tree of a parent and its child removes each once", async () => {
  const parent = await spawn({ labels: ["gone"] });
  await spawn({ parent, labels: ["gone"], wakes_parent: false });
  expect(await sm("rm", "--label", "gone", "--tree")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/rm deletes 2 sessions \(.*\) and its descendants permanently; add --yes/),
  });
  expect(await sm("rm", "--label", "gone", "--tree", "--yes")).toMatchObject({ code: 0, stderr: "" });
  expect(await http.sessions({ labels: ["gone"] })).toEqual([]);
});

test("spawn --label sets labels, and a bad one is refused", async () => {
  const { code, stdout } = await sm("spawn", "demo", "--label", "b", "-l", "a", "--name", "labelled");
  expect(code).toBe(0);
  expect(await http.session(stdout.trim())).toMatchObject({ labels: ["a", "b"] });
  expect(await sm("spawn", "demo", "--label", "two words")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("labels"),
  });
});
