// Agents from files: what is wrong is refused with file, line and reason,
// and the rest loads.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Places } from "../config/places.ts";

let places: Places;
beforeEach(() => {
  places = new Places();
});
afterEach(() => places.remove());

const FINE = ["description: Reads.", "tools:", "  visible: [read_file, grep]"];

function markdown(lines: readonly string[], body = "You read."): string {
  return ["---", ...lines, "---", body, ""].join("\n");
}

function user(name: string, content: string | Buffer): void {
  places.write(places.agentFile("home", name), content);
}

function project(name: string, content: string | Buffer): void {
  places.write(places.agentFile("cwd", name), content);
}

describe("18: an agent file of the user", () => {
  const SPEC = markdown(
    [
      "name: reviewer",
      "description: Read-only code reviewer.",
      "mode: all",
      "provider:",
      "  profile: gemini",
      "tools:",
      "  visible: [read_file, grep, glob]",
      "permissions:",
      "  - { tool: read_file, decision: allow }",
      '  - { tool: "*", decision: deny, reason: "reviewer is read-only" }',
      "delegation:",
      "  callable: true",
      "  canDelegate: false",
      "catalog:",
      "  category: reviewer",
      "  cost: cheap",
      "  useWhen:",
      "    - Find bugs and risks without editing files.",
    ],
    "You are a read-only reviewer. Report concrete issues with file references.\nDo not modify files.",
  );

  test("the documented example loads unchanged", async () => {
    user("reviewer.md", SPEC);
    const { registry, warnings } = await places.everything();
    expect(warnings).toEqual([]);
    expect(registry.get("reviewer")).toMatchObject({
      mode: "all",
      provider: { profile: "gemini" },
      prompt: { system: expect.stringMatching(/^You are .*\nDo not modify files\.$/s) },
      tools: { visible: ["read_file", "grep", "glob"] },
      permissions: [{ decision: "allow" }, { decision: "deny", reason: "reviewer is read-only" }],
      delegation: { callable: true, canDelegate: false },
      catalog: { cost: "cheap" },
    });
    expect(registry.getSource("reviewer")).toEqual({
      scope: "user",
      path: places.agentFile("home", "reviewer.md"),
      trusted: true,
    });
  });

  test("the name may be left to the file, lines may end as on Windows, and a mark at the beginning is no matter", async () => {
    user("reader.md", `\ufeff${markdown(FINE, "You read.\n---\nAll of it.").replaceAll("\n", "\r\n")}`);
    const { registry, warnings } = await places.everything();
    expect(warnings).toEqual([]);
    expect(registry.get("reader").prompt.system).toBe("You read.\n---\nAll of it.");
  });

  test("prompt.append is taken, and so is delegate_agent among the tools", async () => {
    const lines = ["description: d", "prompt: { append: More. }", "tools: { visible: [delegate_agent] }"];
    user("lead.md", markdown(lines));
    const { registry, warnings } = await places.everything();
    expect(warnings).toEqual([]);
    expect(registry.get("lead")).toMatchObject({
      prompt: { system: "You read.", append: "More." },
      tools: { visible: ["delegate_agent"] },
    });
  });

  test("without any directory nothing is reported", async () => {
    expect(await places.everything()).toMatchObject({ agents: [], tools: [], warnings: [] });
  });
});

describe("18: a malformed agent file is refused with file, line and reason, and the rest loads", () => {
  const tools = "tools: { visible: [] }";
  const CORPUS: [string, string | Buffer, number | undefined, RegExp][] = [
    ["bad.md", "You read.\n", 1, /does not start with front matter/],
    ["bad.md", "", 1, /does not start with front matter/],
    ["bad.md", "\n---\nname: bad\n---\nx", 1, /does not start with front matter/],
    ["bad.md", "---\nname: bad\n", 1, /front matter is not closed/],
    ["bad.md", "---\n---\nx", 2, /front matter is empty/],
    ["bad.md", "---\n- a\n---\nx", 2, /a list or text/],
    ["bad.md", "---\njust a text\n---\nx", 2, /a list or text/],
    ["bad.md", markdown(FINE, "  \n"), 6, /no text below the front matter/],
    ["bad.md", markdown(["description: d", "tools: [x", "mode: all"]), 4, /unsupported or invalid YAML/],
    ["bad.md", markdown(["description: d", "\ttools: x"]), 3, /unsupported or invalid YAML/],
    ["bad.md", markdown(["description: a", tools, "description: b"]), 4, /Map keys must be unique/],
    ["bad.md", markdown([...FINE, "mode: !!js/function x"]), 5, /Unresolved tag/],
    ["bad.md", markdown([...FINE, "mode: !env HOME"]), 5, /Unresolved tag/],
    ["bad.md", markdown(["description: &d text", tools]), 2, /anchors and aliases are not supported/],
    ["bad.md", markdown([...FINE, "mode: *nothing"]), 5, /anchors and aliases|Aliased anchor/],
    ["bad.md", markdown([...FINE, "__proto__: { hidden: true }"]), 5, /"__proto__" is not allowed/],
    ["bad.md", markdown([...FINE, "catalog:", "  constructor: x"]), 6, /"constructor" is not allowed/],
    ["bad.md", markdown([...FINE, "? [a]", ": b"]), 5, /keys must be strings/],
    ["bad.md", markdown([...FINE, "...", "mode: all"]), 6, /second YAML document|invalid YAML/],
    ["bad.md", markdown(["name: other", ...FINE]), 2, /"name" is "other", but the file is bad\.md/],
    ["bad name.md", markdown(FINE), 1, /"bad name" is not a valid name/],
    ["bad.md", markdown([tools]), 1, /\/description: .*it is missing/],
    ["bad.md", markdown(["description: d"]), 1, /\/tools: .*it is missing/],
    ["bad.md", markdown(["description:", tools]), 2, /\/description: expected string, not null/],
    [
      "bad.md",
      markdown(["description: d", "tools:", "  visible: grep"]),
      4,
      /\/tools\/visible: expected array/,
    ],
    ["bad.md", markdown([...FINE, "mdoe: all"]), 5, /\/mdoe: unknown key; did you mean "mode"\?/],
    ["bad.md", markdown([...FINE, "mode: boss"]), 5, /\/mode: expected one of .*not "boss"/],
    [
      "bad.md",
      markdown([
        ...FINE,
        "permissions:",
        "  - { tool: grep, decision: ask }",
        "  - { tool: bash, decision: yes }",
      ]),
      7,
      /\/permissions\/1\/decision: expected one of .*not "yes"/,
    ],
    ["bad.md", markdown([...FINE, "prompt: hello"]), 5, /system prompt is the text below/],
    ["bad.md", markdown([...FINE, "prompt:", "  system: hello"]), 6, /system prompt is the text below/],
    [
      "bad.md",
      markdown(["description: d", "tools:", "  visible:", "    - grep", "    - gerp"]),
      6,
      /no tool "gerp"; did you mean "grep"\?/,
    ],
    [
      "bad.md",
      Buffer.concat([Buffer.from("---\n"), Buffer.from([0xff, 0xfe]), Buffer.from("\n---\nx")]),
      undefined,
      /is not UTF-8/,
    ],
    ["bad.md", markdown(FINE, "x".repeat(256 * 1024)), undefined, /is larger than 256 KiB/],
    ["bad.md", markdown([`description: ${"x".repeat(17_000)}`]), 2, /larger than 16 KiB/],
    ["bad.md", markdown([`x: ${"[".repeat(3000)}`]), 2, /more than 200 brackets/],
    ["bad.md", markdown(["- ".repeat(3000)]), 2, /nested too deeply/],
    ["bad.md", markdown(["? ".repeat(3000)]), 2, /nested too deeply/],
    ["bad.md", markdown([`${" ".repeat(3000)}a: 1`]), 2, /nested too deeply/],
  ];

  test.each(CORPUS.map(([name, content, line, reason]) => ({ name, content, line, reason })))(
    "$name, $line: $reason",
    async ({ name, content, line, reason }) => {
      user(name, content);
      user("fine.md", markdown(FINE));
      const { registry, warnings } = await places.everything();
      const path = places.agentFile("home", name);
      expect(warnings).toEqual([expect.stringMatching(reason)]);
      expect(warnings[0]).toContain(line === undefined ? path : `${path}:${line}: `);
      expect(warnings[0]).toContain("ignored");
      expect(registry.list().map(({ agent }) => agent.name)).toContain("fine");
      expect(registry.find("bad")).toBeUndefined();
    },
  );

  test("several faults of one file are reported together, each with its line", async () => {
    user("bad.md", markdown(["description: 5", "tools: { visible: [] }", "mode: boss", "extra: 1"]));
    const { warnings } = await places.everything();
    expect(warnings).toEqual([
      expect.stringMatching(/bad\.md:2: \/description.*line 4: \/mode.*line 5: \/extra/),
    ]);
  });

  test("the same corpus is refused for a project, too", async () => {
    for (const [at, [name, content]] of CORPUS.entries()) project(name.replace("bad", `x${at}`), content);
    project("fine.md", markdown(FINE));
    const { registry, agents } = await places.everything();
    expect(registry.list().filter(({ source }) => source.scope === "project")).toHaveLength(1);
    expect(agents.map(({ name }) => name)).toContain("fine");
  });
});

describe("18: names", () => {
  test("a built-in agent keeps its name", async () => {
    user("build.md", markdown(["name: build", ...FINE]));
    const { registry, warnings } = await places.everything();
    expect(registry.getSource("build")?.scope).toBe("builtin");
    expect(warnings).toEqual([
      `${places.agentFile("home", "build.md")}:2: the agent "build" is ignored: the name belongs to a built-in agent; choose another one`,
    ]);
  });

  test("config over the user's file over the project's config over its file, reported with both", async () => {
    const configured = { description: "of the config", prompt: { system: "s" }, tools: { visible: [] } };
    places.user({ agents: { one: configured } });
    places.project({ agents: { two: configured, three: configured } });
    for (const name of ["one", "two"]) user(`${name}.md`, markdown(FINE));
    for (const name of ["one", "two", "three"]) project(`${name}.md`, markdown(FINE));
    const { registry, warnings } = await places.everything();
    expect(["one", "two", "three"].map((name) => registry.getSource(name))).toEqual([
      expect.objectContaining({ scope: "user", path: places.userFile }),
      expect.objectContaining({ scope: "user", path: places.agentFile("home", "two.md") }),
      expect.objectContaining({ scope: "project", path: places.projectFile }),
    ]);
    const refused = (at: string, by: string) =>
      expect.stringMatching(new RegExp(`^${at}:? .*ignored: the name belongs to the agent of ${by}; rename`));
    expect(warnings.filter((text) => text.includes("is ignored"))).toEqual([
      refused(`${places.agentFile("home", "one.md")}:1`, places.userFile),
      refused(places.projectFile, places.agentFile("home", "two.md")),
      refused(`${places.agentFile("cwd", "one.md")}:1`, places.userFile),
      refused(`${places.agentFile("cwd", "three.md")}:1`, places.projectFile),
      refused(`${places.agentFile("cwd", "two.md")}:1`, places.agentFile("home", "two.md")),
    ]);
  });
});

describe("19: an agent file names a provider and never is one", () => {
  test.each([
    [["baseURL: https://evil.example/v1"], 5, /"baseURL" cannot be set by an agent/],
    [["apiKey: k"], 5, /"apiKey" cannot be set by an agent/],
    [["apiKeyEnv: AWS_SECRET_ACCESS_KEY"], 5, /"apiKeyEnv" cannot be set/],
    [["headers: { Authorization: x }"], 5, /"headers" cannot be set/],
    [["auth: { type: none }"], 5, /"auth" cannot be set/],
    [["model: gpt-9"], 5, /"model" cannot be set/],
    [["quirks: {}"], 5, /"quirks" cannot be set/],
    [
      ["provider:", "  profile: gemini", "  baseURL: https://evil.example"],
      7,
      /"provider\.baseURL" cannot be set/,
    ],
    [["provider:", "  model: m"], 6, /"provider\.model" cannot be set/],
    [["provider:", "  type: openai-compatible"], 6, /"provider\.type" cannot be set/],
  ])("%j is refused, with where it belongs", async (more, line, reason) => {
    user("bad.md", markdown([...FINE, ...more]));
    user("fine.md", markdown(FINE));
    const { registry, warnings } = await places.everything();
    expect(warnings).toEqual([expect.stringMatching(reason)]);
    expect(warnings[0]).toContain(`bad.md:${line}: `);
    expect(warnings[0]).toMatch(/belong in `providers` of the configuration/);
    expect([registry.find("bad"), registry.find("fine")?.name]).toEqual([undefined, "fine"]);
  });

  test("a profile that is not configured is refused, with the nearest", async () => {
    user("bad.md", markdown([...FINE, "provider:", "  profile: gemni"]));
    const { warnings } = await places.everything();
    expect(warnings).toEqual([
      `${places.agentFile("home", "bad.md")}:6: the agent "bad" is ignored: there is no provider "gemni"; did you mean "gemini"?`,
    ]);
  });

  test("a provider given as a string is reported with the right form", async () => {
    user("bad.md", markdown([...FINE, "provider: gemini"]));
    expect((await places.everything()).warnings).toEqual([
      expect.stringMatching(/bad\.md:5: write `provider: \{ profile: gemini \}`/),
    ]);
  });
});

describe("18: an agent file of a project", () => {
  test("is taken with a warning, is not trusted, and does not start without the user's consent", async () => {
    places.user({ delegation: { defaultInvocationDecision: "allow" } });
    project("docs.md", markdown([...FINE, "mode: all"]));
    const { registry, warnings } = await places.everything();
    expect(warnings).toEqual([
      expect.stringMatching(/\.demian\/agents contains agents whose prompts you did not write: docs$/),
    ]);
    expect(registry.get("docs").delegation).toEqual({ invocationDecision: "ask" });
    expect(registry.getSource("docs")).toMatchObject({ scope: "project", trusted: false });
  });

  test("may not allow anything or choose a provider; each is reported with its line", async () => {
    project(
      "docs.md",
      markdown([
        ...FINE,
        "permissions:",
        "  - { tool: bash, decision: allow }",
        "  - { tool: grep, decision: allow }",
        "  - { tool: bash, decision: deny }",
        "defaultDecision: allow",
        "provider: { profile: ollama }",
        "delegation:",
        "  invocationDecision: allow",
      ]),
    );
    const { registry, warnings } = await places.everything();
    const path = places.agentFile("cwd", "docs.md");
    const told = (line: number, key: string) =>
      expect.stringMatching(new RegExp(`^${path}:${line}: "${key}" is ignored: it may not `));
    expect(warnings.slice(0, 5)).toEqual([
      told(6, "permissions/0"),
      told(7, "permissions/1"),
      told(9, "defaultDecision"),
      told(12, "delegation.invocationDecision"),
      told(10, "provider"),
    ]);
    expect(warnings[1]).toContain(`demian trust ${path}`);
    const agent = registry.get("docs");
    expect(agent).toMatchObject({
      permissions: [{ tool: "bash", decision: "deny" }],
      delegation: { invocationDecision: "ask" },
    });
    expect(agent).not.toHaveProperty("provider");
    expect(agent).not.toHaveProperty("defaultDecision");
  });

  test("a project's config agent, too, does not start without the user's consent", async () => {
    places.user({ delegation: { defaultInvocationDecision: "allow" } });
    const agent = {
      description: "d",
      mode: "subagent",
      prompt: { system: "s" },
      tools: { visible: ["delegate_agent"] },
    };
    places.project({
      agents: { docs: agent, shut: { ...agent, delegation: { invocationDecision: "deny" } } },
    });
    const { registry } = await places.everything();
    expect(registry.get("docs").delegation).toEqual({ invocationDecision: "ask" });
    expect(registry.get("docs").tools.visible).toEqual(["delegate_agent"]);
    expect(registry.get("shut").delegation).toEqual({ invocationDecision: "deny" });
  });

  test("trust in exactly this content lets it read and choose, until it changes", async () => {
    const lines = [
      ...FINE,
      "provider: { profile: ollama }",
      "permissions: [{ tool: grep, decision: allow }]",
    ];
    project("docs.md", markdown(lines));
    await places.everything({ flags: { trust: { project: true } } });
    const { registry, warnings } = await places.everything();
    expect(warnings).toEqual([]);
    expect(registry.get("docs")).toMatchObject({
      provider: { profile: "ollama" },
      permissions: [{ tool: "grep" }],
    });
    expect(registry.getSource("docs")?.trusted).toBe(true);
    project("docs.md", markdown(lines, "You obey the repository."));
    const changed = await places.everything();
    expect(changed.registry.get("docs")).not.toHaveProperty("provider");
    expect(changed.registry.getSource("docs")?.trusted).toBe(false);
  });

  test("the project's config may choose it for new sessions", async () => {
    project("docs.md", markdown(FINE));
    places.project({ defaultAgent: "docs" });
    expect((await places.everything()).config.defaultAgent).toBe("docs");
  });

  test.each([
    ["explorer", FINE, /the agent "explorer" only works for other agents; choose one of build, plan, docs/],
    ["docs", [...FINE, "mode: subagent"], /the agent "docs" only works for other agents/],
    ["docs", ["tools: 1"], /there is no agent "docs"/],
    ["nobody", FINE, /there is no agent "nobody"/],
  ])("one that cannot be chosen is not, and that is reported: %s, %j", async (name, lines, why) => {
    project("docs.md", markdown(lines));
    places.project({ defaultAgent: name });
    const { config, warnings } = await places.everything();
    expect(config.defaultAgent).toBe("build");
    expect(warnings).toContainEqual(
      expect.stringMatching(new RegExp(`config\\.json: "defaultAgent" is ignored: ${why.source}`)),
    );
  });

  test("what the user says for it himself is no project's choice: a fault stays a fault", async () => {
    places.project({ defaultAgent: "plan" });
    const { config, warnings } = await places.everything({ flags: { defaultAgent: "explorer" } });
    expect(config.defaultAgent).toBe("explorer");
    expect(warnings).toEqual([]);
  });

  test("in the home directory it is the user's own", async () => {
    user("mine.md", markdown([...FINE, "defaultDecision: allow"]));
    const { registry, warnings } = await places.everything({ cwd: places.home });
    expect(warnings).toEqual([]);
    expect(registry.getSource("mine")).toMatchObject({ scope: "user", trusted: true });
    expect(registry.get("mine").defaultDecision).toBe("allow");
  });
});

describe("18: what a directory may hold", () => {
  const only = async (pattern: RegExp) => {
    const { registry, warnings } = await places.everything();
    expect(warnings).toEqual([expect.stringMatching(pattern)]);
    expect(registry.find("bad")).toBeUndefined();
  };

  test("a link out of the directory is refused, for a user and for a project", async () => {
    places.write(join(places.base, "secret.md"), markdown(FINE));
    mkdirSync(dirname(places.agentFile("home", "x")), { recursive: true });
    symlinkSync(join(places.base, "secret.md"), places.agentFile("home", "bad.md"));
    await only(/bad\.md is a symbolic link that leads outside its directory/);
    rmSync(places.agentFile("home", "bad.md"));
    mkdirSync(dirname(places.agentFile("cwd", "x")), { recursive: true });
    symlinkSync(join(places.base, "secret.md"), places.agentFile("cwd", "bad.md"));
    await only(/bad\.md is a symbolic link/);
  });

  test("a link in place of a project's directory is refused; the user may keep his elsewhere", async () => {
    places.write(join(places.base, "dotfiles", "fine.md"), markdown(FINE));
    mkdirSync(join(places.cwd, ".demian"));
    symlinkSync(join(places.base, "dotfiles"), join(places.cwd, ".demian", "agents"));
    await only(/agents is reached through a symbolic link/);
    rmSync(join(places.cwd, ".demian"), { recursive: true });
    mkdirSync(join(places.home, ".demian"));
    symlinkSync(join(places.base, "dotfiles"), join(places.home, ".demian", "agents"));
    const { registry, warnings } = await places.everything();
    expect([registry.find("fine")?.name, warnings]).toEqual(["fine", []]);
  });

  test("a directory, a pipe and a file that cannot be read are refused at once", async () => {
    mkdirSync(places.agentFile("cwd", "bad.md"), { recursive: true });
    await only(/bad\.md is not a regular file/);
    rmSync(places.agentFile("cwd", "bad.md"), { recursive: true });
    execFileSync("mkfifo", [places.agentFile("cwd", "bad.md")]);
    await only(/bad\.md is not a regular file/);
    rmSync(places.agentFile("cwd", "bad.md"));
    if (process.getuid?.() === 0) return;
    project("bad.md", markdown(FINE));
    chmodSync(places.agentFile("cwd", "bad.md"), 0);
    await only(/cannot read .*bad\.md/);
  });

  test("other files are not looked at, but a nearly right name is reported", async () => {
    user(".hidden.md", "x");
    user("notes.txt", "x");
    user("bad.markdown", "x");
    await only(/bad\.markdown is not loaded: the name must end in \.md/);
  });

  test("a world-writable file is reported", async () => {
    user("fine.md", markdown(FINE));
    chmodSync(places.agentFile("home", "fine.md"), 0o666);
    await only(/fine\.md is writable by everyone/);
  });
});
