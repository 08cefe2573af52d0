import type { ContentBlock } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { parsePrompt } from "../../../src/runtime/acp/prompt.ts";

const LIMITS = { maxImageBytes: 30, detail: "auto" as const };
const DATA = Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1").toString("base64");
const PNG: ContentBlock = { type: "image", mimeType: "image/png", data: DATA };
const PART = { type: "image_url", image_url: { url: `data:image/png;base64,${DATA}`, detail: "auto" } };
const text = (words: string): ContentBlock => ({ type: "text", text: words });

describe("the blocks of a prompt", () => {
  test("that are text become one text, and two blocks never one word", () => {
    expect(parsePrompt([text("Look at"), text("this"), text(", please")], LIMITS)).toEqual({
      text: "Look at this, please",
      parts: [],
    });
  });

  test("links are mentions in place", () => {
    const link: ContentBlock = { type: "resource_link", uri: "file:///w/a%20b.ts", name: "a b.ts" };
    expect(parsePrompt([text("Fix "), link, text(" now")], LIMITS).text).toBe("Fix @/w/a b.ts now");
  });

  test("embedded files are mentioned, and follow as context", () => {
    const resource = { uri: "file:///w/a.ts", text: "const a = 1;" };
    const { text: words } = parsePrompt([{ type: "resource", resource }, text("explain")], LIMITS);
    expect(words).toBe('@/w/a.ts explain\n\n<context ref="file:///w/a.ts">\nconst a = 1;\n</context>');
  });

  test("images are data URLs, and text after them stays after them", () => {
    expect(parsePrompt([text("Before"), PNG, text("after")], LIMITS)).toEqual({
      text: "Before",
      parts: [PART, { type: "text", text: "after" }],
    });
    expect(parsePrompt([PNG, text("What is it?")], LIMITS)).toEqual({ text: "What is it?", parts: [PART] });
    expect(parsePrompt([PNG], LIMITS)).toEqual({ text: "", parts: [PART] });
  });

  test("an embedded image is an image, other bytes are only named", () => {
    const image = { uri: "file:///w/a.png", mimeType: "image/png", blob: DATA };
    const bytes = { uri: "file:///w/a.bin", blob: "aGVsbG8=" };
    const input = parsePrompt(
      [
        { type: "resource", resource: bytes },
        { type: "resource", resource: image },
      ],
      LIMITS,
    );
    expect(input).toEqual({ text: "@/w/a.bin (binary, content not shown)", parts: [PART] });
  });

  test.each<[string, ContentBlock[], RegExp]>([
    ["nothing", [], /empty/],
    ["only white space", [text(" \n")], /empty/],
    ["audio", [{ type: "audio", data: "aa", mimeType: "audio/wav" }], /audio/],
    ["no image", [{ ...PNG, data: "aGVsbG8=" }], /PNG, JPEG, GIF or WebP/],
    ["no base64", [{ ...PNG, data: "https://x" }], /not base64/],
    ["too large an image", [{ ...PNG, data: "a".repeat(100) }], /the limit is 30/],
  ])("%s is refused with a reason", (_name, blocks, message) => {
    expect(() => parsePrompt(blocks, LIMITS)).toThrow(message);
  });
});
