// Completion in the composer of the terminal: files after @, commands after /, by keys alone.
import { describe, expect, test } from "vitest";
import { keys, Player, typed } from "../support/ui.ts";

const FILES = [{ path: "src/app.ts" }, { path: "src/", is_directory: true as const }];

function afterAt(query = "ap", files: readonly { path: string; is_directory?: true }[] = FILES): Player {
  const player = new Player().press(...typed(`see @${query}`));
  return player.event({ kind: "files", query, files }).draw();
}

describe("@file", () => {
  test("each letter asks for the files of the word at the cursor", () => {
    const player = new Player().press(...typed("@ap"));
    expect(player.effects.map((effect) => effect.kind === "find_files" && effect.query)).toEqual([
      "",
      "a",
      "ap",
    ]);
  });

  test("Enter takes the selected file and sends nothing; the next Enter sends", () => {
    const player = afterAt();
    expect(player.screen()).toMatch(/> src\/app\.ts/);
    player.press(...keys("enter"));
    expect(player.ui.editor.text).toBe("see @src/app.ts ");
    expect(player.effects.some(({ kind }) => kind === "send")).toBe(false);
    player.press(...keys("enter"));
    expect(player.effects.at(-1)).toEqual({ kind: "send", text: "see @src/app.ts", how: "queue" });
  });

  test("Down selects, Tab takes, and a directory lists what is in it", () => {
    const player = afterAt().press(...keys("down", "tab"));
    expect(player.ui.editor.text).toBe("see @src/");
    expect(player.effects.at(-1)).toEqual({ kind: "find_files", query: "src/" });
  });

  test("Esc closes the list and keeps the text; Enter then sends it", () => {
    const player = afterAt().press(...keys("escape"));
    expect(player.screen()).not.toContain("src/app.ts");
    expect(player.press(...typed("p")).screen()).not.toContain("src/app.ts");
    player.press(...keys("enter"));
    expect(player.effects.at(-1)).toMatchObject({ kind: "send", text: "see @app" });
  });

  test("files that were found for earlier letters are not taken for the later ones", () => {
    const player = new Player().press(...typed("@ap"));
    player.event({ kind: "files", query: "a", files: [{ path: "wrong.ts" }] }).draw();
    expect(player.screen()).not.toContain("wrong.ts");
  });

  test("why there are no files is shown, and Enter sends", () => {
    const player = new Player().press(...typed("@x"));
    player.event({ kind: "files", query: "x", files: [], message: "the directory /gone does not exist" });
    expect(player.draw().screen()).toContain("/gone does not exist");
    expect(player.press(...keys("enter")).effects.at(-1)).toMatchObject({ kind: "send", text: "@x" });
  });

  test("names of files cannot write to the terminal", () => {
    const screen = afterAt("ap", [{ path: "a\u001b[2Jp\u202e.ts" }]).screen();
    expect(screen).not.toContain("\u001b[2J");
    expect(screen).not.toContain("\u202e");
  });

  test("without a directory to search, @ is an ordinary letter", () => {
    expect(new Player({ hasFiles: false }).press(...typed("@a")).effects).toEqual([]);
  });
});

describe("/command", () => {
  const commands = [
    { name: "/compact", summary: "shorter" },
    { name: "/commit", summary: "save" },
  ];

  test("Tab completes as far as all agree, then selects; Enter takes what is selected", () => {
    const player = new Player({ commands }).press(...typed("/c"), ...keys("tab"));
    expect(player.ui.editor.text).toBe("/com");
    player.press(...keys("tab"));
    expect(player.screen()).toMatch(/> \/compact/);
    player.press(...keys("down", "enter"));
    expect(player.ui.editor.text).toBe("/commit ");
  });

  test("Enter without a selection sends what was typed", () => {
    const player = new Player({ commands }).press(...typed("/com"), ...keys("enter"));
    expect(player.effects).toEqual([{ kind: "send", text: "/com", how: "queue" }]);
  });
});
