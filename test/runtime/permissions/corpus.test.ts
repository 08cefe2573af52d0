// A permission allows exactly what the user allowed. The attacks are run as well: those are real.
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { evaluate } from "../../../src/runtime/permissions/evaluate.ts";
import { listWritableDirs, resolveCommand } from "../../../src/runtime/permissions/grantable.ts";
import type { Grant, PermissionRule, Verdict } from "../../../src/runtime/permissions/types.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { ATTACKS } from "./attacks.ts";

const base = tempDir("corpus");
const workspace = join(base, "workspace");
const BIN = "/usr/local/bin:/usr/bin:/bin";
const EVIL = "#!/bin/sh\n/usr/bin/touch MARK\n";

/** Rules with the exact commands that the corpus attacks, more than any user would allow. */
const GRANTED = [
  ["npm", "test"],
  ["npm", "run", "build"],
  ["git", "status"],
  ["git", "diff"],
  ["git", "log"],
  ["ls"],
  ["ls", "-la"],
  ["cat", "a.txt"],
  ["grep", "x", "a.txt"],
  ["rg", "x"],
  ["find", "."],
  ["sed", "-n", "1p", "a.txt"],
  ["echo", "hi"],
  ["make"],
  ["make", "test"],
  ["sort", "a.txt"],
  ["env"],
  ["bash"],
  ["sh", "run.sh"],
  ["python3", "x.py"],
  ["node", "x.js"],
  ["tar", "cf", "x.tar", "a.txt"],
  ["cat", "café.txt"],
];
const PREFIXES = [
  ...[
    "npm test",
    "git status",
    "git diff",
    "git log",
    "git",
    "ls",
    "cat",
    "grep",
    "rg",
    "find",
    "sed",
    "echo",
  ],
  ...[
    "head",
    "tail",
    "wc",
    "sort",
    "uniq",
    "tar",
    "xxd",
    "date",
    "file",
    "tree",
    "python3 -m pytest",
    "node --test",
  ],
];
const RULES: PermissionRule[] = PREFIXES.map((commandPrefix) => ({
  tool: "bash",
  match: { commandPrefix },
  decision: "allow",
}));
/** The legitimate use of a rule with these first words. */
const SAID_BY_RULE = new Set(["git status src", "npm test evil"]);

let granted: Grant[] = [];

beforeAll(() => {
  granted = GRANTED.map(grant);
  mkdirSync(join(workspace, "bin"), { recursive: true });
  for (const folder of ["sub", "evilmake", "eviltemplate/hooks"])
    mkdirSync(join(workspace, folder), { recursive: true });
  const files: Record<string, string> = {
    "a.txt": "hello x\n",
    "b.txt": "other\n",
    "marks.txt": "MARK\n",
    "evil.awk": 'BEGIN { system("touch MARK") }\n',
    "evil.sed": "w MARK\n",
    "evil.pl": 'system("touch MARK");\n',
    "evil.pm": 'system("touch MARK"); 1;\n',
    "evil.py": 'open("MARK", "w")\n',
    "evil.cjs": 'require("fs").writeFileSync("MARK", "");\n',
    "evil.mk": "all:\n\ttouch MARK\n",
    "evilmake/Makefile": "all:\n\ttouch ../MARK\n",
    Makefile: "test:\n\techo fine\n",
    "package.json": '{ "scripts": { "test": "true" } }\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
  for (const name of ["evil.sh", "bin/ls", "bin/git-evil", "eviltemplate/hooks/post-commit"]) {
    writeFileSync(join(workspace, name), name.startsWith("evilt") ? "#!/bin/sh\ntouch ../MARK\n" : EVIL);
    chmodSync(join(workspace, name), 0o755);
  }
  const sh = (command: string) =>
    execFileSync("bash", ["-c", command], { cwd: workspace, env: environment(), stdio: "ignore" });
  sh(
    "tar cf a.tar a.txt && git init -q --template= . && git add . && git commit -qm one && echo hello again >> a.txt && git commit -qam two && echo hello more >> a.txt",
  );
});

function environment(): Record<string, string> {
  const identity = {
    GIT_AUTHOR_NAME: "t",
    GIT_AUTHOR_EMAIL: "t@t",
    GIT_COMMITTER_NAME: "t",
    GIT_COMMITTER_EMAIL: "t@t",
  };
  return {
    PATH: BIN,
    HOME: join(base, "home"),
    EVIL_ALIAS: "!touch MARK",
    GIT_CONFIG_NOSYSTEM: "1",
    ...identity,
  };
}

interface Situation {
  cwd?: string;
  path?: string;
  isSandboxed?: boolean;
  rules?: PermissionRule[];
  grants?: Grant[];
}

async function judge(command: string, situation: Situation = {}): Promise<Verdict> {
  const cwd = situation.cwd ?? workspace;
  const writable = await listWritableDirs(workspace, "/tmp");
  const context = { cwd, writable, path: situation.path ?? BIN, isSandboxed: situation.isSandboxed ?? true };
  const resolved = await resolveCommand(command, context);
  const target = { kind: "command" as const, command, cwd, ...(resolved === undefined ? {} : { resolved }) };
  return evaluate(
    { tool: "bash", targets: [target] },
    {
      globalRules: situation.rules ?? [],
      agentRules: [{ tool: "bash", decision: "ask" }],
      grants: situation.grants ?? granted,
      nowMs: 1,
    },
  );
}

/** As the store would hold it, for the program that is really there. */
function grant(argv: readonly string[]): Grant {
  const which = spawnSync("bash", ["-c", 'realpath "$(PATH=$1 type -P "$2")"', "x", BIN, argv[0] ?? ""], {
    encoding: "utf8",
  });
  const executable = which.stdout.trim() || "/usr/bin/missing";
  return {
    key: { kind: "command", argv, executable, cwd: workspace },
    scope: "project",
    grantedAtMs: 0,
    expiresAtMs: 10,
  };
}

describe("attacks on what was allowed", () => {
  test("the corpus is large, and no attack is in it twice", () => {
    expect(ATTACKS.length).toBeGreaterThanOrEqual(150);
    expect(new Set(ATTACKS.map(({ command }) => command)).size).toBe(ATTACKS.length);
  });

  test("no attack is allowed by a grant", async () => {
    const allowed = await allowedOf({});
    expect(allowed).toEqual([]);
  });

  test("no attack is allowed by rules with commandPrefix, nor together with grants", async () => {
    const allowed = await allowedOf({ rules: RULES });
    expect(allowed.filter((command) => !SAID_BY_RULE.has(command))).toEqual([]);
  });

  test("the attacks are real: run in a shell, they make their mark", async () => {
    const proven = ATTACKS.filter(({ unproven }) => unproven !== true).map(({ command }) => command);
    expect(await markless(proven)).toEqual([]);
    expect(proven.length).toBeGreaterThanOrEqual(120);
  }, 60_000);
});

async function allowedOf(situation: Situation): Promise<string[]> {
  const verdicts = await Promise.all(ATTACKS.map(({ command }) => judge(command, situation)));
  return ATTACKS.filter((_, index) => verdicts[index]?.decision === "allow").map(({ command }) => command);
}

/** One shell for all of them, which starts one for each. Only git changes what the next attack needs. */
const PROVE = `
cd "$1" && shift
for command; do
  case $command in *git*) rm -rf copy;; esac
  [ -d copy ] || cp -R workspace copy
  rm -f copy/MARK
  (cd copy && exec timeout 10 bash -c "$command") </dev/null >/dev/null 2>&1
  [ -e copy/MARK ] || printf '%s\\0' "$command"
done
`;

async function markless(commands: readonly string[]): Promise<string[]> {
  const run = (part: readonly string[]) => {
    const folder = tempDir("corpus-part");
    cpSync(workspace, join(folder, "workspace"), { recursive: true });
    return promisify(execFile)("bash", ["-c", PROVE, "prove", folder, ...part], { env: environment() });
  };
  const half = Math.ceil(commands.length / 2);
  const parts = await Promise.all([commands.slice(0, half), commands.slice(half)].map(run));
  return parts.flatMap(({ stdout }) => stdout.split("\0").filter((command) => command !== ""));
}

describe("what was allowed", () => {
  const exact = [
    ...[
      "npm test",
      "npm run build",
      "git status",
      "git diff",
      "git log",
      "ls",
      "ls -la",
      "cat a.txt",
      "grep x a.txt",
    ],
    ...[
      "find .",
      "sed -n 1p a.txt",
      "echo hi",
      "make",
      "make test",
      "sort a.txt",
      "'ls'",
      "grep \"x\" 'a.txt'",
      " ls  -la ",
    ],
    "cat 'café.txt'",
  ];
  test.each(exact)("`%s` is allowed by the grant for exactly this", async (command) => {
    expect(await judge(command)).toEqual({ decision: "allow", by: "grant" });
  });

  test.each([
    "ls src",
    "grep -n x a.txt",
    "git diff --stat HEAD",
    "git log --oneline -n 5",
    "head -n 5 a.txt",
    "npm test",
  ])("`%s` is allowed by a rule with the words that it begins with", async (command) => {
    expect(await judge(command, { rules: RULES, grants: [] })).toMatchObject({
      decision: "allow",
      by: "rule",
    });
  });

  test("interpreters, wrappers and shells are not allowed even by a grant for exactly this", async () => {
    for (const command of ["env", "bash", "sh run.sh", "python3 x.py", "node x.js"]) {
      expect(await judge(command)).toMatchObject({ decision: "ask" });
    }
  });

  test("without a sandbox only what reads is allowed: what `npm test` does is in files of the agent", async () => {
    for (const command of ["npm test", "make", "git status", "find ."]) {
      expect(await judge(command, { isSandboxed: false })).toMatchObject({ decision: "ask" });
    }
    expect(await judge("ls", { isSandboxed: false })).toMatchObject({ decision: "allow" });
  });

  test("the same command in another directory is asked about", async () => {
    expect(await judge("ls", { cwd: join(workspace, "sub") })).toMatchObject({ decision: "ask" });
  });

  test("an expired grant is asked", async () => {
    const old = granted.map((one) => ({ ...one, expiresAtMs: 1 }));
    expect(await judge("ls", { grants: old })).toMatchObject({ decision: "ask" });
  });
});

describe("the program that would run", () => {
  const planted = join(base, "planted");
  const bin = (name: string) => join(planted, name);
  beforeAll(() => {
    mkdirSync(join(planted, "link"), { recursive: true });
    mkdirSync(join(planted, "dir", "ls"), { recursive: true });
    symlinkSync(join(workspace, "bin", "ls"), join(planted, "link", "ls"));
  });

  test.each([
    ["one in the workspace comes first", () => `${workspace}/bin:${BIN}`],
    ["a link that leads into the workspace comes first", () => `${bin("link")}:${BIN}`],
    ["PATH has the current directory", () => `.:${BIN}`],
    ["PATH has an empty entry, which is the current directory", () => `:${BIN}`],
    ["PATH ends with an empty entry", () => `${BIN}:`],
    ["PATH has a relative directory", () => `bin:${BIN}`],
    ["PATH is empty", () => ""],
    ["none is there", () => "/nowhere"],
  ])("is not certain when %s", async (_name, path) => {
    expect(await judge("ls", { path: path(), rules: RULES })).toMatchObject({ decision: "ask" });
  });

  test("a directory of that name is passed over, as the shell does", async () => {
    expect(await judge("ls", { path: `${bin("dir")}:${BIN}` })).toMatchObject({ decision: "allow" });
  });

  test("a grant for another program of the same name does not count", async () => {
    const other = granted.map(
      (one) => ({ ...one, key: { ...one.key, executable: "/opt/other/ls" } }) as Grant,
    );
    expect(await judge("ls", { grants: other })).toMatchObject({ decision: "ask" });
  });

  test("in a directory for temporary files any user could have put it there", async () => {
    const writable = await listWritableDirs(workspace, base);
    mkdirSync(join(base, "tools"), { recursive: true });
    cpSync(join(workspace, "bin", "ls"), join(base, "tools", "ls"));
    const context = { cwd: workspace, path: join(base, "tools"), isSandboxed: true };
    expect(await resolveCommand("ls", { ...context, writable })).toBeUndefined();
    expect(await resolveCommand("ls", { ...context, writable: [workspace] })).toMatchObject({ argv: ["ls"] });
  });
});
