// Model, mode and effort of a Codex thread: parameters of its next turns, and options for later starts.
import { expect, test } from "vitest";
import { createCodexSettings } from "../../../src/backends/codex/app-server/adjust.ts";
import { checkCodexOptions } from "../../../src/backends/codex/options.ts";
import { Offers } from "../../../src/protocol/settings.ts";
import { user } from "../conformance.ts";
import { fakeCodex } from "./fake.ts";

const { change, list } = createCodexSettings((block) =>
  checkCodexOptions(block, { allowConfig: [], transport: undefined }),
);

test("they are sent with every later turn, and only what was changed", async () => {
  const { start } = fakeCodex();
  const { run, sink } = await start();
  await run.send(user("#turn"));
  await sink.untilResults(1);
  const options = change({}, { model: "gpt-x", permission_mode: "plan", effort: "low" }, true);
  await run.adjust?.({ model: "gpt-x", permission_mode: "plan", effort: "low" }, options);
  for (const results of [2, 3]) {
    await run.send(user("#turn"));
    await sink.untilResults(results);
  }
  const [before = "", ...after] = sink.texts;
  expect(JSON.parse(before)).not.toHaveProperty("sandboxPolicy");
  for (const text of after)
    expect(JSON.parse(text)).toMatchObject({
      model: "gpt-x",
      effort: "low",
      approvalPolicy: "on-request",
      sandboxPolicy: { type: "readOnly" },
      collaborationMode: { mode: "plan", settings: { model: "gpt-x", reasoning_effort: "low" } },
    });
  await run.adjust?.({ permission_mode: "auto" }, change(options, { permission_mode: "auto" }, true));
  await run.send(user("#turn"));
  await sink.untilResults(4);
  expect(JSON.parse(sink.texts.at(-1) ?? "")).toMatchObject({
    model: "gpt-x",
    sandboxPolicy: { type: "workspaceWrite" },
    collaborationMode: { mode: "default" },
  });
});

test("the models that it offers, with the efforts of the current one", async () => {
  const { start } = fakeCodex();
  const { run } = await start({ model: "gpt-fake" });
  expect(Offers.parse(await run.offers?.())).toEqual({
    model: {
      current: "gpt-fake",
      values: [
        { value: "gpt-fake", name: "Fake", description: "The usual one" },
        { value: "gpt-x", name: "X" },
      ],
    },
    effort: { values: [{ value: "low", description: "Quick" }, { value: "high" }] },
  });
});

test("the options keep them, and say which mode they are", () => {
  const modes = ["read-only", "auto", "full-access", "plan"];
  for (const mode of modes)
    expect(list(change({ cwd: "/p" }, { permission_mode: mode }, false)).permission_mode).toMatchObject({
      current: mode,
    });
  expect(list({ sandbox: "read-only" }).permission_mode).not.toHaveProperty("current");
  expect(() => change({}, { permission_mode: "yolo" }, false)).toThrow(
    expect.objectContaining({ code: "invalid_message", message: expect.stringContaining(modes.join(", ")) }),
  );
});
