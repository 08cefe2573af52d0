// Own slash commands: their files, their arguments, and what a project may bring.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expandPrompt, type PromptCommand } from "../../src/runtime/prompts.ts";
import { Place } from "./place.ts";

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.close());

const named = (body: string): PromptCommand[] => [{ name: "review", body, scope: "user" }];

function putUser(path: string, text: string): void {
  const file = join(place.home, ".demian/commands", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

describe("arguments", () => {
  test.each([
    ["Review $ARGUMENTS now.", "/review src a", "Review src a now."],
    ["From $1 to $2, not $3.", "/review 'one two' three", "From one two to three, not ."],
    ["Costs $10 or $100.", "/review", "Costs $10 or $100."],
    ["Review it.", "/review src", "Review it.\n\nsrc"],
    ["Review it.", "/review", "Review it."],
    ["$ARGUMENTS", "/review $1 $ARGUMENTS", "$1 $ARGUMENTS"],
  ])("%j with %j", (body, text, expected) => {
    expect(expandPrompt(named(body), text)).toBe(expected);
  });

  test.each(["/other x", "review", "/review/x", "see /review"])("%j is no own command", (text) => {
    expect(expandPrompt(named("x"), text)).toBeUndefined();
  });
});

describe("files", () => {
  test("of the user are commands, with the description of their front matter", async () => {
    putUser("review.md", "---\ndescription: Looks at\n  a change\n---\nReview $1.\n");
    putUser("plain.md", "Just do it.\n");
    const { commands, warnings } = await place.runtime();
    expect(commands).toEqual([
      { name: "plain", body: "Just do it.", scope: "user" },
      { name: "review", body: "Review $1.", description: "Looks at a change", scope: "user" },
    ]);
    expect(warnings.filter((text) => text.includes("commands"))).toEqual([]);
  });

  test("that are faulty are skipped, each with its reason", async () => {
    putUser("Bad Name.md", "x");
    putUser("empty.md", "\n");
    putUser("broken.md", "---\ndescription: [\n---\nx");
    putUser("note.markdown", "x");
    const { commands, warnings } = await place.runtime();
    expect(commands).toEqual([]);
    for (const why of [
      /"Bad Name" is not a valid name/,
      /empty\.md: it has no text/,
      /broken\.md:\d+: /,
      /must end in \.md/,
    ])
      expect(warnings.some((text) => why.test(text))).toBe(true);
  });

  test("of the project need trust, and the user's win over them", async () => {
    place.write(".demian/commands/deploy.md", "Deploy.");
    place.write(".demian/commands/review.md", "Theirs.");
    putUser("review.md", "Mine.");
    const before = await place.runtime();
    expect(before.commands.map(({ body }) => body)).toEqual(["Mine."]);
    expect(
      before.warnings.some((text) =>
        /deploy\.md is not used: it is a command that you have not trusted/.test(text),
      ),
    ).toBe(true);
    const after = await place.runtime({ trust: { project: true } });
    expect(after.commands.map(({ body }) => body)).toEqual(["Mine.", "Deploy."]);
    expect((await place.runtime()).commands).toHaveLength(2);
    place.write(".demian/commands/deploy.md", "Deploy and tell.");
    expect((await place.runtime()).commands).toHaveLength(1);
  });
});
