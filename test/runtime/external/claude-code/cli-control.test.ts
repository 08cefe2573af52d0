// The control protocol by its lines, without a process.
import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { CliControl } from "../../../../src/runtime/external/claude-code/cli-control.ts";
import type { ToolAnswer } from "../../../../src/runtime/external/claude-code/transport.ts";

interface Ground {
  control: CliControl;
  lines: { response?: object; request?: object; request_id?: string }[];
  answer(answer: ToolAnswer): void;
  signals: AbortSignal[];
}

function ground(): Ground {
  const lines: Ground["lines"] = [];
  const signals: AbortSignal[] = [];
  let resolve: (answer: ToolAnswer) => void = () => undefined;
  const control = new CliControl({
    write: (line) => lines.push(JSON.parse(line)),
    canUseTool: (_request, signal) => {
      signals.push(signal);
      return new Promise((settle) => {
        resolve = settle;
      });
    },
  });
  return { control, lines, signals, answer: (answer) => resolve(answer) };
}
const wish = { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: "toolu_1", input: { command: "ls" } };
const asks = (request: object = wish) => ({ type: "control_request", request_id: "r1", request });

describe("37: control protocol", () => {
  test("an answer goes back under the number of its question", async () => {
    const { control, lines, answer } = ground();
    expect(control.take(asks())).toBe(true);
    answer({ behavior: "deny", message: "no" });
    await tick();
    const response = { request_id: "r1", subtype: "success", response: { behavior: "deny", message: "no" } };
    expect(lines).toEqual([{ type: "control_response", response }]);
  });

  test("an answer that nobody waits for any more is not sent: taken back, or all has ended", async () => {
    const ends: ((control: CliControl) => void)[] = [
      (control) => control.take({ type: "control_cancel_request", request_id: "r1" }),
      (control) => control.close(),
    ];
    for (const end of ends) {
      const { control, lines, answer, signals } = ground();
      control.take(asks());
      end(control);
      expect(signals[0]?.aborted).toBe(true);
      answer({ behavior: "allow", updatedInput: {} });
      await tick();
      expect(lines).toEqual([]);
    }
  });

  test("our own questions settle: by an answer, by a refusal, by the end", async () => {
    const { control, lines } = ground();
    const [first, second, third] = [control.interrupt(), control.interrupt(), control.interrupt()];
    const told = (index: number, more: object) =>
      control.take({ type: "control_response", response: { request_id: lines[index]?.request_id, ...more } });
    told(0, { subtype: "success" });
    told(1, { subtype: "error", error: "not now" });
    control.close();
    expect(await Promise.all([first, second, third, control.interrupt()])).toEqual([
      { ok: true },
      { ok: false, error: "not now" },
      { ok: false, error: "claude has ended" },
      { ok: false, error: "claude has ended" },
    ]);
    expect(lines).toHaveLength(3);
  });

  test("names that are no names do no harm", async () => {
    const { control, lines } = ground();
    const odd = { toString: 1 };
    control.take(asks({ subtype: odd }));
    control.take({ type: "control_cancel_request", request_id: odd });
    control.take({ type: "control_response", response: { request_id: odd } });
    await tick();
    expect(lines).toMatchObject([
      { response: { subtype: "error", error: expect.stringContaining("know {") } },
    ]);
  });

  test("what is no control is somebody else's", () => {
    expect(ground().control.take({ type: "assistant" })).toBe(false);
  });
});
