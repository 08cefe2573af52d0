// A request on the screen is complete, byte by byte, and the same as on the command line.
import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { formatRequest } from "../../../src/cli/request-text.ts";
import type { RequestPayload } from "../../../src/client/index.ts";
import { drawRequest } from "../../../src/tui/rows/index.ts";
import { drawRequestDetails } from "../../../src/tui/rows/request-rows.ts";
import { PAYLOAD, pending } from "../../client/request-rows.ts";
import { runs } from "../../support/sizes.ts";
import { rowsOf } from "./entries.ts";

const PLAIN = { hasColor: false };

function shown(payload: Partial<RequestPayload>, width = 80, theme = PLAIN): string[] {
  return drawRequest(pending({ payload: { ...PAYLOAD, ...payload } }), width, theme).map((row) => row.text);
}

test("what is asked comes first, then why; ids and JSON are in the details", () => {
  expect(shown({ reason: "to build", input: { command: "mkdir -p build" } }).join("\n")).toBe(
    `? demo asks to run a command:
  │ Bash: mkdir -p build
  │ mkdir -p build
  in │ /w
  reason │ to build`,
  );
  const details = drawRequestDetails(pending(), 80, PLAIN).map(({ text }) => text);
  expect(details.slice(0, 6)).toEqual([
    "? demo asks to run a command:",
    "  request req_a1",
    "  session s1",
    "  agent demo",
    "  hash hash-a1",
    "  as JSON:",
  ]);
  const quoted = details.slice(6).map((line) => line.slice(4));
  expect(JSON.parse(quoted.join("\n"))).toEqual(PAYLOAD);
});

test("what others wrote is the same as on the command line", () => {
  const payloads: RequestPayload[] = [
    {
      ...PAYLOAD,
      choices: [],
      changes: [{ path: "a.ts", kind: "update", diff: "@@ -1 +1 @@\n-a\n+b", move_path: "b.ts" }],
    },
    {
      ...{ ...PAYLOAD, tool_name: "Edit", input: { a: 1, b: "x\ny" }, plan: "1. x\n2. y" },
      ...{ details: { z: [1] }, choices: [] },
    },
  ];
  const quoted = (lines: readonly string[]): string[] => lines.filter((line) => line.includes(" │ "));
  for (const payload of payloads) {
    const row = pending({ payload });
    expect(quoted(drawRequest(row, 200, PLAIN).map(({ text }) => text))).toEqual(
      quoted(formatRequest(row, "", 200)),
    );
    const details = quoted(drawRequestDetails(row, 200, PLAIN).map(({ text }) => text));
    expect(quoted(formatRequest(row, "", 200, { hasDetails: true }))).toEqual(
      expect.arrayContaining(details),
    );
  }
});

test("a request that is cut says so", () => {
  const rows = drawRequest(pending({ is_cut: true }), 80, PLAIN);
  expect(rows.map(({ text }) => text)).toContain("  (truncated: this is not the whole request)");
});

test("a diff has its colors, and every sign of it", () => {
  const payload = {
    ...PAYLOAD,
    changes: [{ path: "a", kind: "update" as const, diff: "@@ -1 +1 @@\n-a\n+b" }],
  };
  const rows = drawRequest(pending({ payload }), 80, { hasColor: true }).map(({ ansi }) => ansi);
  expect(rows).toContain("\u001b[2m  │ \u001b[0m\u001b[32m+b\u001b[0m");
  expect(rows).toContain("\u001b[2m  │ \u001b[0m\u001b[31m-a\u001b[0m");
});

/** The command of the request, read back from the first rows after a bar. */
function readBack(rows: readonly string[]): string {
  const lines: string[] = [];
  for (const row of rows.slice(rows.findIndex((one) => one.startsWith("  │ ")))) {
    if (row.startsWith("  │ ")) lines.push(row.slice(4));
    else if (row.startsWith("  ┆ ")) lines.push((lines.pop() ?? "") + row.slice(4));
    else break;
  }
  return lines
    .join("\n")
    .replace(/⇥ {3}|\\t|\\x([0-9a-f]{2})|<U\+([0-9A-F]{4,6})>/g, (found, byte, code) =>
      found.startsWith("⇥") || found === "\\t"
        ? "\t"
        : String.fromCodePoint(Number.parseInt(byte ?? code, 16)),
    );
}

const anything = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
  fc
    .array(
      fc.constantFrom(
        "\t",
        "⇥",
        "\n",
        " ",
        "\u0301",
        "\u20e3",
        "1",
        "日",
        "a",
        "\u202e",
        "\u1100",
        "\u1161",
        "\r",
      ),
      {
        maxLength: 60,
      },
    )
    .map((parts) => parts.join("")),
);

describe("byte by byte", () => {
  test.each([{ hasColor: false }, { hasColor: false, isAscii: true }])(
    "%j: the rows give back the command",
    (theme) => {
      fc.assert(
        fc.property(anything, fc.integer({ min: 20, max: 60 }), (text, width) => {
          const command = `${text.replaceAll("\\", "/")}.`;
          // Without the title, which comes first.
          const rows = shown({ command, tool_name: "Bash" }, width, theme);
          // In ASCII our own bars are other signs.
          const drawn = rows.map((row) => row.replace(/^ {2}\| /, "  │ ").replace(/^ {2}: /, "  ┆ "));
          expect(readBack(drawn)).toBe(command);
          for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(width);
          if (theme.isAscii) expect(rows.join("")).toMatch(/^[ -~]*$/);
        }),
        runs(60),
      );
    },
  );

  test("text that looks like our escapes is marked", () => {
    const note = "  (some \\x… and <U+…> are literal text)";
    expect(shown({ command: "printf '\\x1b[0m'" })).toContain(note);
    expect(shown({ command: "printf '\u001b[0m'" })).not.toContain(note);
    const [real] = drawRequest(pending({ payload: { ...PAYLOAD, command: "\u001b" } }), 80, {
      hasColor: true,
    })
      .map(({ ansi }) => ansi)
      .filter((ansi) => ansi.includes("\\x1b"));
    expect(real).toContain("\u001b[7m\\x1b\u001b[0m");
  });

  test("a tab and its sign are distinguishable", () => {
    expect(shown({ command: "\tx" })).toContain("  │ ⇥   x");
    expect(shown({ command: "⇥   x" })).toContain("  │ <U+21E5>   x");
  });

  test("a label of an option with a newline does not look like two", () => {
    const questions = [{ id: "q", question: "Which?", options: [{ label: "No\n• Yes" }] }];
    const entry = { id: "e1", seq: 1, depth: 0, kind: "request" as const };
    const request = pending({ payload: { ...PAYLOAD, questions } });
    const rows = rowsOf([{ ...entry, request }], { isOpen: true });
    expect(rows.map(({ text }) => text.slice(2))).toContain("  │ • No\\n• Yes");
  });
});
