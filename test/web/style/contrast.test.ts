// Every text color on every background it is used on, in both themes (WCAG 2.2 AA).
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = readFileSync(new URL("../../../web/style/tokens.css", import.meta.url), "utf8");
const THEMES = ["light", "dark"] as const;
const GROUNDS = ["bg", "bg-side", "bg-raised", "bg-sunk", "bg-hover"];
const TEXTS = ["text", "text-soft", "text-faint", "accent", "danger", "warn", "ok"];
const PAIRS: readonly [text: string, ground: string][] = [
  ...TEXTS.flatMap((text) => GROUNDS.map((ground): [string, string] => [text, ground])),
  ...["text", "text-soft", "accent"].map((text): [string, string] => [text, "bg-chosen"]),
  ...["ok", "warn", "danger", "info", "muse"].map((tone): [string, string] => [tone, `${tone}-bg`]),
  ...["text", "text-soft"].map((text): [string, string] => [text, "warn-bg"]),
  ...["accent", "ok"].flatMap((tone): [string, string][] => [
    ["on-fill", `${tone}-fill`],
    ["on-fill", `${tone}-fill-hover`],
  ]),
  ...["key", "text", "number", "name", "note"].map((kind): [string, string] => [`code-${kind}`, "bg-sunk"]),
  ...["add", "cut"].flatMap((kind): [string, string][] => [
    ["text", `${kind}-bg`],
    [`${kind}-mark`, "bg-side"],
    [`${kind}-mark`, "bg-sunk"],
    // Highlighted code on changed lines and on the words that differ.
    ...["text-faint", "code-note"].map((name): [string, string] => [name, `${kind}-bg`]),
    ...["text", "text-soft", "code-key", "code-text", "code-number", "code-name"].flatMap(
      (name): [string, string][] => [
        [name, `${kind}-bg`],
        [name, `${kind}-word`],
      ],
    ),
  ]),
  // The row of the session that is open has its age and cost; thoughts and states are on the page and on its bars.
  ["text-faint", "bg-chosen"],
  ...["info", "muse"].flatMap((tone) =>
    ["bg", "bg-side", "bg-hover"].map((ground): [string, string] => [tone, ground]),
  ),
];
/** Not text but must be visible: 3:1. */
const SIGNS: readonly [string, string][] = [
  ["line-field", "bg"],
  ["line-field", "bg-raised"],
  ["ring", "bg"],
  ["ring", "bg-side"],
  ...["1", "2", "3", "4", "5", "bad"].map((name): [string, string] => [`chart-${name}`, "bg-raised"]),
];

function colour(name: string, theme: (typeof THEMES)[number]): string {
  const found = new RegExp(`--${name}: (?:light-dark\\((#\\w{6}), (#\\w{6})\\)|(#\\w{6}));`).exec(css);
  const value = found?.[3] ?? found?.[theme === "light" ? 1 : 2];
  if (value === undefined) throw new Error(`tokens.css has no colour --${name}`);
  return value;
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

describe.each(THEMES)("the %s theme", (theme) => {
  test.each(PAIRS)("%s can be read on %s", (text, ground) => {
    expect(contrast(colour(text, theme), colour(ground, theme))).toBeGreaterThanOrEqual(4.5);
  });

  test.each(SIGNS)("%s can be seen on %s", (sign, ground) => {
    expect(contrast(colour(sign, theme), colour(ground, theme))).toBeGreaterThanOrEqual(3);
  });
});
