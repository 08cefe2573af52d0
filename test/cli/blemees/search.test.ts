// `sm search` on real turns of the demo agent: what it finds, shows, and refuses.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { SearchReply } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENT } from "../../support/patience.ts";
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
const sm = (...args: string[]): Promise<Ran> => program.run(daemon.socket, args, "", {});

const search = async (...args: string[]): Promise<SearchReply> =>
  JSON.parse((await sm("search", ...args, "--json")).stdout);

test("finds what was said, with its session and place, and shows it", async () => {
  await sm("spawn", "demo", "-o", "pace_ms=0", "--name", "rotator", "say", "we rotate the xylophone tokens");
  await sm("wait", "rotator");
  const reply = await vi.waitFor(async () => {
    const found = await search("xylophone");
    expect(found.unindexed).toBeUndefined();
    expect(found.hits).not.toEqual([]);
    return found;
  }, PATIENT);
  const [first] = reply.hits;
  expect(first).toMatchObject({ role: "user", name: "rotator", agent: "demo" });
  const [[start, end] = [0, 0]] = first?.marks ?? [];
  expect(first?.text.slice(start, end)).toBe("xylophone");
  const { stdout: events } = await sm(
    "events",
    "rotator",
    "--since",
    String((first?.seq ?? 0) - 1),
    "--json",
  );
  expect(JSON.parse(events.split("\n")[0] ?? "")).toMatchObject({
    seq: first?.seq,
    preview: expect.stringContaining("xylophone"),
  });
  const { stdout } = await sm("search", "ylophon", "rotate", "--role", "user");
  expect(stdout).toMatch(/rotator .*demo\n +\d+s +\d+ {2}you +.*we rotate the xylophone tokens\n$/);
  expect((await search('"rotate the"', "--in", "rotator", "-n", "1")).hits).toHaveLength(1);
  expect((await search('"tokens rotate"')).hits).toEqual([]);
  expect((await search("xylophone", "--agent", "claude")).hits).toEqual([]);
  expect((await search("xylophone", "--since", "today")).hits).toEqual(reply.hits);
  await sm("rm", "rotator", "--yes");
  await vi.waitFor(async () => expect((await search("xylophone")).hits).toEqual([]), PATIENT);
});

test("nothing found is said on stderr, with exit code 0", async () => {
  const { code, stdout, stderr } = await sm("search", "quetzalcoatl");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toContain('Nothing found for "quetzalcoatl"');
});

test.each([
  [["…"], "no letters or digits"],
  [["x", "--role", "usr"], 'unknown role "usr"; did you mean user'],
  [["x", "--since", "today", "--until", "yesterday"], "is after --until"],
  [["x", "--in", "nothing-like-this"], "nothing-like-this"],
  [["x", "-n", "0"], "--lines must be"],
  [["x", "--since", "someday"], "--since must be a day"],
])("%s is refused with a reason", async (args, reason) => {
  const { code, stderr } = await sm("search", ...args);
  expect(code).not.toBe(0);
  expect(stderr).toContain(reason);
});

test.each(["AND", "NOT x", "a* OR (b", '"x', "NEAR(a b)", "list: x", "s:1", "^x -y"])(
  "%s is plain text",
  async (text) => {
    const { code, stderr } = await sm("search", "quetzalcoatl", text);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("Nothing found") });
  },
);
