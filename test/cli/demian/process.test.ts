// demian as its own process: its output streams, and how it is stopped from outside.
import { once } from "node:events";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { gate } from "../../support/gate.ts";
import {
  chatReply,
  chunk,
  type ModelServer,
  type Reply,
  sse,
  startModelServer,
} from "../../support/model-server.ts";
import { BuiltDemian } from "./built-demian.ts";
import { World } from "./world.ts";

const world = new World();
const demian = new BuiltDemian(world);
let model: ModelServer;

afterAll(() => world.remove());
beforeEach(async () => {
  model = await startModelServer();
  world.begin(model.url);
});
afterEach(() => model.close());

/** Sends one word, and resolves `left` when the client has disconnected. */
function hanging(): { reply: Reply; left: Promise<void>; sayMore(): void } {
  const left = gate();
  const more = gate();
  const reply: Reply = async ({ head, write, gone }) => {
    head();
    await write(sse(chunk({ content: "wait" })));
    await Promise.race([more.passed, gone]);
    await write(sse(chunk({ content: " more" })));
    await gone;
    left.open();
  };
  return { reply, left: left.passed, sayMore: more.open };
}

test("a message on stdin is answered on stdout", async () => {
  model.script(chatReply("Hello **there**."));
  const child = demian.start();
  let stdout = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stdin.end("hi");
  const [code] = (await once(child, "close")) as [number | null];
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello **there**.\n" });
});

describe("stopped from outside", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s disconnects from the model and exits with %i", async (signal, expected) => {
    const { reply, left } = hanging();
    model.script(reply);
    const child = demian.start("hi");
    child.stdin.end();
    await once(child.stderr, "data");
    child.kill(signal);
    const [code] = (await once(child, "close")) as [number | null];
    expect(code).toBe(expected);
    await left;
  });

  test("a reader that disconnects ends the task, quietly", async () => {
    const { reply, left, sayMore } = hanging();
    model.script(reply);
    const child = demian.start("--json", "hi");
    child.stdin.end();
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    let stdout = "";
    for await (const chunk of child.stdout) {
      stdout += chunk;
      // Leaving the loop closes the pipe.
      if (stdout.includes("model.text.delta")) break;
    }
    sayMore();
    const [code] = (await once(child, "close")) as [number | null];
    await left;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("a reader that disconnects before the answer is no error either", async () => {
    model.script(chatReply("the answer"));
    const child = demian.start("--quiet", "hi");
    child.stdin.end();
    child.stdout.destroy();
    child.stderr.resume();
    const [code] = (await once(child, "close")) as [number | null];
    expect(code).toBe(0);
  });

  test("a closed stderr does not end the task", async () => {
    model.script(chatReply("the answer"));
    const child = demian.start("hi");
    child.stdin.end();
    child.stderr.destroy();
    let stdout = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    const [code] = (await once(child, "close")) as [number | null];
    expect({ code, stdout }).toEqual({ code: 0, stdout: "the answer\n" });
  });
});
