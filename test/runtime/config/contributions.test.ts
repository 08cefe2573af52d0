// Tool modules: code is loaded only when the user trusted exactly
// this content, and never silently.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readContributionStamp } from "../../../src/runtime/config/scope.ts";
import { decideTrust } from "../../../src/runtime/config/trust.ts";
import { listTrustables } from "../../../src/runtime/config/trustable.ts";
import { getProjectDir, getStateDir } from "../../../src/runtime/state-dir.ts";
import { Places } from "./places.ts";

let places: Places;
beforeEach(() => {
  places = new Places();
});
afterEach(() => places.remove());

const trusting = { flags: { trust: { project: true } } };
const trustingUser = { flags: { trust: { userTools: true } } };

/** Loading it creates a file, so that no code can run unnoticed. */
function module(name: string): string {
  return `import { writeFileSync } from "node:fs";
writeFileSync(${JSON.stringify(join(places.base, `${name}-ran`))}, "x");
export default { name: "${name}", description: "d", inputSchema: { type: "object" }, execute: () => "x" };
`;
}

const hasRun = (name: string) => existsSync(join(places.base, `${name}-ran`));
const user = (name: string, text = module(name)) =>
  places.write(places.toolFile("home", `${name}.mjs`), text);
const project = (name: string, text = module(name)) =>
  places.write(places.toolFile("cwd", `${name}.mjs`), text);

async function loaded(more = {}) {
  const { tools, warnings } = await places.everything(more);
  return { names: tools.map(({ tool }) => tool.name), warnings, tools };
}

async function decide(path: string, decision: "trusted" | "refused") {
  const { files } = await listTrustables({ cwd: places.cwd, env: places.env }, { userTools: false });
  const file = files.find((one) => one.path === path);
  if (file === undefined) throw new Error(`${path} is not listed`);
  await decideTrust(file.scope.trustDirectory, [file], decision, Date.now());
}

describe("18 and 38: a tool module of a project", () => {
  test("is not run until it is trusted, and that is reported with what to do", async () => {
    project("deploy");
    const { names, warnings } = await loaded();
    const path = places.toolFile("cwd", "deploy.mjs");
    expect(names).toEqual([]);
    expect(warnings).toEqual([
      `${path} is not loaded: it is code that you have not trusted yet. Read it, then run \`demian trust ${path}\``,
    ]);
    expect(hasRun("deploy")).toBe(false);
  });

  test("trust.userTools is not about it", async () => {
    project("deploy");
    places.user({ trust: { userTools: true } });
    expect((await loaded(trustingUser)).names).toEqual([]);
    expect(hasRun("deploy")).toBe(false);
  });

  test("a project's own config cannot trust it", async () => {
    project("deploy");
    places.project({ trust: { project: true, userTools: true } });
    expect((await loaded()).names).toEqual([]);
    expect(hasRun("deploy")).toBe(false);
  });

  test("--trust-project loads it now and remembers exactly this content", async () => {
    project("deploy");
    expect((await loaded(trusting)).names).toEqual(["deploy"]);
    const { names, warnings, tools } = await loaded();
    expect({ names, warnings }).toEqual({ names: ["deploy"], warnings: [] });
    expect(tools[0]?.source).toEqual({
      scope: "project",
      path: places.toolFile("cwd", "deploy.mjs"),
      trusted: true,
    });
    project("deploy", `${module("deploy")}// one more line\n`);
    rmSync(join(places.base, "deploy-ran"));
    const changed = await loaded();
    expect(changed.names).toEqual([]);
    expect(changed.warnings).toEqual([
      expect.stringMatching(/code that changed since you trusted it \(20\d\d-\d\d-\d\d\).*demian trust /),
    ]);
    expect(hasRun("deploy")).toBe(false);
  });

  test("a record trusts one file and not its copy under another name or in another project", async () => {
    project("deploy");
    await decide(places.toolFile("cwd", "deploy.mjs"), "trusted");
    places.write(places.toolFile("cwd", "copy.mjs"), module("deploy"));
    expect((await loaded()).names).toEqual(["deploy"]);
    const other = join(places.base, "other");
    places.write(join(other, ".demian", "tools", "deploy.mjs"), module("deploy"));
    expect((await loaded({ cwd: other })).names).toEqual([]);
  });

  test("one that was refused is not mentioned, until it changes", async () => {
    project("deploy");
    await decide(places.toolFile("cwd", "deploy.mjs"), "refused");
    expect(await loaded()).toMatchObject({ names: [], warnings: [] });
    expect((await loaded(trusting)).names).toEqual([]);
    project("deploy", `${module("deploy")}\n`);
    expect((await loaded()).warnings).toEqual([expect.stringMatching(/changed since you refused it/)]);
    expect(hasRun("deploy")).toBe(false);
  });

  test("trust is kept in the state directory and nothing is written into the project", async () => {
    project("deploy");
    await loaded(trusting);
    const text = readFileSync(join(getProjectDir(places.env, places.cwd), "trust.json"), "utf8");
    expect(JSON.parse(text)).toMatchObject({
      version: 1,
      records: [{ path: places.toolFile("cwd", "deploy.mjs"), kind: "tool", decision: "trusted" }],
    });
    expect(existsSync(join(places.cwd, ".demian", "trust.json"))).toBe(false);
  });

  test("a link is not followed, and a world-writable file is not loaded", async () => {
    places.write(join(places.base, "evil.mjs"), module("evil"));
    mkdirSync(dirname(places.toolFile("cwd", "x")), { recursive: true });
    symlinkSync(join(places.base, "evil.mjs"), places.toolFile("cwd", "evil.mjs"));
    project("open");
    chmodSync(places.toolFile("cwd", "open.mjs"), 0o666);
    const { names, warnings } = await loaded(trusting);
    expect(names).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(/evil\.mjs is a symbolic link/),
      expect.stringMatching(/open\.mjs is not loaded: it is writable by everyone/),
    ]);
    expect([hasRun("evil"), hasRun("open")]).toEqual([false, false]);
  });

  test("an agent of the project may see it, and no tool of the user", async () => {
    project("deploy");
    user("mine");
    const agent = "---\ndescription: d\ntools:\n  visible: [deploy, mine, grep]\n---\nYou deploy.\n";
    places.write(places.agentFile("cwd", "ops.md"), agent);
    const flags = { trust: { project: true, userTools: true } };
    const { registry, warnings } = await places.everything({ flags });
    expect(registry.get("ops").tools.visible).toEqual(["deploy", "grep"]);
    expect(warnings).toEqual([expect.stringMatching(/ops\.md:4: "tools\.visible" is ignored: .*not mine/)]);
  });
});

describe("18 and 38: a tool module of the user", () => {
  test("is loaded by trust.userTools, by --trust-user-tools or by a record, and not without", async () => {
    user("mine");
    const path = places.toolFile("home", "mine.mjs");
    expect((await loaded()).warnings).toEqual([
      expect.stringMatching(/mine\.mjs is not loaded: .*demian trust /),
    ]);
    expect(hasRun("mine")).toBe(false);
    expect((await loaded(trustingUser)).names).toEqual(["mine"]);
    expect((await loaded()).names).toEqual([]);
    await decide(path, "trusted");
    expect((await loaded()).tools[0]?.source).toEqual({ scope: "user", path, trusted: true });
    expect(existsSync(join(getStateDir(places.env), "trust.json"))).toBe(true);
    user("mine", `${module("mine")}\n`);
    expect((await loaded()).names).toEqual([]);
    places.user({ trust: { userTools: true } });
    expect((await loaded()).names).toEqual(["mine"]);
  });

  test("--trust-project is not about it", async () => {
    user("mine");
    expect((await loaded(trusting)).names).toEqual([]);
    expect(hasRun("mine")).toBe(false);
  });

  test("in the home directory it is still the user's", async () => {
    user("mine");
    const { names, warnings } = await loaded({ cwd: places.home });
    expect(names).toEqual([]);
    expect(warnings).toHaveLength(1);
  });
});

describe("18: names of tools", () => {
  test.each(["bash", "read_file", "delegate_agent"])("%s cannot be taken", async (name) => {
    user("x", module(name));
    const { names, warnings } = await loaded(trustingUser);
    expect(names).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(`x\\.mjs is ignored: the name "${name}" belongs to a built-in tool`),
    ]);
  });

  test("the user's wins over the project's, and the first file over the second; both are named", async () => {
    user("same");
    places.write(places.toolFile("home", "twin.mjs"), module("same"));
    project("same");
    const { tools, warnings } = await loaded({ flags: { trust: { project: true, userTools: true } } });
    expect(tools.map(({ source }) => source.path)).toEqual([places.toolFile("home", "same.mjs")]);
    const by = `the name "same" belongs to the tool of ${places.toolFile("home", "same.mjs")}; rename one of them`;
    expect(warnings).toEqual([
      `${places.toolFile("home", "twin.mjs")} is ignored: ${by}`,
      `${places.toolFile("cwd", "same.mjs")} is ignored: ${by}`,
    ]);
  });

  test("one that is broken is left out with the reason, and the others are there", async () => {
    user("broken", "export default {");
    user("fine");
    user("typed", "");
    places.write(places.toolFile("home", "old.js"), "");
    const { names, warnings } = await loaded(trustingUser);
    expect(names).toEqual(["fine"]);
    expect(warnings).toEqual([
      expect.stringMatching(/old\.js is not loaded: the name must end in \.mjs/),
      expect.stringMatching(/broken\.mjs is ignored: Unexpected end of input/),
      expect.stringMatching(/typed\.mjs is ignored: it has no default export/),
    ]);
  });
});

describe("what was loaded is known to be out of date", () => {
  const stamp = () => readContributionStamp({ cwd: places.cwd, env: places.env });

  test("when a file comes, changes or goes, and when trust is given", async () => {
    const stamps = [await stamp()];
    project("deploy");
    stamps.push(await stamp());
    project("deploy", `${module("deploy")}\n`);
    stamps.push(await stamp());
    await decide(places.toolFile("cwd", "deploy.mjs"), "trusted");
    stamps.push(await stamp());
    places.write(places.agentFile("home", "a.md"), "x");
    stamps.push(await stamp());
    expect(new Set(stamps).size).toBe(stamps.length);
    expect(await stamp()).toBe(stamps.at(-1));
    rmSync(places.agentFile("home", "a.md"));
    expect(await stamp()).toBe(stamps.at(-2));
  });
});
