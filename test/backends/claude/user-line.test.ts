import { describe, expect, test } from "vitest";
import { toUserLine } from "../../../src/backends/claude/user-line.ts";
import type { UserMessage } from "../../../src/protocol/content.ts";

describe("userLine", () => {
  test("the message is sent unchanged, in the order type, message, session_id", () => {
    expect(toUserLine({ role: "user", content: "hi", extra: 1 }, "s")).toBe(
      '{"type":"user","message":{"role":"user","content":"hi","extra":1},"session_id":"s"}',
    );
  });

  test.each([
    [{ role: "user", content: [] }, "/message/content"],
    [{ role: "assistant", content: "x" }, "/message/role"],
    [{ role: "user" }, "/message/content"],
    [{ role: "user", content: [{ type: "text" }] }, "/message/content/0/text"],
    [
      { role: "user", content: [{ type: "text", text: "a" }, { type: "image" }] },
      "/message/content/1/source",
    ],
    [{ role: "user", content: [{ type: "document" }] }, "/message/content/0/source"],
    [{ role: "user", content: ["text"] }, "/message/content/0"],
  ])("%j would end claude, so it is refused", (message, at) => {
    expect(() => toUserLine(message as UserMessage, "s")).toThrow(
      expect.objectContaining({ code: "invalid_message", message: expect.stringContaining(at) }),
    );
  });
});
