// How a message to the program is cancelled and reported.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ClaudeMessage } from "../../../../src/runtime/external/claude-code/transport.ts";
import { processesWith, untilGone, untilRuns } from "../../../e2e/processes.ts";
import { PATIENT } from "../../../support/patience.ts";
import { CliStage, type Heard, notices } from "./cli-stage.ts";

let stage: CliStage;
beforeEach(() => {
  stage = new CliStage();
});
afterEach(async () => {
  await untilGone(mark());
  stage.close();
});
const mark = () => `DEMIAN_TEST_HOME=${stage.root}`;

/** Aborts as soon as `when` has come. */
async function cancelled(prompt: string, when: (message: ClaudeMessage) => boolean): Promise<Heard> {
  const controller = new AbortController();
  return stage.hear(prompt, { signal: controller.signal }, (message) => {
    if (when(message)) controller.abort();
  });
}
const isDelta = ({ type }: ClaudeMessage) => type === "stream_event";
const isInit = ({ subtype }: ClaudeMessage) => subtype === "init";

describe("37: cancellation", () => {
  test("an interrupt in the middle of a text ends it without an error, with what was said", async () => {
    const { messages, error } = await cancelled("#slow 1000 20", isDelta);
    expect(error).toBeUndefined();
    expect(messages.find(({ type }) => type === "result")).toMatchObject({
      terminal_reason: "aborted_streaming",
    });
    expect(JSON.stringify(messages)).toContain("tick0");
    expect(notices(messages)).toEqual([expect.stringMatching(/^it stopped when interrupted; \d+ ms$/)]);
    expect(processesWith(mark())).toEqual([]);
  });

  test("an interrupt in the middle of a command leaves no process of it", async () => {
    const controller = new AbortController();
    const heard = stage.hear("#tool sleep 63 & sleep 64", { signal: controller.signal });
    await Promise.all([untilRuns(mark(), "sleep 63"), untilRuns(mark(), "sleep 64")]);
    controller.abort();
    expect((await heard).error).toBeUndefined();
    expect(processesWith(mark())).toEqual([]);
  });

  test.each([
    ["#deaf", /^it did not acknowledge the interrupt within 500 ms; it was ended by SIGTERM; \d+ ms$/],
    [
      "#ack-only",
      /^it acknowledged the interrupt but did not stop within 2000 ms; it was ended by SIGTERM; \d+ ms$/,
    ],
    ["#ignore-term #deaf", /within 500 ms; it ignored SIGTERM and was killed \(SIGKILL\); \d+ ms$/],
  ])("%s: each step is reported, and the process is gone", async (prompt, words) => {
    const { messages, error } = await cancelled(`#say begun ${prompt}`, ({ type }) => type === "assistant");
    expect(error).toBeUndefined();
    expect(notices(messages)).toEqual([expect.stringMatching(words)]);
    expect(processesWith(mark())).toEqual([]);
  });

  test("a question that is open is aborted at once", async () => {
    const controller = new AbortController();
    const heard = await stage.hear("#ask true", {
      signal: controller.signal,
      canUseTool: (_request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve({ behavior: "deny", message: "aborted" }));
          controller.abort();
        }),
    });
    expect(heard.error).toBeUndefined();
    expect(notices(heard.messages)).toEqual([expect.stringContaining("it stopped when interrupted")]);
  });

  test("a crash during an interrupt is reported, and is not an error", async () => {
    const { error, messages } = await cancelled("#crash 5", isInit);
    expect(error).toBeUndefined();
    expect(notices(messages)).toHaveLength(1);
  });

  test("before it has started", async () => {
    stage.env["FAKE_CLAUDE_FAULT"] = "slow-start";
    const controller = new AbortController();
    const heard = stage.hear("hello", { signal: controller.signal });
    await vi.waitFor(() => {
      expect(processesWith(mark())).toMatchObject([{ command: expect.stringContaining("--output-format") }]);
    }, PATIENT);
    controller.abort();
    const { error, messages } = await heard;
    expect(error).toBeUndefined();
    expect(notices(messages)).toEqual([
      expect.stringContaining("it had not started; it was ended by SIGTERM"),
    ]);
  });

  test("nothing is started for a message that is aborted already", async () => {
    const { messages, error } = await stage.hear("hello", { signal: AbortSignal.abort() });
    expect([messages, error]).toEqual([[], undefined]);
  });
});
