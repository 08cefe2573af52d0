// The form of a new session.
import { expect, test } from "vitest";
import { createForm, type Form, onFormInput, setBackends, showProblem } from "../../../src/tui/fleet/form.ts";

const form = setBackends(createForm("/home/me"), ["claude", "codex", "demo"]);

function press(before: Form, ...keys: string[]) {
  let step: ReturnType<typeof onFormInput> = { form: before };
  for (const key of keys) {
    if (step === "closed") throw new Error("it is closed");
    const input =
      key.length === 1 ? ({ kind: "text", text: key } as const) : ({ kind: "key", chord: key } as const);
    step = onFormInput(step.form, input);
  }
  return step;
}

test("what is typed first is the task, and Enter starts it with the usual agent", () => {
  expect(press(form, ..."fix it", "enter")).toMatchObject({
    order: { backend: "claude", cwd: "/home/me", prompt: "fix it" },
    form: { isSent: true },
  });
});

test("a task may have several lines, and a paste is not cut at its first", () => {
  expect(press(form, "a", "alt-enter", "b", "enter")).toMatchObject({ order: { prompt: "a\nb" } });
  const pasted = onFormInput(form, { kind: "paste", text: "one\ntwo" });
  if (pasted === "closed") throw new Error("it is closed");
  expect(pasted.order).toBeUndefined();
  expect(press(pasted.form, "enter")).toMatchObject({ order: { prompt: "one\ntwo" } });
});

test("the agent is chosen by arrows or by its first letters", () => {
  const choosing = press(form, "tab");
  if (choosing === "closed") throw new Error("it is closed");
  expect(choosing.form.field).toBe("backend");
  expect(press(choosing.form, "right", "right")).toMatchObject({ form: { backend: "demo" } });
  expect(press(choosing.form, "left")).toMatchObject({ form: { backend: "demo" } });
  expect(press(choosing.form, "c")).toMatchObject({ form: { backend: "codex" } });
});

test("nothing is sent twice, and what was refused can be changed and sent again", () => {
  const sent = press(form, "a", "enter");
  if (sent === "closed") throw new Error("it is closed");
  expect(press(sent.form, "enter", "x")).toEqual({ form: sent.form });
  const again = showProblem(sent.form, "no such directory");
  expect(again.problem).toBe("no such directory");
  expect(press(again, "b", "enter")).toMatchObject({ order: { prompt: "ab" } });
});

test("without an agent or a directory it says what is missing", () => {
  expect(press(createForm("/x"), "enter")).toMatchObject({
    form: { problem: expect.stringMatching(/agent/) },
  });
  const result = press(form, "tab", "tab", "ctrl-u", "ctrl-s");
  expect(result).not.toHaveProperty("order");
  expect(result).toMatchObject({ form: { field: "cwd", problem: expect.stringMatching(/directory/) } });
});

test("Escape closes it, also after it was sent", () => {
  expect(press(form, "x", "escape")).toBe("closed");
  expect(press(form, "x", "enter", "escape")).toBe("closed");
});
