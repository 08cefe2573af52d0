// Model and permission mode of a running claude, and of its options.
import { expect, test } from "vitest";
import { CLAUDE_SETTINGS } from "../../../src/backends/claude/adjust.ts";
import { Offers } from "../../../src/protocol/settings.ts";
import { user } from "../conformance.ts";
import { fakeHome, startFake } from "./fake.ts";

test("a running claude takes them, and reports them with its next turn", async () => {
  const { run, sink } = await startFake();
  await run.adjust?.({ model: "sonnet", permission_mode: "plan" }, {});
  await run.send(user("#say hi"));
  await sink.untilResults(1);
  const init = sink.events.find(({ type }) => type === "agent.system_init");
  expect(init).toMatchObject({ model: "sonnet", capabilities: { permission_mode: "plan" } });
});

test("what claude refuses is refused with its words, and the model is not changed then", async () => {
  const { run, sink } = await startFake();
  await expect(
    run.adjust?.({ model: "sonnet", permission_mode: "bypassPermissions" }, {}),
  ).rejects.toMatchObject({ code: "setting_refused", message: expect.stringContaining("not launched with") });
  await run.send(user("#say hi"));
  await sink.untilResults(1);
  expect(sink.events.find(({ type }) => type === "agent.system_init")).toMatchObject({
    model: "claude-fake-1",
  });
});

test("a stub without a control channel takes them only when it starts", async () => {
  const { run } = await startFake({}, { home: fakeHome({ FAKE_CLAUDE_PLAIN: "1" }) });
  await expect(run.adjust?.({ model: "sonnet" }, {})).rejects.toMatchObject({ code: "setting_refused" });
});

test("it offers the models and commands that it reports at its start", async () => {
  const { run } = await startFake();
  expect(Offers.parse(await run.offers?.())).toEqual({
    model: {
      values: [
        { value: "default", name: "Default", description: "The usual one" },
        { value: "sonnet", name: "Sonnet" },
      ],
    },
    commands: [
      { name: "compact", description: "Summarize the conversation", hint: "[how]" },
      { name: "init" },
    ],
  });
});

test("the options keep them; unknown modes, and another effort while it runs, are refused", () => {
  const { change, list } = CLAUDE_SETTINGS;
  const options = { cwd: "/p", approvals: true };
  expect(change(options, { model: "opus", permission_mode: "plan" }, true)).toEqual({
    ...options,
    model: "opus",
    permission_mode: "plan",
  });
  expect(change(options, { effort: "low" }, false)).toEqual({ ...options, effort: "low" });
  expect(() => change(options, { permission_mode: "bogus" }, false)).toThrow(
    expect.objectContaining({ code: "invalid_message", message: expect.stringContaining("acceptEdits") }),
  );
  expect(() => change(options, { effort: "low" }, true)).toThrow(
    expect.objectContaining({ code: "setting_refused" }),
  );
  expect(() => change(options, { model: "--bare" }, false)).toThrow();
  expect(list({ permission_mode: "plan" })).toMatchObject({ permission_mode: { current: "plan" } });
});
