// What the user sees before deciding, and that nothing an agent writes can imitate our own text there.
import { expect, test } from "vitest";
import { formatRequest, listVerbs, requireOffered } from "../../src/cli/request-text.ts";
import type { RequestPayload, RequestRow } from "../../src/client/index.ts";
import { PAYLOAD, pending, QUESTIONS } from "../client/request-rows.ts";

function lines(
  payload: Partial<RequestPayload>,
  columns = Infinity,
  fields: Partial<RequestRow> = {},
): string[] {
  return formatRequest(pending({ ...fields, payload: { ...PAYLOAD, ...payload } }), "HINT", columns);
}
const text = (...given: Parameters<typeof lines>): string => lines(...given).join("\n");

/** The text without the rows that others wrote. */
const ours = (all: readonly string[]): string[] => all.filter((line) => !/^ {2}(?: {4})?[│┆] /.test(line));

test("the decision comes first, then each choice once, with what it remembers and writes to disk", () => {
  expect(text({ reason: "to build" })).toBe(
    `? demo asks to run a command:
  │ Bash: mkdir -p build
  │ mkdir -p build
  in │ /w
  reason │ to build
  Choices:
    accept [--input JSON]  this once
    accept-session         do not ask again until the agent ends
      remembers │ allow Bash(mkdir:*)
    always                 do not ask again
      writes │ /w/.claude/settings.local.json
      │ permissions.allow += Bash(mkdir:*)
    decline [message…]     the agent continues without it
    cancel                 the turn ends
  Details: blemeesctl requests req_a1
  HINT`,
  );
});

test("the details contain ids, the hash and everything else as JSON", () => {
  const row = pending({ payload: { ...PAYLOAD, details: { blocked_path: "/etc" } }, item_id: "i1" });
  const shown = formatRequest(row, "HINT", 80, {
    hasDetails: true,
    session: { session_id: "s1", name: "fixer", cwd: "/home/you/shop" },
  });
  expect(shown[0]).toBe("? fixer (demo) in shop asks to run a command:");
  const at = shown.indexOf("  Details:");
  expect(shown.slice(at + 1, at + 7)).toEqual([
    "  request req_a1",
    "  session s1",
    "  agent demo",
    "  item i1",
    "  hash hash-a1",
    "  as JSON:",
  ]);
  expect(
    JSON.parse(
      shown
        .slice(at + 7, -1)
        .map((line) => line.slice(4))
        .join("\n"),
    ),
  ).toEqual(row.payload);
  expect(shown).not.toContain("  Details: blemeesctl requests req_a1");
});

test("an answered request lists only the choice that was taken", () => {
  const answer = { decision: "acceptForSession" } as const;
  const shown = formatRequest(pending(), "HINT", 80, { answer }).join("\n");
  expect(shown).toContain("  Choices:\n    accept-session  do not ask again until the agent ends\n");
  expect(shown).toContain("      remembers │ allow Bash(mkdir:*)\n  Details: ");
  expect(shown).not.toContain("decline");
});

test("a choice with an option shows how to choose it, and what it remembers", () => {
  const choices: RequestPayload["choices"] = [
    { decision: "acceptForSession", remembers: ["allow Bash(touch x)"] },
    { decision: "acceptForSession", option: "mode-acceptEdits", remembers: ["switch the mode"] },
    { decision: "decline" },
  ];
  const shown = text({ choices });
  expect(shown).toMatch(/ {4}accept-session {2,}do not ask/);
  expect(shown).toMatch(
    /accept-session --option mode-acceptEdits {2}do not .*\n {6}remembers │ switch the mode\n/,
  );
  expect(listVerbs(pending({ payload: { title: "x", choices } }))).toBe("accept-session, decline");
});

test("an answer that a pending request does not offer is refused with the choices, in the program's own syntax", () => {
  const choices: RequestPayload["choices"] = [
    { decision: "acceptForSession", option: "mode-acceptEdits" },
    { decision: "decline" },
  ];
  const row = pending({ payload: { title: "x", choices } });
  for (const option of ["nope", undefined]) {
    const said = option === undefined ? "accept-session" : "accept-session --option nope";
    const answer = { decision: "acceptForSession" as const, ...(option === undefined ? {} : { option }) };
    expect(() => requireOffered(row, answer)).toThrow(
      `this request does not offer "${said}"; it offers: accept-session --option mode-acceptEdits, decline`,
    );
  }
  requireOffered(row, { decision: "acceptForSession", option: "mode-acceptEdits" });
  // The daemon reports the outcome of a finished one.
  requireOffered({ ...row, status: "resolved" }, { decision: "acceptAlways" });
});

test("a change is shown with its diff, and its input without repeating those texts", () => {
  const shown = text({
    command: undefined,
    tool_name: "Edit",
    title: "Edit: a.ts",
    input: { file_path: "a.ts", replace_all: true, new_string: "b\n", because: "x\nb" },
    changes: [{ path: "a.ts", kind: "update", diff: "@@ -1 +1 @@\n-a\n+b", move_path: "b.ts" }],
  });
  expect(shown).toContain(
    "  rename and edit │ a.ts\n  to │ b.ts\n  │ @@ -1 +1 @@\n  │ -a\n  │ +b\n  input:\n  │ replace_all: true\n  │ because: x\n  │ b\n",
  );
});

test.each([
  ["add", "create a file", "new file"],
  ["overwrite", "overwrite a file", "overwrite"],
  ["update", "edit a file", "edit"],
  ["delete", "delete a file", "delete"],
] as const)("%s has its own text", (kind, verb, label) => {
  const payload = { ...PAYLOAD, command: undefined, changes: [{ path: "a.ts", kind, diff: "+a" }] };
  const shown = formatRequest(pending({ request_type: "file_change", payload }), "HINT", 80);
  expect(shown[0]).toBe(`? demo asks to ${verb}:`);
  expect(shown).toContain(`  ${label} │ a.ts`);
});

test("a tool's input is shown except for what is already shown above", () => {
  const input = { command: "mkdir -p build", run_in_background: true };
  expect(text({ tool_name: "Bash", input })).toContain("\n  input │ run_in_background: true\n");
});

test("a sub-agent's request names it, and a plan is shown", () => {
  const shown = text({ plan: "# Plan\nDo it" }, Infinity, { path: ["outer", "inner"] });
  expect(shown).toContain("  sub-agent:\n  │ outer\n  │ inner\n");
  expect(shown).toContain("  │ # Plan\n  │ Do it\n");
});

test("questions are numbered, with their options and how to answer", () => {
  const shown = formatRequest(pending({ payload: QUESTIONS, request_type: "user_input" }), "HINT", Infinity);
  expect(shown.join("\n")).toContain(
    `? demo asks 2 questions:
  question 1 (choose one; or type your own answer) │ Which colour?
  │ [Colour]
  │ • Red: warm
  │ • dark blue
  question 2 (the answer is not shown) │ Token?
  Choices:
    answer 1=TEXT 2=TEXT …  the questions by number
    decline [message…]      the agent continues without it
`,
  );
});

const HOSTILE = [
  ["colours and cursor", "ls\x1b[2J\x1b[1;1H? demo asks (command):"],
  ["the window's title and clipboard", "ls\x1b]0;safe\x07\x1b]52;c;cm0=\x07\u009d0;x\u009c"],
  ["reordered and hidden letters", "rm -rf /\u202e # \u2066safe\u2069\u200b\u{e0041}"],
  ["carriage return over the line", "rm -rf /\r│ ls       "],
  ["backspaces", "rm -rf /\b\b\b\b\b\b\b\bls"],
  ["lines like ours", "ls\n  choices:\n    accept   harmless\n  HINT"],
  ["blanks of another kind", "rm\u00a0-rf\u3000/\u2003#\u202f\u205f\u2800\u3164\ufe0f\u{e0100}\ue000 ls\r\n"],
  ["other line ends", "ls\u2028  choices:\u2029  x\u0085  y\v  z\f"],
  ["a line broken by the edge of the screen", `ls${" ".repeat(500)}choices: accept${"界".repeat(90)}`],
  ["tabs to the edge of the screen", `ls${"\t".repeat(60)}  choices:`],
] as const;

test.each(HOSTILE)("an agent cannot imitate us with %s", (_what, hostile) => {
  const payload: Partial<RequestPayload> = {
    title: hostile,
    reason: hostile,
    command: hostile,
    cwd: hostile,
    plan: hostile,
    tool_name: hostile,
    input: { [hostile]: hostile },
    details: { [hostile]: hostile },
    changes: [{ path: hostile, kind: "update", diff: hostile, move_path: hostile }],
    questions: [
      {
        id: hostile,
        question: hostile,
        header: hostile,
        options: [{ label: hostile, description: hostile }],
      },
    ],
    choices: [
      { decision: "acceptAlways", remembers: [hostile], writes: [{ path: hostile, content: `${hostile}.` }] },
    ],
  };
  const row = pending({ payload: { ...PAYLOAD, ...payload }, path: [hostile] });
  const shown = formatRequest(row, "HINT", 80, {
    hasDetails: true,
    session: { session_id: "s1", name: hostile, cwd: `/w/${hostile}` },
  });
  expect(shown.join("")).not.toMatch(/[^\P{Cc}\t]|[\p{Cf}\p{DI}\p{Co}\u2800]|[^\P{Z} ]/u);
  for (const line of shown) expect(columnsOf(line), line).toBeLessThan(80);
  // Beside our own text, a single line of foreign text follows a bar.
  expect(ours(shown.slice(1)).map((line) => line.replace(/(?: │ .*|:)$/, ""))).toEqual(OWN_LINES);
  expect(shown[0]).toMatch(/^\? .* \(demo\) in .* asks to run a command:$/);
});

const OWN_LINES = [
  "  sub-agent",
  "  in",
  "  rename",
  "  to",
  "  reason",
  "  question 1 (choose one)",
  "  Choices",
  "    always  do not ask again",
  "      remembers",
  "      writes",
  "  Details",
  "  request req_a1",
  "  session s1",
  "  agent demo",
  "  hash hash-a1",
  "  as JSON",
  "  HINT",
];

test("nothing is left out where a line is wrapped", () => {
  const command = `echo ${"0123456789".repeat(50)} && true`;
  const rows = lines({ command, title: "x", choices: [] }, 60).filter((line) => /^ {2}[│┆] /.test(line));
  const from = rows.findIndex((line) => line.startsWith("  │ echo"));
  const until = rows.length;
  expect(
    rows
      .slice(from, until)
      .map((line) => line.slice(4))
      .join(""),
  ).toBe(command);
  expect(rows.slice(from + 1, until).every((line) => line.startsWith("  ┆ "))).toBe(true);
});

/** The columns that a terminal may need for it. */
function columnsOf(line: string): number {
  return [...line].reduce((sum, char) => {
    if (char === "\t") return sum + 8 - (sum % 8);
    return sum + (char < "\u007f" || "│┆•…".includes(char) ? 1 : 2);
  }, 0);
}

test("a Windows line end in a command is visible", () => {
  expect(text({ command: "ls\r\nrm x" })).toContain("  │ ls\\x0d\n  │ rm x\n");
});

const LONG = "y".repeat(300);
const edited = (input: object, diff: string): string =>
  text({ command: undefined, tool_name: "Edit", input, changes: [{ path: "a", kind: "update", diff }] });

test.each([
  ["a field that no diff has", { notes: LONG }, `@@\n-a\n+b`],
  ["a field of that name whose text the diff has not", { new_string: LONG }, "@@\n-a\n+b"],
  ["the source of a cell that is deleted", { new_source: LONG, edit_mode: "delete" }, "@@ delete cell 1 @@"],
  ["a text that is only taken out", { new_string: LONG }, `@@\n-${LONG}`],
  ["a text across two hunks", { new_string: `a\n${LONG}` }, `@@\n+a\n@@\n+${LONG}`],
])("%s is shown in full", (_what, input, diff) => {
  expect(edited(input, diff)).toContain(`${LONG}\n`);
});

test("a text that the diff shows is not repeated", () => {
  const shown = edited({ old_string: LONG, content: `k\n${LONG}\n` }, `@@\n k\n-${LONG}\n+${LONG}`);
  expect(shown).not.toMatch(/\n {2}input|old_string|content:/);
  const edits = [{ old_string: "a", new_string: "b" }];
  expect(edited({ edits }, "@@\n-a\n+b")).not.toContain("edits");
  expect(edited({ edits: [...edits, { old_string: "a", new_string: "c" }] }, "@@\n-a\n+b")).toContain(
    "edits: [",
  );
});

test("a field is left out by its name and value, never by its value alone", () => {
  const input = { command: "mkdir -p build", cwd: "/elsewhere", later: "mkdir -p build", plan: "/w" };
  expect(text({ tool_name: "Bash", input })).toContain(
    "  input:\n  │ cwd: /elsewhere\n  │ later: mkdir -p build\n  │ plan: /w\n",
  );
});

test.each([
  [{ old_string: "a\n", new_string: "a" }, "@@\n a", "  (1 × newline at the end removed)\n"],
  [{ old_string: "a", new_string: "a\n\n" }, "@@\n a", "  (2 × newline at the end added)\n"],
  [{ edits: [{ old_string: "a\n", new_string: "a" }] }, "@@\n a", "  (1 × newline at the end removed)\n"],
])("%j shows what its diff does not", (input, diff, note) => {
  expect(edited(input, diff)).toContain(note);
  expect(edited(input, `${diff}\n\\ No newline at end of file`)).not.toContain("newline at the end ");
});

test("a changed line needs no note about newlines", () => {
  expect(edited({ old_string: "a\n", new_string: "b" }, "@@\n-a\n+b")).not.toContain("newline at");
});

test("one that was cut for a list says so, and how to see all of it", () => {
  expect(text({}, Infinity, { is_cut: true })).toMatch(
    /\n {2}\(truncated: this is not the whole request\)\n.*\n {2}Details: blemeesctl requests req_a1\n/s,
  );
});
