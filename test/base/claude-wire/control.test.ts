// The control protocol by its lines, without a process.
import { describe, expect, test } from "vitest";
import { ControlChannel, type ControlRequest } from "../../../src/base/claude-wire/control.ts";
import type { JsonObject } from "../../../src/base/json.ts";

function open(write: (line: string) => Promise<void> = () => Promise.resolve()) {
  const lines: { request_id?: string; response?: JsonObject }[] = [];
  const requests: ControlRequest[] = [];
  const control = new ControlChannel({
    name: "test",
    write: (line) => {
      lines.push(JSON.parse(line));
      return write(line);
    },
    request: (request) => requests.push(request),
  });
  return { control, lines, requests };
}
const asks = (request_id: unknown = "r1") => ({
  type: "control_request",
  request_id,
  request: { subtype: "can_use_tool", tool_name: "Bash" },
});
const cancel = (request_id: unknown) => ({ type: "control_cancel_request", request_id });

describe("requests from claude", () => {
  test("are answered once, under their id", async () => {
    const { control, lines, requests } = open();
    expect(control.take(asks())).toBe(true);
    expect(requests).toMatchObject([
      { request_id: "r1", subtype: "can_use_tool", body: { tool_name: "Bash" } },
    ]);
    expect(await control.answer("r1", { ok: true, response: { behavior: "deny" } })).toBe(true);
    expect(await control.answer("r1", { ok: false, error: "late" })).toBe(false);
    const response = { request_id: "r1", subtype: "success", response: { behavior: "deny" } };
    expect(lines).toEqual([{ type: "control_response", response }]);
  });

  test.each([
    ["cancelled", (control: ControlChannel) => control.take(cancel("r1"))],
    ["closed", (control: ControlChannel) => control.close()],
  ])("that are %s abort and take no answer", async (_how, end) => {
    const { control, lines, requests } = open();
    control.take(asks());
    end(control);
    expect(requests[0]?.signal.aborted).toBe(true);
    expect(await control.answer("r1", { ok: true, response: {} })).toBe(false);
    expect(lines).toEqual([]);
  });

  test("are ignored if they come twice, have no usable id, or come after the end", () => {
    const { control, requests } = open();
    for (const id of ["r1", "r1", 7, { toString: 1 }, undefined]) control.take(asks(id ?? null));
    control.close();
    control.take(asks("r2"));
    expect(requests.map(({ request_id }) => request_id)).toEqual(["r1"]);
  });

  test("a write that fails rejects the answer, and a refusal ignores it", async () => {
    const { control } = open(() => Promise.reject(new Error("EPIPE")));
    control.take(asks("a"));
    control.take(asks("b"));
    control.refuse("a", "no");
    await expect(control.answer("b", { ok: true, response: {} })).rejects.toThrow("EPIPE");
  });
});

describe("our requests", () => {
  test("settle with an answer, with an error, or with the end", async () => {
    const { control, lines } = open();
    const answers = [1, 2, 3].map(() => control.request({ subtype: "interrupt" }));
    const settle = (index: number, more: object) =>
      control.take({ type: "control_response", response: { request_id: lines[index]?.request_id, ...more } });
    settle(0, { subtype: "success" });
    settle(1, { subtype: "error", error: "not now" });
    settle(1, { subtype: "success" });
    control.close();
    expect(await Promise.all([...answers, control.request({ subtype: "interrupt" })])).toEqual([
      { ok: true, response: {} },
      { ok: false, error: "not now" },
      { ok: false, error: "claude has ended" },
      { ok: false, error: "claude has ended" },
    ]);
    expect(lines).toHaveLength(3);
  });
});

test("malformed control frames are harmless, and other frames are not taken", () => {
  const { control, lines, requests } = open();
  const odd = { toString: 1 };
  for (const frame of [
    cancel(odd),
    { type: "control_response", response: { request_id: odd } },
    { type: "control_response" },
    { type: "control_request", request_id: "r1", request: 7 },
  ]) {
    expect(control.take(frame)).toBe(true);
  }
  expect(requests).toMatchObject([{ subtype: "", body: {} }]);
  expect(control.take({ type: "assistant" })).toBe(false);
  expect(lines).toEqual([]);
});
