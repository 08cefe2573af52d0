// What a person sees before deciding, and that nothing an agent writes can pass for our own words there.
import { expect, test } from "vitest";
import { requestLines, verbsFor } from "../../src/cli/request-text.ts";
import type { RequestPayload, RequestRow } from "../../src/client/index.ts";
import { PAYLOAD, pending, QUESTIONS } from "../client/request-rows.ts";

function lines(
  payload: Partial<RequestPayload>,
  columns = Infinity,
  fields: Partial<RequestRow> = {},
): string[] {
  return requestLines(pending({ ...fields, payload: { ...PAYLOAD, ...payload } }), "HINT", columns);
}
const text = (...given: Parameters<typeof lines>): string => lines(...given).join("\n");

/** What stands there without the rows that others wrote. */
const ours = (all: readonly string[]): string[] => all.filter((line) => !/^ {2}[│┆] /.test(line));

test("the whole request is shown, with what each choice writes to disk", () => {
  expect(text({ reason: "to build" })).toBe(
    `? demo asks (command):
  │ Bash: mkdir -p build
  request req_a1
  session s1
  because:
  │ to build
  command:
  │ mkdir -p build
  in:
  │ /w
  choices:
    accept [--input JSON]     this once
    accept-session            and remember it until the agent ends
    from then on:
  │ allow Bash(mkdir:*)
    always                    and remember it for good
    this changes the file:
  │ /w/.claude/settings.local.json
    as follows:
  │ permissions.allow += Bash(mkdir:*)
    decline [message…]        the agent goes on without it
    cancel                    decline, and stop the turn
  HINT`,
  );
});

test("a choice with an option says how it is chosen, and what it remembers", () => {
  const choices: RequestPayload["choices"] = [
    { decision: "acceptForSession", remembers: ["allow Bash(touch x)"] },
    { decision: "acceptForSession", option: "mode-acceptEdits", remembers: ["switch the mode"] },
    { decision: "decline" },
  ];
  const shown = text({ choices });
  expect(shown).toContain("    accept-session            and remember");
  expect(shown).toMatch(/accept-session --option mode-acceptEdits {2}and .*\n.*\n {2}│ switch the mode/);
  expect(verbsFor(pending({ payload: { title: "x", choices } }))).toBe("accept-session, decline");
});

test("a change is shown with its whole diff, and its input without the same texts again", () => {
  const diff = "@@ -1 +1 @@\n-a\n+b";
  const shown = text({
    command: undefined,
    tool_name: "Edit",
    input: { file_path: "a.ts", replace_all: true, new_string: "b\n", because: "x\nb" },
    changes: [{ path: "a.ts", kind: "update", diff, move_path: "b.ts" }],
  });
  expect(shown).toContain(
    "  update the file:\n  │ a.ts\n  move it to:\n  │ b.ts\n  as follows (3 lines):\n  │ @@ -1 +1 @@\n  │ -a\n  │ +b\n",
  );
  expect(shown).toContain(
    "input of Edit (5 lines):\n  │ file_path: a.ts\n  │ replace_all: true\n  │ new_string: (2 characters, above)\n  │ because: x\n  │ b\n",
  );
});

test("a tool's input is shown but for what stands above it", () => {
  const input = { command: "mkdir -p build", run_in_background: true };
  expect(text({ tool_name: "Bash", input })).toContain("input of Bash:\n  │ run_in_background: true\n");
});

test("a sub-agent's request says whose it is; details and a plan are shown", () => {
  const shown = text({ plan: "# Plan\nDo it", details: { blocked_path: "/etc", n: { a: 1 } } }, Infinity, {
    path: ["outer", "inner"],
  });
  expect(shown).toContain("for the sub-agent (2 lines):\n  │ outer\n  │ inner\n");
  expect(shown).toContain("plan (2 lines):\n  │ # Plan\n  │ Do it\n");
  expect(shown).toContain('it also says (2 lines):\n  │ blocked_path: /etc\n  │ n: {"a":1}\n');
});

test("questions are numbered, with their options and how to answer", () => {
  const shown = requestLines(pending({ payload: QUESTIONS, request_type: "user_input" }), "HINT", Infinity);
  expect(shown.join("\n")).toContain(
    `  question 1 (choose one; or say it in your own words):
  │ Which colour?
  │ [Colour]
  │ • Red: warm
  │ • dark blue
  question 2 (the answer is kept secret):
  │ Token?
  choices:
    answer 1=TEXT 2=TEXT …    the questions by their numbers
    decline [message…]        the agent goes on without it
  HINT`,
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

test.each(HOSTILE)("an agent cannot pass for us with %s", (_what, hostile) => {
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
      { decision: "acceptAlways", remembers: [hostile], writes: [{ path: hostile, content: hostile }] },
    ],
  };
  const shown = lines(payload, 80, { path: [hostile] });
  expect(shown.join("")).not.toMatch(/[^\P{Cc}\t]|[\p{Cf}\p{DI}\p{Co}\u2800]|[^\P{Z} ]/u);
  for (const line of shown) expect(columnsOf(line), line).toBeLessThan(80);
  const named = ours(shown).filter((line) => !line.startsWith("  input of "));
  expect(named.map((line) => line.replace(/ \(\d+ lines\)/, ""))).toEqual(OWN_LINES);
  expect(shown.filter((line) => line.startsWith("  input of "))).toHaveLength(0); // questions have no input
});

const OWN_LINES = [
  "? demo asks (command):",
  "  request req_a1",
  "  session s1",
  "  for the sub-agent:",
  "  because:",
  "  command:",
  "  in:",
  "  update the file:",
  "  move it to:",
  "  as follows:",
  "  plan:",
  "  it also says:",
  "  question 1 (choose one):",
  "  choices:",
  "    always                    and remember it for good",
  "    from then on:",
  "    this changes the file:",
  "    as follows:",
  "  HINT",
];

test("nothing is left out where a line is broken", () => {
  const command = `echo ${"0123456789".repeat(50)} && true`;
  const rows = lines({ command, title: "x" }, 60).filter((line) => /^ {2}[│┆] /.test(line));
  const from = rows.findIndex((line) => line.startsWith("  │ echo"));
  const until = rows.indexOf("  │ /w");
  expect(
    rows
      .slice(from, until)
      .map((line) => line.slice(4))
      .join(""),
  ).toBe(command);
  expect(rows.slice(from + 1, until).every((line) => line.startsWith("  ┆ "))).toBe(true);
});

/** How many columns a terminal may need for it. */
function columnsOf(line: string): number {
  return [...line].reduce((sum, char) => {
    if (char === "\t") return sum + 8 - (sum % 8);
    return sum + (char < "\u007f" || "│┆•…".includes(char) ? 1 : 2);
  }, 0);
}

test("a Windows line end in a command is seen", () => {
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
  expect(edited(input, diff)).not.toContain("above)");
});

test("a text that the diff shows is named only", () => {
  const shown = edited({ old_string: LONG, content: `k\n${LONG}\n` }, `@@\n k\n-${LONG}\n+${LONG}`);
  expect(shown).toContain("old_string: (300 characters, above)\n  │ content: (303 characters, above)\n");
});

test("a field is left out by its name and value, never by its value alone", () => {
  const input = { command: "mkdir -p build", cwd: "/elsewhere", later: "mkdir -p build", plan: "/w" };
  expect(text({ tool_name: "Bash", input })).toContain(
    "input of Bash (3 lines):\n  │ cwd: /elsewhere\n  │ later: mkdir -p build\n  │ plan: /w\n",
  );
});

test.each([
  [{ old_string: "a\n", new_string: "a" }, "@@\n a", "  (1 × newline at the end removed)\n"],
  [{ old_string: "a", new_string: "a\n\n" }, "@@\n a", "  (2 × newline at the end added)\n"],
  [{ edits: [{ old_string: "a\n", new_string: "a" }] }, "@@\n a", "  (1 × newline at the end removed)\n"],
])("%j says what its diff does not show", (input, diff, note) => {
  expect(edited(input, diff)).toContain(note);
  expect(edited(input, `${diff}\n\\ No newline at end of file`)).not.toContain("newline at the end ");
});

test("a change of a line needs no word about newlines", () => {
  expect(edited({ old_string: "a\n", new_string: "b" }, "@@\n-a\n+b")).not.toContain("newline at");
});

test("one that was cut for a list says so, and how to see it whole", () => {
  expect(text({}, Infinity, { is_cut: true })).toContain(
    "\n  (cut; blemeesctl requests req_a1 shows it whole)\n  choices:\n",
  );
});
