// Claude Code as a program, with a fake that was made from recorded traffic.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CliTransport } from "../../../../src/runtime/external/claude-code/cli.ts";
import { processesWith, untilGone } from "../../../e2e/processes.ts";
import { CliStage, notices } from "./cli-stage.ts";

let stage: CliStage;
beforeEach(() => {
  stage = new CliStage();
});
afterEach(async () => {
  await untilGone(`DEMIAN_TEST_HOME=${stage.root}`);
  stage.close();
});
const mark = () => `DEMIAN_TEST_HOME=${stage.root}`;

describe("37: a message by the program", () => {
  test("the message goes in, its messages come out, and no process of it is left", async () => {
    const { messages, text, error } = await stage.hear("good morning");
    expect(error).toBeUndefined();
    expect(text).toBe("You said: good morning");
    expect(messages.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["system", "assistant", "result"]),
    );
    expect(processesWith(mark())).toEqual([]);
  });

  test("the system prompt is not an argument: any user can read those", async () => {
    expect((await stage.hear("#system")).text).toBe("Be brief.");
    expect((await stage.hear("#argv")).text).not.toContain("Be brief.");
  });

  test("it resumes the given session", async () => {
    const { messages } = await stage.hear("remember the heron");
    const resume = String(messages.find(({ session_id }) => typeof session_id === "string")?.["session_id"]);
    expect((await stage.hear("#context", { resume })).text).toContain("remember the heron");
    expect((await stage.hear("#context")).text).not.toContain("remember the heron");
  });

  test("a session that is gone is a result and no error", async () => {
    const resume = "00000000-0000-4000-8000-000000000000";
    const { messages, error } = await stage.hear("hello", { resume });
    expect(error).toBeUndefined();
    expect(messages.at(-1)).toMatchObject({
      type: "result",
      errors: [`No conversation found with session ID: ${resume}`],
    });
  });

  test("images go along", async () => {
    const url = "data:image/png;base64,AAAA";
    const { text } = await stage.hear("#image", { images: [{ type: "image_url", image_url: { url } }] });
    expect(text).toBe("images: image/png");
  });

  test("its environment is the order's, without the variables of an outer claude", async () => {
    stage.env["MINE"] = "yes";
    stage.env["DEMIAN_CLAUDE_ID"] = "outer";
    expect((await stage.hear("#env MINE #env DEMIAN_CLAUDE_ID")).text).toMatch(/^yes (?!outer)\S+$/);
  });
});

describe("37: permissions by the control protocol", () => {
  test("every tool is asked about, including those it would run on its own", async () => {
    const { text } = await stage.hear("#tool echo from-the-shell");
    expect(text).toBe("tool said: from-the-shell");
    expect(stage.asked).toMatchObject([{ tool: "Bash", input: { command: "echo from-the-shell" } }]);
    expect(stage.asked[0]?.callId).toMatch(/^toolu_/);
    // The reason is our own hook.
    expect(stage.asked[0]).not.toHaveProperty("reason");
  });

  test("a refused call does not run, and claude gets the reason", async () => {
    const canUseTool = () => Promise.resolve({ behavior: "deny", message: "not on a Sunday" } as const);
    const { text } = await stage.hear("#tool touch made", { canUseTool });
    expect(text).toBe("tool said: not on a Sunday");
  });

  test("a refusal that stops the turn ends it", async () => {
    const canUseTool = () => Promise.resolve({ behavior: "deny", message: "no", interrupt: true } as const);
    const { messages, error } = await stage.hear("#tool touch made", { canUseTool });
    expect(error).toBeUndefined();
    const result = messages.find(({ type }) => type === "result");
    expect(result).toMatchObject({ terminal_reason: "aborted_tools" });
  });

  test("a failed decision is a refusal", async () => {
    const canUseTool = () => Promise.reject(new Error("the gate fell"));
    expect((await stage.hear("#tool touch made", { canUseTool })).text).toBe("tool said: the gate fell");
  });

  test("a request names the sub-agent that asks, and has its title", async () => {
    await stage.hear("#ask-sub make all");
    expect(stage.asked).toMatchObject([{ agentId: "agent-inner", title: "fake command" }]);
  });

  test("a question that is taken back is aborted, and its late answer goes nowhere", async () => {
    let isAborted = false;
    const { text } = await stage.hear("#ask-take-back", {
      canUseTool: (_request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            isAborted = true;
            resolve({ behavior: "allow", updatedInput: {} });
          });
        }),
    });
    expect(text).toBe("decided by myself");
    expect(isAborted).toBe(true);
  });

  test.each([
    "#ask-raw {}",
    '#ask-raw {"tool_name":"Bash","tool_use_id":"t","input":7}',
    "#control frobnicate",
  ])("%s is answered with an error, and the user is not asked", async (prompt) => {
    expect((await stage.hear(prompt)).text).toContain("demian does not support");
    expect(stage.asked).toEqual([]);
  });
});

describe("37: stream-json", () => {
  test.each(["#garbage", "#half-json", "#array", "#half-utf8", "#nul", "#deep"])(
    "%s is skipped with a warning, and the answer arrives",
    async (prompt) => {
      const { messages, text, error } = await stage.hear(`${prompt} #say all the same`);
      expect(error).toBeUndefined();
      expect(text).toBe("all the same");
      expect(notices(messages)).toEqual([
        expect.stringMatching(/^skipped a line of \d+ characters from Claude Code: /),
      ]);
    },
  );

  test("endless garbage gives one warning", async () => {
    const { messages, text } = await stage.hear("#garbage #garbage #garbage #say done");
    expect([text, notices(messages)]).toEqual(["done", [expect.stringContaining("not JSON")]]);
  });

  test.each([
    ["#drip", "", "dripped ☂"],
    ["#crlf #say fine", "fine", "fine"],
    ["#u2028", "line\u2028separator\u2029and 🦀", "line"],
  ])("%s: lines come whole, however they are cut", async (prompt, result, said) => {
    const { messages, text, error } = await stage.hear(prompt);
    expect(error).toBeUndefined();
    expect(text).toBe(result);
    expect(JSON.stringify(messages)).toContain(said);
    expect(notices(messages)).toEqual([]);
  });

  test("an endless line is not kept, and the answer after it arrives", async () => {
    stage.transport = new CliTransport({ maxLineBytes: 100_000 });
    const { messages, text } = await stage.hear("#oversize 300000 #say small again");
    expect(text).toBe("small again");
    expect(notices(messages)).toEqual([expect.stringContaining("longer than 100000 bytes")]);
  });

  test("a result that cannot be read ends the message with a sentence", async () => {
    stage.transport = new CliTransport({ maxLineBytes: 2000 });
    const { error } = await stage.hear(`#say ${"long ".repeat(1000)}`);
    expect(error).toMatchObject({ code: "died", message: expect.stringContaining("could not be read") });
  });

  test("the last line may lack its newline", async () => {
    const { text, error } = await stage.hear("#no-newline-exit");
    expect([text, error]).toEqual(["no newline", undefined]);
  });

  test("more than can be kept is not read from it, and nothing is lost", async () => {
    let count = 0;
    for await (const { type } of stage.transport.run(stage.order("#flood 5000 100"))) {
      if (type === "stream_event") count += 1;
      if (count % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(count).toBeGreaterThanOrEqual(5000);
  });
});

describe("37: ends", () => {
  test.each([
    ["#crash 3", "Claude Code ended without a result (exit code 3); stderr: Error: something broke"],
    ["#crash-silent 4", "Claude Code ended without a result (exit code 4)"],
    ["#sigkill", "Claude Code ended without a result (SIGKILL)"],
    ["#no-result-exit0", "Claude Code ended without a result (exit code 0)"],
    ["#stderr 100 #crash-silent", "warning 99"],
  ])("%s: the message says how, with the end of stderr", async (prompt, words) => {
    const { error } = await stage.hear(prompt);
    expect(error).toMatchObject({ code: "died", message: expect.stringContaining(words) });
    expect((error as Error).message.length).toBeLessThan(3000);
  });

  test("what closes its output and stays is ended", async () => {
    expect((await stage.hear("#close-stdout")).error).toMatchObject({ code: "died" });
    expect(processesWith(mark())).toEqual([]);
  });

  test("processes that it leaves running are ended", async () => {
    expect((await stage.hear("#orphan sleep 61 #say gone")).text).toBe("gone");
    expect(processesWith(mark())).toEqual([]);
    expect((await stage.hear("#crash-tool sleep 62")).error).toMatchObject({ code: "died" });
    expect(processesWith(mark())).toEqual([]);
  });

  test.each(["exit-at-start", "silent-exit"])("%s: it did not start, with its stderr", async (fault) => {
    stage.env["FAKE_CLAUDE_FAULT"] = fault;
    const { error } = await stage.hear("hello");
    expect(error).toMatchObject({ code: "start_failed", message: expect.stringContaining("exit code 1") });
    if (fault === "exit-at-start") expect((error as Error).message).toContain("Error: broken");
  });

  test("leaving the loop ends the process", async () => {
    for await (const { type } of stage.transport.run(stage.order("#say one #hang"))) {
      if (type === "assistant") break;
    }
    expect(processesWith(mark())).toEqual([]);
  });
});
