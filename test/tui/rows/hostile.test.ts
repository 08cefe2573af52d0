// Hostile text from agents, tools and files: none of it acts on the terminal, hides or imitates our own rows, anywhere in
// the feed or in a request.
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import type { Entry, RequestRow } from "../../../src/client/view/types.ts";
import { drawRequest, type Row } from "../../../src/tui/rows/index.ts";
import { drawRequestDetails } from "../../../src/tui/rows/request-rows.ts";
import { PAYLOAD, pending, QUESTIONS } from "../../client/request-rows.ts";
import { IS_CHAOS } from "../../support/sizes.ts";
import { rowsOf, text, thinking, tool, user } from "./entries.ts";

const CORPUS: Readonly<Record<string, string>> = {
  "CSI colors and clears": "\u001b[31mred\u001b[2J\u001b[1;1H",
  "a title by OSC 0": "\u001b]0;owned\u0007",
  "a link by OSC 8": "\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\",
  "a notification by OSC 9": "\u001b]9;approve now\u0007",
  "the clipboard by OSC 52": "\u001b]52;c;cm0gLXJm\u0007",
  "a DCS": "\u001bP1$r0m\u001b\\",
  "C1 controls": "\u009b31m\u009d0;x\u009c\u0085\u0090",
  "bidi overrides": "a\u202egnp.exe\u202c",
  "bidi isolates": "\u2066x\u2067y\u2068z\u2069\u061c\u200e\u200f",
  "zero width": "pass\u200bword\u200c\u200d\u2060\ufeff\u00ad",
  tags: "\u{e0001}\u{e0068}\u{e0069}\u{e007f}",
  "variation selectors": "a\ufe0f1\ufe0f\u20e3\u{e0100}\u180b",
  "combining marks": `e${"\u0301\u0336\u20dd".repeat(60)}x`,
  "lone surrogates": "\ud800x\udc00",
  "line separators": "a\u2028b\u2029c",
  "an overwritten line": "rm -rf /\rls       ",
  backspaces: "rm\b\b\b\bls\u007f\u007f",
  "other C0": "\u0000\u0001\u0007\u000b\u000c\u000e\u001a\u001c",
  tabs: "\t\ta\tb\t",
  "Hangul fillers": "a\u115f\u1160\u3164\uffa0b",
  "a very long line": "x".repeat(2_500),
  "very long wide letters": "日本".repeat(200),
  "piled up jamo": "\u1100".repeat(120),
  "flags and families": "\u{1f1e9}\u{1f1ea}\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u{1f44d}\u{1f3fd}",
};

const request = (fields: Partial<RequestRow["payload"]>): Entry => ({
  ...{ id: "e1", seq: 1, depth: 0, kind: "request" },
  request: pending({ payload: { ...PAYLOAD, ...fields } }),
});

const base = { id: "e1", seq: 1, depth: 0 } as const;
const change = (fields: object): Entry => tool({ changes: [{ path: "a.ts", kind: "update", ...fields }] });

const PLACES: Readonly<Record<string, (evil: string) => Entry>> = {
  "a message": user,
  "the sender of a message": (evil) => user("x", { from: evil }),
  "what the agent says": text,
  "what a sub-agent says": (evil) => text(evil, { depth: 2 }),
  "a heading": (evil) => text(`# ${evil}`),
  "a list": (evil) => text(`- ${evil}\n  1. ${evil}`),
  "a quote": (evil) => text(`> ${evil}`),
  "the words of a link": (evil) => text(`[${evil}](https://a.example)`),
  "the target of a link": (evil) => text(`[a](<https://a.example/${evil}>) ![b](https://a.example/${evil})`),
  "inline code": (evil) => text(`\`${evil}\``),
  "fenced code": (evil) => text(`\`\`\`ts\n${evil}\n\`\`\``),
  "the language of code": (evil) => text(`\`\`\`${evil}\nx\n\`\`\``),
  "a table": (evil) => text(`|${evil}|b|\n|-|-|\n|${evil}|c|`),
  HTML: (evil) => text(`<b title="${evil}">${evil}</b>`),
  thoughts: thinking,
  "the name of a tool": (evil) => tool({ name: evil }),
  "the title of a tool": (evil) => tool({ title: evil }),
  "the name of an agent": (evil) => tool({ agent: evil }),
  "an input": (evil) => tool({ input: { [evil]: evil, list: [evil] } }),
  "an input that is still written": (evil) => tool({ input: undefined, partialInput: evil }),
  "an output": (evil) => tool({ output: `ok\n${evil}\nok` }),
  "a changed path": (evil) => change({ path: evil, move_path: evil }),
  "a diff": (evil) => change({ diff: `@@ -1 +1 @@ ${evil}\n ${evil}\n-${evil}\n+${evil}` }),
  "a notice": (evil) => ({ ...base, kind: "notice", level: "warn", category: evil, text: evil }),
  "the end of a turn": (evil) => ({ ...base, kind: "result", subtype: evil, error: evil }),
  "a gap": (evil) => ({ ...base, kind: "gap", text: evil }),
  "the title of a request": (evil) => request({ title: evil }),
  "a command to approve": (evil) => request({ command: evil, cwd: evil, reason: evil }),
  "a change to approve": (evil) => request({ changes: [{ path: evil, kind: "add", diff: `+${evil}` }] }),
  "an input to approve": (evil) =>
    request({ tool_name: evil, input: { [evil]: evil }, details: { [evil]: evil } }),
  "a plan": (evil) => request({ plan: evil }),
  "what a choice remembers": (evil) =>
    request({
      choices: [{ decision: "acceptAlways", remembers: [evil], writes: [{ path: evil, content: evil }] }],
    }),
  "a question": (evil) =>
    request({
      ...QUESTIONS,
      questions: [{ id: evil, question: evil, header: evil, options: [{ label: evil, description: evil }] }],
    }),
};

const ESC = "\u001b";
const RESET = `${ESC}[0m`;
const SGR = new RegExp(`${ESC}\\[(?:0|[1-9]\\d?(?:;[1-9]\\d?)*)m`, "g");
/** Not allowed in a row: controls, reordering or zero-width characters, lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const WIDTH = 50;

function faultsIn(rows: readonly Row[], width = WIDTH): string[] {
  return rows.flatMap(({ text: shown, ansi }) => {
    const faults = [
      ansi.replace(SGR, "") !== shown && "codes that are not ours",
      UNSEEN.test(shown) && "something unseen",
      stringWidth(shown) > width && "too wide",
      /\p{M}{5}/u.test(shown) && "a pile of marks",
      // A style that is not closed would color the next row.
      (ansi.match(SGR)?.at(-1) ?? RESET) !== RESET && "an open style",
    ];
    return faults.filter((fault) => fault !== false).map((fault) => `${fault}: ${JSON.stringify(ansi)}`);
  });
}

const LOOKS = [
  { isOpen: true, theme: { hasColor: true } },
  { isOpen: false, theme: { hasColor: true } },
  { isOpen: true, theme: { hasColor: false } },
];

test.each(Object.entries(PLACES))("%s shows its content and does nothing", (_, place) => {
  for (const [name, evil] of Object.entries(CORPUS)) {
    for (const look of LOOKS)
      expect(faultsIn(rowsOf([place(evil)], { width: WIDTH, ...look })), name).toEqual([]);
  }
});

/** What our own rows look like. */
const FAKES = [
  "● Bash npm test  ✓ 1.2 s",
  "✓ done · 12s",
  "├ output (3 lines)",
  "? claude asks to run a command:",
  "┃ ? claude asks to run a command:",
  "▌ yes, do it",
  "» from the session s1",
  "│ ● Bash ls  ✓",
  "! nothing to worry about",
  "  Choices:",
  "  1 y Accept once",
];

/** What a row starts with after the bars of sub-agents: a space for untrusted text. */
function isOurs({ text: shown }: Row): boolean {
  return /^(?:│ )*[^ │]/.test(shown);
}

const countOurs = (entry: Entry, isOpen: boolean, width = WIDTH): number =>
  rowsOf([entry], { width, isOpen }).filter(isOurs).length;

/** All of 20 to 200 with `npm run chaos`. */
const WIDTHS = Array.from({ length: 181 }, (_, at) => 20 + at).filter((at) => IS_CHAOS || at % 36 === 3);

describe("nothing passes for a row of ours", () => {
  const breaks = [
    "\n",
    "\r",
    "\r\n",
    "\u2028",
    "\u0085",
    "\u000b",
    `\n${"x".repeat(WIDTH - 2)} `,
    "\n\n",
    "  \n",
  ];
  const filler = (fake: string): string => fake.replace(/\S/g, "z");

  test.each(Object.entries(PLACES).filter(([name]) => name !== "a message"))("in %s", (_, place) => {
    const faults: string[] = [];
    for (const [at, fake] of FAKES.entries()) {
      for (const [n, between] of breaks.entries()) {
        // All of them together with `npm run chaos`; otherwise each once after a newline, and each break once.
        if (!IS_CHAOS && at > 0 && n > 0) continue;
        for (const isOpen of fake === FAKES[0] ? [true, false] : [true]) {
          const evil = countOurs(place(`a${between}${fake}`), isOpen);
          const plain = countOurs(place(`a${between}${filler(fake)}`), isOpen);
          if (evil !== plain) faults.push(JSON.stringify(between + fake));
        }
      }
    }
    expect(faults).toEqual([]);
  });

  test.each(WIDTHS)("where a row breaks on a screen of %i columns", (width) => {
    const faults: string[] = [];
    for (const [name, place] of Object.entries(PLACES)) {
      if (name === "a message") continue;
      for (const room of [0, 2, 3, 4, 6, 7]) {
        const before = "x".repeat(Math.max(1, width - room));
        const evil = countOurs(place(`${before} ${FAKES[0]}`), true, width);
        if (evil !== countOurs(place(`${before} ${filler(FAKES[0] ?? "")}`), true, width))
          faults.push(`${name}, ${room}`);
      }
    }
    expect(faults).toEqual([]);
  });

  test("what an agent says never begins in the first column", () => {
    const rows = rowsOf([
      text(FAKES.join("\n\n")),
      text(`\`\`\`\n${FAKES.join("\n")}\n\`\`\``, { id: "e2" }),
    ]);
    expect(rows.filter(isOurs)).toEqual([]);
  });

  test("each row of a message has the user's bar", () => {
    const rows = rowsOf([user(FAKES.join("\n"))]);
    expect(rows.length).toBe(FAKES.length);
    expect(rows.every((row) => row.text.startsWith("▌ "))).toBe(true);
  });

  test("a title cannot fake a status: only ours follows two spaces", () => {
    const [row] = rowsOf([tool({ name: "Bash  ✓", title: "rm -rf x   ✓ 1.2 s \t ", status: "failed" })]);
    expect(row?.text).toBe("✗ Bash ✓ rm -rf x ✓ 1.2 s  ✗");
  });

  test("a long title is cut, its status never", () => {
    const [row] = rowsOf([tool({ title: "日本 ".repeat(90), status: "failed", exit_code: 3 })], {
      width: 40,
    });
    expect(row?.text).toMatch(/^✗ Bash 日本 .*… {2}✗ exit 3$/);
  });
});

describe("a request to decide upon", () => {
  test.each(Object.entries(CORPUS))(
    "with %s in every field is harmless and has only our text outside of bars",
    (_, evil) => {
      const payload = {
        ...{
          title: evil,
          reason: evil,
          command: evil,
          cwd: evil,
          plan: evil,
          tool_name: evil,
          input: { [evil]: evil },
        },
        choices: [
          { decision: "accept" as const, remembers: [evil], writes: [{ path: evil, content: evil }] },
        ],
      };
      const row = pending({ payload });
      const rows = [drawRequest, drawRequestDetails].flatMap((draws) =>
        draws(row, WIDTH, { hasColor: true }),
      );
      expect(faultsIn(rows)).toEqual([]);
      const outside = rows.filter((row) => !/^ {2}[│┆] /.test(row.text)).map((row) => row.text);
      const titles =
        /^(\? demo asks| {2}(request|session|agent|hash) | {2}(in|reason|input|as JSON)(:$| │ )| {2}\(some| {6})/;
      expect(outside.filter((row) => !titles.test(row))).toEqual([]);
    },
  );

  test("fake rows in it are after the bar", () => {
    const command = ["x", ...FAKES, "  │ more", "    y accept  this once"].join("\n");
    const rows = drawRequest(pending({ payload: { ...PAYLOAD, command } }), WIDTH, { hasColor: false });
    const plain = drawRequest(pending({ payload: { ...PAYLOAD, command: "x" } }), WIDTH, {
      hasColor: false,
    });
    const ours = (all: readonly Row[]): string[] =>
      all.map((row) => row.text).filter((row) => !/^ {2}[│┆] /.test(row));
    expect(ours(rows)).toEqual(ours(plain));
  });
});
