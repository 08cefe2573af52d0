// A conversation with the real claude through the daemon.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PATIENT } from "../../support/patience.ts";
import { ofType, resume, type Talk } from "../world.ts";
import { type ClaudeWorld, openWorld } from "./world.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let world: ClaudeWorld;
/** For tests that leave nothing in their session: each claude takes a second to start. */
let shared: Talk;
beforeAll(async () => {
  world = await openWorld();
  shared = await world.session();
});
afterAll(() => world.close());

test("turns follow each other in one process, and the context grows", async () => {
  const talk = await world.session();
  expect(talk.opened).toMatchObject({ type: "blemeesd.opened", last_seq: 0 });
  const startedMs = performance.now();
  const first = await talk.say("remember the blue whale");
  const firstMs = performance.now() - startedMs;
  const second = await talk.say("#mock:context");
  const secondMs = performance.now() - startedMs - firstMs;
  console.log(`warm first turn: ${Math.round(firstMs)} ms, second: ${Math.round(secondMs)} ms`);
  expect(first.text).toBe("You said: remember the blue whale");
  expect(first.result).toMatchObject({ subtype: "success", num_turns: 1 });
  expect(first.result["usage"]).toMatchObject({ input_tokens: 10, output_tokens: 20 });
  expect(second.text).toContain("remember the blue whale");
  expect(ofType(first.frames, "agent.system_init")).toHaveLength(1);
  const info = await talk.client.request({ type: "blemeesd.session_info", session_id: talk.session_id });
  expect(info).toMatchObject({ turns: 2, context_tokens: 18, cwd: world.cwd, subprocess_running: true });
});

test("text and thinking arrive word by word, then as a complete message", async () => {
  const talk = shared;
  const turn = await talk.say("#mock:think I see now");
  const deltas = ofType(turn.frames, "agent.delta");
  const said = (kind: string) =>
    deltas.flatMap((delta) => (delta["kind"] === kind ? [delta["text"]] : [])).join("");
  expect(said("thinking")).toBe("One. Two. Three.");
  expect(said("text")).toBe("I see now");
  expect(turn.text).toBe("I see now");
  expect(turn.result["time_to_first_token_ms"]).toBeGreaterThan(0);
});

test("a tool runs: its use, its result and the answer that follows", async () => {
  const talk = shared;
  const turn = await talk.say("#mock:bash echo from-the-shell");
  const [use] = ofType(turn.frames, "agent.tool_use");
  expect(use).toMatchObject({ name: "Bash" });
  const [result] = ofType(turn.frames, "agent.tool_result");
  expect(result).toMatchObject({
    tool_use_id: use?.["tool_use_id"],
    output: "from-the-shell",
    is_error: false,
  });
  expect(turn.text).toBe("tool said: from-the-shell");
  expect(ofType(turn.frames, "agent.result")).toHaveLength(1);
});

test("an image reaches the model", async () => {
  const talk = shared;
  const source = { type: "base64", media_type: "image/png", data: PIXEL };
  const turn = await talk.say([
    { type: "image", source },
    { type: "text", text: "#mock:image" },
  ]);
  expect(turn.text).toBe("images: image/png");
});

test("a sub-agent's events carry the tool call that started it", async () => {
  const talk = await world.session();
  const input = {
    description: "sub",
    prompt: "#mock:bash echo from-below",
    subagent_type: "general-purpose",
  };
  const turn = await talk.say(`#mock:tool Agent ${JSON.stringify(input)}`);
  const use = ofType(turn.frames, "agent.tool_use").find((frame) => frame["name"] === "Agent");
  // Since 2.1.325 it continues after the turn.
  const childrenSoFar = () => {
    const found = talk.client.frames.filter((frame) => frame["parent_tool_use_id"] !== undefined);
    expect(JSON.stringify(ofType(found, "agent.tool_result"))).toContain("from-below");
    return found;
  };
  const children = await vi.waitFor(childrenSoFar, PATIENT);
  expect(children.map((frame) => frame.type)).toContain("agent.tool_use");
  for (const child of children) expect(child["parent_tool_use_id"]).toBe(use?.["tool_use_id"]);
  expect(ofType(turn.frames, "agent.result")).toHaveLength(1);
});

test("/clear gives claude a new id; the session keeps its own and resumes the new one", async () => {
  const talk = await world.session();
  await talk.say("forget this elephant");
  const cleared = await talk.say("/clear");
  expect(cleared.result["subtype"]).toBe("success");
  await talk.say("keep this zebra");
  const info = await talk.client.request({ type: "blemeesd.session_info", session_id: talk.session_id });
  expect(info["native_session_id"]).not.toBe(talk.session_id);
  talk.client.close();
  const again = await resume(world, talk);
  expect(again.opened).toMatchObject({ native_session_id: info["native_session_id"] });
  const context = await again.say("#mock:context");
  expect(context.text).toContain("zebra");
  expect(context.text).not.toContain("elephant");
});
