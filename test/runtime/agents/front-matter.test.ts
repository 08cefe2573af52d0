// Front matter is untrusted: any content is plain data or a fault with a line, and never ends the process.
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseFrontMatter } from "../../../src/runtime/agents/front-matter.ts";
import { LineFault } from "../../../src/runtime/agents/line-fault.ts";

const PIECES = [
  "[",
  "]",
  "{",
  "}",
  "- ",
  "? ",
  ": ",
  "a",
  "b: ",
  "\n",
  " ",
  "  ",
  "\t",
  "&x ",
  "*x",
  "!t ",
  "!!map ",
  '"',
  "'",
  "|\n",
  ">\n",
  "#",
  "%YAML 1.1\n",
  "---",
  "...",
  "<<: ",
  ",",
  "\\",
  "\u0000",
  "\u2028",
  "__proto__: ",
];
const yaml = fc.array(fc.constantFrom(...PIECES), { maxLength: 400 }).map((pieces) => pieces.join(""));
/** The same piece again and again, which is what breaks parsers. */
const monotone = fc
  .tuple(
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 }),
    fc.integer({ min: 1, max: 8000 }),
  )
  .map(([pieces, times]) => pieces.join("").repeat(times).slice(0, 40_000));

async function parse(source: string): Promise<unknown> {
  try {
    return (await parseFrontMatter(`---\n${source}\n---\nbody`)).value;
  } catch (error) {
    return error;
  }
}

test("any text is an object or a fault with a line of the file", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(yaml, monotone), async (source) => {
      const result = await parse(source);
      if (result instanceof LineFault) {
        expect(result.line).toBeGreaterThanOrEqual(1);
        expect(result.line).toBeLessThanOrEqual(source.split("\n").length + 3);
      } else {
        expect(result).not.toBeInstanceOf(Error);
        expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
      }
    }),
    { numRuns: Number(process.env["FRONT_MATTERS"] ?? 150) },
  );
});

test("each value has its line number", async () => {
  const matter = await parseFrontMatter(
    "---\na:\n  b:\n    - x\n    - y: 1\n# c\nc: {d: 1,\n  e: 2}\n---\n\nbody\n",
  );
  const lines = [
    ["a"],
    ["a", "b"],
    ["a", "b", 1],
    ["a", "b", 1, "y"],
    ["c", "e"],
    ["a", "none"],
    ["none"],
    [],
  ];
  expect(lines.map((path) => matter.lineOf(path))).toEqual([2, 3, 5, 5, 8, 2, 1, 1]);
  expect([matter.body, matter.bodyLine]).toEqual(["\nbody\n", 10]);
});

test("yes, dates and octal numbers are what YAML 1.2 says, and <<: is a key like others", async () => {
  expect(await parse("a: yes\nb: 2020-01-01\nc: 010\nd: ~\n<<: { e: 1 }")).toEqual({
    a: "yes",
    b: "2020-01-01",
    c: 10,
    d: null,
    "<<": { e: 1 },
  });
});
