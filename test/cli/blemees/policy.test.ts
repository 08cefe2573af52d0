// `sm policy` and `sm audit` as users run them, with the real daemon.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { SETTLED } from "../../../src/cli/requests.ts";
import { HttpClient, type RequestRow } from "../../../src/client/index.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { PATIENCE_MS, PATIENT } from "../../support/patience.ts";
import { BuiltProgram, type Ran } from "../built-program.ts";

let daemon: TestDaemon;
let http: HttpClient;
let program: BuiltProgram;
let session_id: string;
let rulesFile: string;
beforeAll(async () => {
  program = new BuiltProgram("sm");
  daemon = await startDaemon();
  http = new HttpClient({ socket: daemon.socket });
  rulesFile = join(daemon.home, "config/blemeesd/policy.toml");
  const cwd = join(daemon.home, "project");
  mkdirSync(cwd);
  const options = { cwd, approvals: true };
  ({
    session: { session_id },
  } = await http.spawn({ backend: "claude", prompt: "#say ready", ...options }));
});
afterAll(async () => {
  await daemon.close();
  program.remove();
});

const sm = (...args: string[]): Promise<Ran> =>
  program.run(daemon.socket, args, "", {
    XDG_CONFIG_HOME: join(daemon.home, "config"),
    XDG_STATE_HOME: join(daemon.home, "state"),
  });
const json = async (...args: string[]) => JSON.parse((await sm(...args, "--json")).stdout);

/** Sends a command that the agent asks about; the row when it is answered or shown. */
async function ask(command: string): Promise<RequestRow> {
  const known = new Set((await listRequests()).map(({ request_id }) => request_id));
  await http.input(session_id, { text: `#ask-tool Bash ${JSON.stringify({ command })}` });
  return vi.waitFor(async () => {
    const row = (await listRequests()).find(({ request_id }) => !known.has(request_id));
    if (row === undefined) throw new Error("not asked yet");
    return row;
  }, PATIENT);
}

const listRequests = () => http.allRequests({ ...SETTLED, session_id });

async function decline({ request_id }: RequestRow): Promise<void> {
  await http.respond(session_id, request_id, { decision: "decline" });
  await http.wait(session_id, { until: ["idle"], timeoutMs: PATIENCE_MS });
}

describe("sm policy", () => {
  test("adds, lists, uses and removes a rule", async () => {
    expect(await sm("policy", "list")).toEqual({
      code: 0,
      stdout: "",
      stderr: `No rules in ${rulesFile}\n`,
    });
    const added = await sm(
      "policy",
      "add",
      "allow",
      "--id",
      "show",
      "--max-uses",
      "2",
      "--",
      "git",
      "show",
      "<rev>",
    );
    expect(added).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/git show <rev>.*added show\n$/s),
    });
    const row = await ask("git show main..topic");
    expect(row).toMatchObject({
      rule_id: "show",
      resolution_source: "policy",
      answered_by: { actor: "daemon", via: "policy" },
      answer: { decision: "accept" },
    });
    expect((await sm("policy", "list")).stdout).toMatch(
      /^show +1 of 2 used +allow: the command git show <rev>/,
    );
    expect(await json("policy", "list")).toMatchObject({
      file: rulesFile,
      rules: [{ rule: { id: "show", max_uses: 2 }, state: "active", uses: 1 }],
    });
    expect(await sm("policy", "rm", "show")).toEqual({ code: 0, stdout: "removed show\n", stderr: "" });
    expect((await json("policy", "list")).rules).toEqual([]);
  });

  test("tests and explains a request, and makes a rule of it", async () => {
    const row = await ask("git log -n 5");
    await decline(row);
    const { request_id } = row;
    expect(await sm("policy", "test", request_id)).toMatchObject({
      code: 0,
      stdout: "ask: no rule matches\n",
    });
    const dry = await sm("policy", "add", "--from", request_id, "--dry-run");
    expect(dry.stdout).toMatch(
      /^deny: the command git log -n 5.*\nOf the last \d+ requests, it would have decided 1:/,
    );
    expect((await json("policy", "list")).rules).toEqual([]);
    const { rule } = await json("policy", "add", "--from", request_id, "--id", "made");
    expect(rule).toMatchObject({ id: "made", when: { argv: ["git", "log", "-n", "5"] } });
    await sm("policy", "add", "allow", "--id", "other", "--", "git", "status");
    const explained = await sm("policy", "explain", request_id);
    expect(explained.stdout).toMatch(
      /^deny: rule made\n +made +deny +matches\n +other +allow +does not match: ./,
    );
    expect(await json("policy", "test", request_id)).toMatchObject({
      decision: "deny",
      rule_id: "made",
      rules: [
        { rule_id: "made", matches: true },
        { rule_id: "other", matches: false },
      ],
    });
    for (const id of ["made", "other"]) await sm("policy", "rm", id);
  });

  test.each<[string, string[], number, RegExp]>([
    ["a shell", ["add", "allow", "--", "bash", "-c", "ls"], 1, /bash runs other programs or code/],
    ["an unknown hole", ["add", "deny", "--", "git", "<what>"], 1, /unknown hole <what>; known: <rev>/],
    ["no condition", ["add", "deny"], 1, /needs at least one condition/],
    ["every directory", ["add", "allow", "--paths-within", "/"], 1, /name a smaller one/],
    ["a bad id", ["add", "allow", "--id", "A b", "--", "ls"], 1, /expected 1-64 characters/],
    ["an id that exists", ["add", "deny", "--id", "kept", "--", "ls"], 1, /the rule kept exists/],
    ["an end that is no time", ["add", "deny", "--until", "soon", "--", "ls"], 1, /until/],
    ["no decision", ["add", "alow", "--", "ls"], 2, /allow/],
    ["no number", ["add", "deny", "--max-uses", "0", "--", "ls"], 2, /max-uses/],
    ["an unknown rule", ["rm", "nothing"], 1, /no rule nothing/],
    ["an unknown action", ["lst"], 2, /unknown action "lst".*list/],
    ["no request", ["test", "nothing"], 2, /"nothing" is not a request/],
  ])("%s is one error, and changes nothing", async (_what, args, code, message) => {
    if (!(await http.policy()).rules.some(({ rule }) => rule.id === "kept")) await http.addRule(KEPT);
    const before = readFileSync(rulesFile, "utf8");
    const ran = await sm("policy", ...args);
    expect(ran).toEqual({ code, stdout: "", stderr: expect.stringMatching(message) });
    expect(ran.stderr).toMatch(/^sm: [^\n]+\n(?:Try 'sm help policy'\.\n)?$/);
    expect(readFileSync(rulesFile, "utf8")).toBe(before);
  });

  test("an invalid file is shown with the last good rules, and is not changed", async () => {
    const before = readFileSync(rulesFile, "utf8");
    const broken = `${before}\n[[rules]]\nid = "x"\n`;
    writeFileSync(rulesFile, broken);
    const listed = await sm("policy", "list");
    expect(listed.stderr).toMatch(/policy\.toml: rule 2 \("x"\).*\n.*The last good rules apply/);
    expect(listed.stdout).toMatch(/^kept /);
    expect(await sm("policy", "rm", "kept")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/fix the file first, nothing was changed/),
    });
    expect(readFileSync(rulesFile, "utf8")).toBe(broken);
    writeFileSync(rulesFile, before);
    expect((await http.policy()).fault).toBeUndefined();
  });
});

// biome-ignore lint/suspicious/noThenProperty: the name in the rules file
const KEPT = { id: "kept", when: { argv: ["pwd"] }, then: "deny" };

describe("sm audit", () => {
  const pathOf = (name: string): string => join(daemon.home, "state/blemees", name);
  // It is written after a sync.
  beforeAll(() =>
    vi.waitFor(() => {
      const lines = readFileSync(pathOf("audit.ndjson"), "utf8").trimEnd().split("\n");
      expect(JSON.parse(readFileSync(pathOf("audit.head"), "utf8")).n).toBe(lines.length);
    }, PATIENT),
  );

  test("lists answers and changes of the rules, and verifies them", async () => {
    const { lines } = await json("audit", "list", "-n", "1000");
    const answers = lines.filter(({ kind }: { kind: string }) => kind === "answer");
    expect(answers).toMatchObject([
      { decision: "accept", source: "policy", rule_id: "show" },
      { decision: "decline", source: "http", answered_by: { actor: "person" } },
    ]);
    const { stdout, code } = await sm("audit");
    expect(code).toBe(0);
    expect(stdout).toMatch(/accept +rule show \(policy\) +req_/);
    expect(stdout).toMatch(/decline +person \(http\) +req_/);
    expect(stdout).toMatch(/policy add +person +show/);
    expect(stdout).toMatch(/policy remove +person +show/);
    const verified = `intact: ${lines.length} lines (1 to ${lines.length})\n`;
    expect(await sm("audit", "verify")).toEqual({ code: 0, stdout: verified, stderr: "" });
  });

  test.each<[string, (lines: string[]) => unknown, RegExp]>([
    [
      "a flipped bit",
      (lines) => lines.splice(2, 1, flipBit(lines[2])),
      /^line 3 \(.*audit\.ndjson:3\) was changed/,
    ],
    [
      "a dropped line",
      (lines) => lines.splice(2, 1),
      /^line 3 \(.*audit\.ndjson:3\) has the number 4 instead of 3/,
    ],
    [
      "two swapped lines",
      (lines) => lines.splice(2, 0, ...lines.splice(3, 1)),
      /^line 3 .* number 4 instead of 3/,
    ],
    ["a missing end", (lines) => lines.pop(), /^line \d+ .*missing at the end/],
  ])("%s is named by its line", async (_what, change, message) => {
    const file = pathOf("audit.ndjson");
    copyFileSync(file, `${file}.kept`);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    change(lines);
    writeFileSync(file, `${lines.join("\n")}\n`);
    const [text, report] = [await sm("audit", "verify"), await sm("audit", "verify", "--json")];
    copyFileSync(`${file}.kept`, file);
    expect(text).toEqual({ code: 1, stdout: expect.stringMatching(message), stderr: "" });
    expect(report.code).toBe(1);
    expect(JSON.parse(report.stdout).fault).toMatchObject({ file, n: expect.any(Number) });
    expect(await sm("audit", "verify")).toMatchObject({ code: 0 });
  });
});

/** In the middle of the line, where it stays text. */
function flipBit(line = ""): string {
  const at = line.indexOf('"kind":"') + 8;
  return line.slice(0, at) + String.fromCharCode(line.charCodeAt(at) ^ 1) + line.slice(at + 1);
}
