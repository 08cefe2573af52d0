// A request as the card of a session's screen at 80×24: the decision first, the choices once, the rest folded. The
// requests are made by the backends' own code from what the agents send.
import { describe, expect, test } from "vitest";
import { describePermission } from "../../../src/backends/acp/permissions.ts";
import type { Tool } from "../../../src/backends/acp/state.ts";
import { toClaudeAsk } from "../../../src/backends/claude/requests.ts";
import { toAsk } from "../../../src/backends/codex/app-server/requests.ts";
import { createState } from "../../../src/backends/codex/app-server/state.ts";
import { translate } from "../../../src/backends/codex/app-server/translate.ts";
import type { RequestRow, SessionView } from "../../../src/client/view/types.ts";
import { drawRequest } from "../../../src/tui/rows/index.ts";
import { aView } from "../../client/session-views.ts";
import { keys, liveView, Player, textEntry } from "../support/ui.ts";

type Ask = Pick<RequestRow, "request_type" | "payload">;

const CWD = "/home/user/project";
const FILE = `${CWD}/src/server/config.ts`;
const BEFORE = "const port = 8080;";
const AFTER = "const port = 8081;";
const around = (line: string): string =>
  [...["a", "b", "c", "d"].map((name) => `import ${name};`), line, "one();", "two();", "three();"].join("\n");

function claude(tool_name: string, input: object, ...permission_suggestions: object[]): Ask {
  const place = {
    cwd: CWD,
    configDir: "/home/user/.claude",
    settings: {
      userSettings: "/home/user/.claude/settings.json",
      projectSettings: `${CWD}/.claude/settings.json`,
      localSettings: `${CWD}/.claude/settings.local.json`,
    },
    disk: { exists: () => true, readText: () => undefined },
  };
  const body = { subtype: "can_use_tool", tool_name, input, tool_use_id: "t1", permission_suggestions };
  const found = toClaudeAsk({ request_id: "r1", body }, place);
  if (found === undefined) throw new Error("nothing was asked");
  return found.ask;
}

function codex(method: string, params: object, item: object = {}): Ask {
  const state = createState({ threadId: "root", options: {}, codexHome: "/home/user/.codex" });
  const about = { threadId: "root", turnId: "t", item: { id: "i", ...item } };
  translate(state, { method: "item/started", params: about });
  const asked = toAsk(state, {
    id: 0,
    method,
    params: { threadId: "root", turnId: "t", itemId: "i", ...params },
  });
  if (!("payload" in asked)) throw new Error("not asked");
  return asked;
}

function acp(tool: Partial<Tool>): Ask {
  const params = {
    options: [
      { kind: "allow_once", name: "Allow", optionId: "a" },
      { kind: "allow_always", name: "Always allow", optionId: "b" },
      { kind: "reject_once", name: "Reject", optionId: "c" },
    ],
  };
  const whole = { id: "t", locations: [], content: [], ...tool } as unknown as Tool;
  return describePermission(whole, params, { cwd: CWD, acceptsReasons: true });
}

const MODE = { type: "setMode", mode: "acceptEdits", destination: "session" };
const RULE = {
  type: "addRules",
  rules: [{ toolName: "Bash", ruleContent: "mkdir -p *" }],
  behavior: "allow",
  destination: "localSettings",
};
const EDITS: Readonly<Record<string, Ask>> = {
  "Claude's Edit": claude(
    "Edit",
    { file_path: FILE, old_string: around(BEFORE), new_string: around(AFTER), replace_all: false },
    MODE,
  ),
  "Codex's file change": codex(
    "item/fileChange/requestApproval",
    { reason: "the port is taken" },
    {
      type: "fileChange",
      changes: [
        {
          path: FILE,
          kind: { type: "update" },
          diff: `@@ -2,7 +2,7 @@\n import b;\n import c;\n import d;\n-${BEFORE}\n+${AFTER}\n one();\n two();\n three();\n`,
        },
      ],
    },
  ),
  "an ACP diff": acp({
    name: "edit",
    kind: "edit",
    title: "Edit config.ts",
    locations: [FILE],
    input: { filePath: FILE, oldString: BEFORE, newString: AFTER },
    content: [{ type: "diff", path: FILE, oldText: around(BEFORE), newText: around(AFTER) }],
  } as unknown as Partial<Tool>),
};

const ROW = {
  request_id: "req_5a01f0d83f6c4a539d0e6b1f2c7e8a90",
  session_id: "s1",
  backend: "agent",
  status: "pending",
  shown_hash: "hash-1",
  requested_at_ms: 1,
  generation: "g1",
} as const;

function shown({ request_type, payload }: Ask, size = { columns: 80, rows: 24 }): Player {
  const row: RequestRow = { ...ROW, request_type, payload };
  const entries = Array.from({ length: 40 }, (_, at) => textEntry(`e${at}`));
  return new Player({ view: liveView({ requests: [row], entries }), size }).press(...keys("ctrl-n"));
}

/** The rows below the rule that names the mode. */
function card(player: Player): string[] {
  const { rows } = player.frame();
  return rows.slice(rows.findIndex((row) => row.startsWith("─ "))).map((row) => row.trimEnd());
}

describe("a one-line edit fits 80×24 with its choices", () => {
  test.each(Object.entries(EDITS))("%s", (_, ask) => {
    const player = shown(ask);
    const screen = player.screen();
    expect(player.frame().rows.length).toBeLessThanOrEqual(24);
    expect(player.frame().requestScroll).toBe(0);
    expect(screen).toContain("? agent asks to edit a file:\n");
    expect(screen).toContain(`  edit │ ${FILE}\n`);
    expect(screen).toContain(`  │ -${BEFORE}\n  │ +${AFTER}\n`);
    for (const label of ["Accept once\n", "Accept for this session", "Decline", "Decline and stop the turn"])
      expect(screen.split(label)).toHaveLength(label === "Decline" ? 3 : 2);
    for (const folded of ["req_5a01", "hash-1", "{", "options", "Always allow", "permission_suggestions"])
      expect(screen).not.toContain(folded);
    expect(player.press(...keys("y")).effects).toMatchObject([
      { kind: "respond", answer: { decision: "accept" } },
    ]);
  });
});

test("a command: what, where and why, then each choice once with what it remembers and writes", () => {
  const player = shown(claude("Bash", { command: "mkdir -p build", description: "Make room" }, RULE));
  expect(player.frame().requestScroll).toBe(0);
  expect(card(player)).toEqual([
    "─ approval · request 1 of 1 ────────────────────────────────────────────────────",
    "? agent asks to run a command:",
    "  │ mkdir -p build",
    "  shell started in │ /home/user/project",
    "  reason │ Make room",
    "  1 y Accept once",
    "  2 s Accept for this session │ allow Bash(mkdir -p build)",
    "  3 a Accept always │ allow Bash(mkdir -p build)",
    "        writes │ /home/user/project/.claude/settings.local.json",
    "        │ permissions.allow += Bash(mkdir -p build)",
    "  4   Accept for this session │ allow Bash(mkdir -p *)",
    "  5   Accept always │ allow Bash(mkdir -p *)",
    "        writes │ /home/user/project/.claude/settings.local.json",
    "        │ permissions.allow += Bash(mkdir -p *)",
    "> 6 n Decline",
    "  7 c Decline and stop the turn",
    "Enter take > · d details · Esc back to chat · PgUp/PgDn scroll",
  ]);
});

test("says who asks: the session, its agent and its project", () => {
  const worktree = { name: "w", path: "/w", branch: "b", repository: "/home/user/shop" };
  const asked = (session: Partial<SessionView>): string | undefined =>
    shown(claude("Bash", { command: "ls" }))
      .view({ session: aView(session) })
      .screen()
      .split("\n")
      .find((row) => row.startsWith("? ") && row.includes(" asks "));
  expect(asked({ name: "fixer", cwd: CWD })).toBe("? fixer (agent) in project asks to run a command:");
  expect(asked({ title: "Fix it", cwd: "/w", worktree })).toBe(
    "? Fix it (agent) in shop asks to run a command:",
  );
  expect(asked({ name: "a\u202eb" })).toBe("? a<U+202E>b (agent) asks to run a command:");
});

test("the words that differ are marked, in another way than hidden characters", () => {
  const ask = claude("Edit", { file_path: FILE, old_string: BEFORE, new_string: "const port = 8081;\u202e" });
  const theme = { hasColor: true };
  const plain = EDITS["an ACP diff"] as Ask;
  const rows = (one: Ask) => drawRequest({ ...ROW, ...one }, 80, theme).map(({ ansi }) => ansi);
  expect(rows(plain)).toContain(
    "\u001b[2m  │ \u001b[0m\u001b[31m-const port = \u001b[0m\u001b[31;1;4m8080\u001b[0m\u001b[31m;\u001b[0m",
  );
  expect(rows(ask).join("\n")).not.toContain("31;1;4m");
});

test("a wider choice without a rule of its own says how long it lasts", () => {
  const ask = claude("Bash", { command: "ls" });
  const choices = [
    { decision: "accept" },
    { decision: "acceptForSession" },
    { decision: "decline" },
  ] as const;
  const screen = shown({ ...ask, payload: { ...ask.payload, choices: [...choices] } }).screen();
  expect(screen).toContain("  2 s Accept for this session: do not ask again until the agent ends\n");
});

test("a number marks its choice, and only Enter takes it", () => {
  const ask = claude("Bash", { command: "mkdir -p build" }, RULE);
  const player = shown(ask).press(...keys("4"));
  expect(player.effects).toEqual([]);
  expect(player.screen()).toContain("> 4   Accept for this session │ allow Bash(mkdir -p *)");
  player.press(...keys("enter"));
  expect(player.effects).toMatchObject([{ answer: { decision: "acceptForSession", option: "rules" } }]);
  // A number without a choice is not an answer either.
  const other = shown(ask).press(...keys("9", "enter", "enter"));
  expect(other.effects).toMatchObject([{ answer: { decision: "decline" } }]);
});

test("a question: its text and options once", () => {
  const questions = [
    { question: "Which color?", header: "Color", options: [{ label: "Red" }, { label: "Blue" }] },
  ];
  const lines = card(shown(claude("AskUserQuestion", { questions })));
  expect(lines.slice(1, 6)).toEqual([
    "? agent asks a question:",
    "question · Color",
    "Which color?",
    "> 1 Red",
    "  2 Blue",
  ]);
});

test("a plan: all of it, and where it is written", () => {
  const player = shown(claude("ExitPlanMode", { plan: "# Plan\n1. Do it", planFilePath: "/p/x.md" }));
  expect(player.frame().requestScroll).toBe(0);
  expect(card(player).slice(1, 6)).toEqual([
    "? agent asks to carry out a plan:",
    "  │ # Plan",
    "  │ 1. Do it",
    "  input │ planFilePath: /p/x.md",
    "  1 y Accept once, writes the plan to │ /p/x.md",
  ]);
});

test("the title is left out only where it repeats what is shown", () => {
  const command = { command: "curl h.example", cwd: "/w" };
  const plain = shown(codex("item/commandExecution/requestApproval", command)).screen();
  expect(plain).not.toContain("shell: ");
  const asks = { ...command, networkApprovalContext: { host: "h.example", protocol: "https" } };
  const network = shown(codex("item/commandExecution/requestApproval", asks)).screen();
  expect(network).toContain("  │ network access to h.example: curl h.example\n");
  const stdin = { ...command, kind: "writeStdin" };
  expect(shown(codex("item/commandExecution/requestApproval", stdin)).screen()).toContain(
    "  │ input to a running command: curl h.example\n",
  );
});

test("what is granted besides the command is not folded", () => {
  const additionalPermissions = { fileSystem: { write: ["/etc"] } };
  const params = { command: "make", cwd: "/w", additionalPermissions };
  const screen = shown(codex("item/commandExecution/requestApproval", params)).screen();
  expect(screen).toContain('  input │ additionalPermissions: {"fileSystem":{"write":["/etc"]}}\n');
});

describe("details", () => {
  const ask = claude("Bash", { command: "mkdir -p build", run_in_background: true }, RULE);

  test("d shows ids, hash and everything the agent sent, and hides them again", () => {
    const player = shown(ask, { columns: 80, rows: 200 });
    expect(player.screen()).not.toContain("req_5a01");
    expect(player.screen()).toContain("  input │ run_in_background: true\n");
    player.press(...keys("d"));
    for (const part of ["req_5a01f0d83f6c4a539d0e6b1f2c7e8a90", "hash-1", '"permission_suggestions"'])
      expect(player.screen()).toContain(part);
    expect(player.screen()).toContain("approval · request 1 of 1 · details");
    expect(player.press(...keys("d")).screen()).not.toContain("req_5a01");
    expect(player.effects).toEqual([]);
  });

  test("at 80×24 all rows of them can be read, with the choices in sight", () => {
    const player = shown(ask).press(...keys("d"));
    let seen = "";
    for (let count = 0; count < 40; count++) {
      seen += player.screen();
      expect(player.screen()).toContain("> 6 n Decline");
      player.press(...keys("pagedown"));
    }
    for (const line of JSON.stringify(ask.payload, undefined, 2).split("\n")) expect(seen).toContain(line);
  });

  test("Ctrl-O shows those of a question", () => {
    const questions = [{ question: "Which?", options: [{ label: "Red" }] }];
    const player = shown(claude("AskUserQuestion", { questions }), { columns: 80, rows: 60 });
    expect(player.press(...keys("ctrl-o")).screen()).toContain('"title": "Question: Which?"');
  });
});

test("a long diff keeps the choices in sight and says how many rows are left", () => {
  const lines = Array.from({ length: 400 }, (_, at) => `line ${at};`);
  const content = lines.join("\n");
  const player = shown(claude("Write", { file_path: FILE, content }));
  expect(player.screen()).toMatch(/ {2}… \d{3} more rows: PgDn\n {2}1 y Accept once\n/);
  let seen = "";
  for (let count = 0; count < 60; count++) {
    seen += player.screen();
    player.press(...keys("pagedown"));
  }
  for (const line of lines) expect(seen).toContain(`  │ +${line}\n`);
  expect(player.screen()).toContain("  end; PgUp scrolls back\n");
});

test("what choices remember is never cut without being readable above", () => {
  const rules = Array.from({ length: 30 }, (_, at) => ({ toolName: "Bash", ruleContent: `cmd-${at} *` }));
  const ask = claude("Bash", { command: "ls" }, { ...RULE, rules, destination: "session" });
  const player = shown(ask);
  let seen = "";
  for (let count = 0; count < 20; count++) {
    seen += player.screen();
    player.press(...keys("pagedown"));
  }
  for (const { ruleContent } of rules) expect(seen).toContain(`  │ allow Bash(${ruleContent})\n`);
  expect(player.press(...keys("y")).effects).toHaveLength(1);
});

describe("unchanged lines of a diff", () => {
  test("are left out with their number, and are in the details", () => {
    const old = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const input = (last: string) => [...old, last].join("\n");
    const ask = claude("Edit", { file_path: FILE, old_string: input("a"), new_string: input("b") });
    const player = shown(ask, { columns: 80, rows: 100 });
    expect(player.screen()).toContain(
      "  (18 unchanged lines; see Details)\n  │  line 18\n  │  line 19\n  │ -a\n",
    );
    expect(player.press(...keys("d")).screen()).toContain("  │  line 0\n  │  line 1\n");
  });

  test("are never taken for such in a new file, whose diff may be the file itself", () => {
    const diff = "run() {\n  one\n  two\n  three\n  rm -rf ~\n  four\n  five\n}\n";
    const changes = [{ path: FILE, kind: { type: "add" }, diff }];
    const screen = shown(
      codex("item/fileChange/requestApproval", {}, { type: "fileChange", changes }),
    ).screen();
    expect(screen).toContain("? agent asks to create a file:\n  new file │ ");
    for (const line of diff.trimEnd().split("\n")) expect(screen).toContain(`  │ ${line}\n`);
  });
});

test("the feed gives way to a request that would fit without it, and to no other", () => {
  const command = (lines: number): Ask =>
    claude("Bash", { command: Array.from({ length: lines }, (_, at) => `echo ${at}`).join("\n") });
  const isWhole = (lines: number): boolean => shown(command(lines)).frame().requestScroll === 0;
  const fits = Array.from({ length: 24 }, (_, at) => at + 1).filter(isWhole);
  const [most = 0] = fits.slice(-1);
  expect(fits).toEqual(Array.from({ length: most }, (_, at) => at + 1));
  const rowsAbove = (lines: number): number =>
    shown(command(lines))
      .frame()
      .rows.findIndex((row) => row.startsWith("─ "));
  // The header alone; then a few rows of the feed too.
  expect(rowsAbove(most)).toBe(2);
  expect(rowsAbove(most + 1)).toBe(5);
});
