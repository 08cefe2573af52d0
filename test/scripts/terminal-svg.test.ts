import { expect, test } from "vitest";
import { toAnimatedSvg } from "../../scripts/screenshots/terminal-svg.mjs";

const SIZE = { columns: 10, rows: 2 };

test("text is escaped and placed by its cell, with its colors", () => {
  const svg = toAnimatedSvg([{ text: "a\x1b[1;31m<b>\x1b[0m\n\x1b[7mc\x1b[27md", seconds: 1 }], SIZE);
  expect(svg).toContain(
    '<text x="20.4" y="25" textLength="25.2" font-weight="bold" style="fill:#e06c75">&lt;b&gt;</text>',
  );
  expect(svg).toMatch(
    /<rect x="12.0" y="29" width="8.4" height="17" fill="#d7dae0"\/><text [^>]*style="fill:#1b1e24">c</,
  );
  expect(svg).toMatch(/<text x="20.4" y="42" textLength="8.4">d</);
});

test("each screen is visible in its own part of the loop, and the last one without animation", () => {
  const svg = toAnimatedSvg(
    [
      { text: "first", seconds: 3 },
      { text: "second", seconds: 1 },
    ],
    SIZE,
  );
  expect(svg).toContain(
    "@keyframes k0{0.00%,74.99%{visibility:visible}75.00%,100%{visibility:hidden}}.s0{visibility:hidden;",
  );
  expect(svg).toContain(
    "@keyframes k1{0%,74.99%{visibility:hidden}75.00%,99.99%{visibility:visible}}.s1{visibility:visible;",
  );
});
