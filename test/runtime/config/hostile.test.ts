// A cloned repository with a hostile config: names that a shell would execute, names that look like others, and too many
// faults to read. For trust see trust.test.ts.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readTrust } from "../../../src/runtime/config/trust.ts";
import { Places } from "./places.ts";

let places: Places;
beforeEach(() => {
  places = new Places();
});
afterEach(() => places.remove());

const markdown = (...lines: string[]) =>
  ["---", "description: d", "tools: { visible: [read_file] }", ...lines, "---", "You obey.", ""].join("\n");
const agent = (name: string, ...lines: string[]) =>
  places.write(places.agentFile("cwd", `${name}.md`), markdown(...lines));

describe("names", () => {
  test("the command that a warning suggests runs nothing but itself", async () => {
    places.write(places.toolFile("cwd", "x$(touch evil);touch evil2;.mjs"), "");
    const [warning = ""] = (await places.everything()).warnings;
    const [, told = ""] = /`demian (trust .*)`$/.exec(warning) ?? [];
    const given = execFileSync("sh", ["-c", `printf '%s|' ${told}`], {
      cwd: places.base,
      encoding: "utf8",
    });
    expect(given).toBe(`trust|${places.toolFile("cwd", "x$(touch evil);touch evil2;.mjs")}|`);
    expect(existsSync(join(places.base, "evil"))).toBe(false);
  });

  test.each(["Build", "PLAN", "Explorer"])("%s is not another name than the built-in one", async (name) => {
    agent(name);
    const { registry, warnings } = await places.everything();
    expect(registry.find(name)).toBeUndefined();
    expect(warnings).toContainEqual(
      expect.stringMatching(new RegExp(`"${name}" is ignored: the name belongs to a built-in agent`)),
    );
  });

  test("an agent of the user is not doubled by one that is written otherwise", async () => {
    places.user({ agents: { reviewer: mine() } });
    agent("Reviewer");
    const { registry, warnings } = await places.everything();
    expect(registry.find("Reviewer")).toBeUndefined();
    expect(warnings).toContainEqual(expect.stringMatching(/the name belongs to the agent of .*config\.json/));
  });
});

const mine = () => ({ description: "d", prompt: { system: "s" }, tools: { visible: [] } });

describe("where it thinks", () => {
  test.each([["provider: { profile: openai }"], ["provider: { inheritRoot: false }"]])(
    "%s does not lead away from what was chosen for the session, not even to the default",
    async (line) => {
      agent("docs", line);
      const { registry } = await places.everything();
      expect(registry.get("docs")).not.toHaveProperty("provider");
    },
  );
});

describe("many faults", () => {
  test("of one config are reported as a few, and hide nothing else", async () => {
    const permissions = Array.from({ length: 5000 }, () => ({ tool: "bash", decision: "allow" }));
    places.project({ permissions, transcript: { enabled: false }, agents: { docs: mine() } });
    const { warnings } = await places.load();
    expect(warnings).toHaveLength(8);
    expect(warnings).toContainEqual(expect.stringMatching(/turns transcripts off/));
    expect(warnings).toContainEqual(expect.stringMatching(/prompts you did not write: docs/));
    expect(warnings.at(-1)).toMatch(/config\.json: and 4995 more like this$/);
  });

  test("an absurd number of agents is refused, and named as a few", async () => {
    const agents = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`a${at}`, mine()]));
    places.project({ agents });
    const { config, warnings } = await places.load();
    expect(Object.keys(config.agents)).toHaveLength(100);
    expect(warnings).toEqual([
      `${places.projectFile} contains 300 agents; only the first 100 are used`,
      expect.stringMatching(/did not write: a0, a1, .*, a19 and 80 more$/),
    ]);
  });

  test("of one agent, and of files with a wrong ending, too", async () => {
    const rules = Array.from({ length: 90 }, () => "  - { tool: bash, decision: allow }");
    agent("docs", "permissions:", ...rules);
    for (let at = 0; at < 500; at += 1) places.write(places.toolFile("cwd", `t${at}.js`), "");
    const { warnings } = await places.everything();
    expect(warnings.filter((warning) => warning.includes("may not allow anything"))).toHaveLength(5);
    expect(warnings.filter((warning) => warning.includes("must end in .mjs"))).toHaveLength(5);
    expect(warnings).toHaveLength(13);
  });

  test("that end the start are not all explained, which would take minutes", async () => {
    places.project({ permissions: Array.from({ length: 30_000 }, () => ({ x: 1 })) });
    await expect(places.load()).rejects.toThrow(/permissions\/0\/tool[\s\S]*config\.json: and 89995 more$/);
  });

  test("what a parser quotes of a file is short", async () => {
    places.write(places.agentFile("cwd", "bad.md"), `---\na: ${"!".repeat(16_000)}\n---\nx\n`);
    const { warnings } = await places.everything();
    expect(warnings[0]).toMatch(/bad\.md:2: unsupported or invalid YAML/);
    expect(warnings[0]?.length).toBeLessThan(600);
  });
});

describe("records of trust", () => {
  test("where it cannot be kept, --trust-project counts for now, and says so", async () => {
    places.project({ hooks: [{ name: "x", event: "Stop", command: "true" }] });
    const env = { ...places.env, XDG_STATE_HOME: "/dev/null" };
    const { config, warnings } = await places.load({ env, flags: { trust: { project: true } } });
    expect(config.hooks).toHaveLength(1);
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /config\.json is trusted for this run only: trust cannot be saved: .*set XDG_STATE_HOME/,
      ),
    );
  });

  test("an invalid record is reported, and not treated as empty", async () => {
    const directory = join(places.base, "state", "demian");
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, "trust.json"), '{"version":2,"records":{}}', { mode: 0o600 });
    expect(await readTrust(directory)).toMatchObject({
      records: [],
      warning: expect.stringMatching(/trust\.json cannot be read.*not a trust record; delete it/),
    });
  });
});
