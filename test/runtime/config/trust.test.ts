// Trust is for a content and is kept outside the workspace. (By hash, because
// anyone can set the time of the last change.)
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decideTrust, forgetTrust, getTrust, readTrust } from "../../../src/runtime/config/trust.ts";
import { getProjectDir } from "../../../src/runtime/state-dir.ts";
import { Places } from "./places.ts";

let places: Places;
let directory: string;
beforeEach(() => {
  places = new Places();
  directory = join(places.base, "state", "demian");
});
afterEach(() => places.remove());

const file = (path: string, sha256 = "1") => ({ path, sha256, kind: "tool" as const });

describe("38: trust", () => {
  test("a decision is for one path and one content", async () => {
    await decideTrust(directory, [file("/a")], "trusted", 5);
    await decideTrust(directory, [file("/b")], "refused", 6);
    const trust = await readTrust(directory);
    expect(trust.records).toEqual([
      { ...file("/a"), decision: "trusted", decidedAtMs: 5 },
      { ...file("/b"), decision: "refused", decidedAtMs: 6 },
    ]);
    expect(getTrust(trust, file("/a"))).toBe("trusted");
    expect(getTrust(trust, file("/a", "2"))).toBe("changed");
    expect(getTrust(trust, file("/b"))).toBe("refused");
    expect(getTrust(trust, file("/c"))).toBe("unknown");
  });

  test("a new decision replaces the old one, and what is forgotten is unknown again", async () => {
    await decideTrust(directory, [file("/a"), file("/b")], "trusted", 5);
    await decideTrust(directory, [file("/a", "2")], "refused", 6);
    expect(getTrust(await readTrust(directory), file("/a"))).toBe("changed");
    expect(await forgetTrust(directory, "/a")).toBe(true);
    expect(await forgetTrust(directory, "/a")).toBe(false);
    const trust = await readTrust(directory);
    expect([getTrust(trust, file("/a")), getTrust(trust, file("/b"))]).toEqual(["unknown", "trusted"]);
  });

  test("many writers at once lose nothing", async () => {
    const paths = Array.from({ length: 25 }, (_, at) => `/file-${at}`);
    await Promise.all(paths.map((path) => decideTrust(directory, [file(path)], "trusted", 1)));
    const { records } = await readTrust(directory);
    expect(records.map(({ path }) => path).sort()).toEqual([...paths].sort());
    expect(readdirSync(directory)).toEqual(["trust.json"]);
  });

  test("it is for the user alone", async () => {
    await decideTrust(directory, [file("/a")], "trusted", 5);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, "trust.json")).mode & 0o777).toBe(0o600);
    chmodSync(join(directory, "trust.json"), 0o666);
    const trust = await readTrust(directory);
    expect(trust).toEqual({ records: [], warning: expect.stringMatching(/can be written by others/) });
    expect(getTrust(trust, file("/a"))).toBe("unknown");
  });

  test.each([
    "garbage",
    "[]",
    '{"version": 2, "records": []}',
    '{"version": 1, "records": [{"path": "/a"}]}',
  ])("a file that holds %j trusts nothing, and can be rewritten", async (text) => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, "trust.json"), text, { mode: 0o600 });
    expect((await readTrust(directory)).records).toEqual([]);
    await decideTrust(directory, [file("/a")], "trusted", 5);
    expect(getTrust(await readTrust(directory), file("/a"))).toBe("trusted");
  });

  test("what an older demian wrote for a project's config still counts", async () => {
    places.project({ hooks: [{ name: "x", event: "Stop", command: "true" }] });
    await places.load({ flags: { trust: { project: true } } });
    const path = join(getProjectDir(places.env, places.cwd), "trust.json");
    const { records } = JSON.parse(readFileSync(path, "utf8")) as { records: { sha256: string }[] };
    const older = { path: places.projectFile, sha256: records[0]?.sha256, trustedAtMs: 1 };
    writeFileSync(path, JSON.stringify(older));
    expect((await places.load()).project).toMatchObject({ isTrusted: true });
    writeFileSync(path, JSON.stringify({ ...older, path: "/elsewhere/.demian/config.json" }));
    expect((await places.load()).project).toMatchObject({ isTrusted: false });
  });

  test("a config that the user refused stays refused, also with --trust-project", async () => {
    places.project({ hooks: [{ name: "x", event: "Stop", command: "true" }] });
    const sha256 = (await places.load()).project?.sha256 ?? "";
    const own = { path: places.projectFile, sha256, kind: "config" as const };
    await decideTrust(getProjectDir(places.env, places.cwd), [own], "refused", 1);
    expect((await places.load({ flags: { trust: { project: true } } })).config.hooks).toEqual([]);
  });

  test("the time of the last change does not matter, the content does", async () => {
    places.project({ hooks: [{ name: "x", event: "Stop", command: "true" }] });
    await places.load({ flags: { trust: { project: true } } });
    utimesSync(places.projectFile, 1, 1);
    expect((await places.load()).project).toMatchObject({ isTrusted: true });
    const { atime, mtime } = statSync(places.projectFile);
    places.project({ hooks: [{ name: "x", event: "Stop", command: "evil" }] });
    utimesSync(places.projectFile, atime, mtime);
    expect((await places.load()).project).toMatchObject({ isTrusted: false });
  });

  test.each([
    ["itself", () => join(places.cwd, "state")],
    ["by a link", () => join(places.base, "link", "state")],
  ])(
    "a state directory in the workspace (%s) trusts nothing: the workspace could bring it",
    async (_, of) => {
      places.project({ hooks: [{ name: "x", event: "Stop", command: "true" }] });
      symlinkSync(places.cwd, join(places.base, "link"));
      const env = { ...places.env, XDG_STATE_HOME: of() };
      const sha256 = (await places.load()).project?.sha256 ?? "";
      const own = { path: places.projectFile, sha256, kind: "config" as const };
      await decideTrust(getProjectDir(env, places.cwd), [own], "trusted", 1);
      const { project, warnings } = await places.load({ env });
      expect(project).toMatchObject({ isTrusted: false });
      expect(warnings).toContainEqual(expect.stringMatching(/could bring its own trust/));
    },
  );
});
