// What goes to Claude Code as one message.
import { describe, expect, test } from "vitest";
import { attach, toUserTurn } from "../../../../src/runtime/external/claude-code/attachments.ts";

const image = (url: string) => ({ type: "image_url" as const, image_url: { url } });
const PNG = image("data:image/png;base64,AAAA");
const TIFF = image("data:image/tiff;base64,AAAA");
const contentOf = (prompt: string, images = [PNG].slice(1)) => toUserTurn({ prompt, images }).message.content;

describe("a message", () => {
  test("is its text, then its images", () => {
    expect(toUserTurn({ prompt: "look", images: [] })).toEqual({
      type: "user",
      message: { role: "user", content: "look" },
      parent_tool_use_id: null,
    });
    expect(contentOf("look", [PNG])).toMatchObject([{ type: "text", text: "look" }, { type: "image" }]);
  });

  test.each(["@a.txt", "see @/etc/passwd", "(@~/b)", 'in\n@"c d"', "看。@e"])(
    "that names a file is unchanged, and never the last block: %s",
    (prompt) => {
      expect(contentOf(prompt)).toMatchObject([{ text: prompt }, { text: expect.stringContaining("read") }]);
      expect(contentOf(prompt, [PNG])).toHaveLength(3);
      expect(toUserTurn({ prompt, images: [] })).toMatchObject({ client_composed: true });
    },
  );

  test.each(["mail me@example.org", "5 @ 3", "a@"])("that names none stays plain: %s", (prompt) => {
    expect(contentOf(prompt)).toBe(prompt);
  });
});

describe("an image that it does not take", () => {
  test("is refused with what to do", () => {
    expect(() => attach("look", [TIFF], "block")).toThrow(/image\/tiff.*attachmentFallback/);
  });

  test("is described in the text if configured", () => {
    expect(attach("look", [PNG, TIFF], "describe")).toEqual({
      prompt: "look\n[An image (image/tiff) was omitted: it cannot be read.]",
      images: [PNG],
    });
  });
});
