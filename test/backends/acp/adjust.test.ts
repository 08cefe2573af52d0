// Model and mode of a running ACP agent, in the shapes in which agents offer them.
import { expect, test } from "vitest";
import { Offers } from "../../../src/protocol/settings.ts";
import { fakeAgent } from "./fake.ts";

const SETTERS = ["session/set_mode", "session/set_model", "session/set_config_option"];

test.each([
  ["modes and models", "plain"],
  ["options", "options"],
  ["both", "both"],
])("%s: they are set in the agent, and it introduces itself again", async (_what, shape) => {
  const agent = fakeAgent({ shape });
  const { run, sink } = await agent.start();
  await run.adjust?.({ model: "large", permission_mode: "auto" }, {});
  const calls = agent.heard().filter(({ method = "" }) => SETTERS.includes(method));
  expect(calls).toHaveLength(2);
  const init = sink.events.findLast(({ type }) => type === "agent.system_init");
  expect(init).toMatchObject({ model: "large", capabilities: { mode: "auto" } });
  const { model, permission_mode } = Offers.parse(await run.offers?.());
  expect(model).toEqual({ current: "large", values: [{ value: "small" }, { value: "large" }] });
  expect(permission_mode).toEqual({ current: "auto", values: [{ value: "ask" }, { value: "auto" }] });
});

test.each([
  ["a mode that it does not offer", "both", { permission_mode: "yolo" }, "invalid_message", "ask, auto"],
  ["a model that it does not offer", "options", { model: "huge" }, "invalid_message", "small, large"],
  [
    "a mode where there is none",
    "none",
    { permission_mode: "ask" },
    "setting_refused",
    "does not let clients",
  ],
])("%s is refused", async (_what, shape, change, code, words) => {
  const { run } = await fakeAgent({ shape }).start();
  await expect(run.adjust?.(change, {})).rejects.toMatchObject({
    code,
    message: expect.stringContaining(words),
  });
});

test("its commands are those that it reported last", async () => {
  const { run } = await fakeAgent().start();
  await expect.poll(async () => (await run.offers?.())?.commands).toEqual([{ name: "compact" }]);
});

test("the options keep them while it runs; without it nobody knows what it offers", () => {
  const { backend } = fakeAgent();
  const change = backend.settings?.change;
  expect(change?.({ cwd: "/p" }, { model: "large", permission_mode: "auto" }, true)).toEqual({
    cwd: "/p",
    model: "large",
    mode: "auto",
  });
  for (const [wish, isRunning] of [
    [{ model: "large" }, false],
    [{ effort: "low" }, true],
  ] as const)
    expect(() => change?.({}, wish, isRunning)).toThrow(expect.objectContaining({ code: "setting_refused" }));
});
