// The program `blemees`: alone the screen of all sessions, otherwise the commands of `sm`, under its own name.
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuiltProgram } from "../built-program.ts";
import { readModulesAtStart } from "../modules-at-start.ts";

let program: BuiltProgram;
let sm: BuiltProgram;
beforeAll(() => {
  program = new BuiltProgram("blemees");
  sm = new BuiltProgram("sm");
});
afterAll(() => {
  program.remove();
  sm.remove();
});

const NOWHERE = "/nonexistent/d.sock";
const run = (...args: string[]) => program.run(NOWHERE, args);

test("its help and version use its own name, and the help starts with the screens", async () => {
  const { stdout, code } = await run("--help");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^usage: blemees \[COMMAND …\]\n\n {2}blemees +all sessions on one screen/);
  expect(stdout).toContain("blemees web ");
  expect(stdout).not.toMatch(/\bsm /);
  expect((await run("--version")).stdout).toMatch(/^blemees \d+\.\d+\.\d+\S*\n$/);
});

test("both names have the help of every terminal screen", async () => {
  for (const word of ["tui", "attach", "codex-tui"]) {
    expect((await run("help", word)).stdout).toMatch(/^usage: blemees (tui|attach) /);
    expect((await sm.run(NOWHERE, ["help", word])).stdout).toMatch(/^usage: sm (tui|attach) /);
  }
});

test("usage errors use its own name, also as JSON", async () => {
  expect(await run("spwan")).toMatchObject({
    code: 2,
    stderr: "blemees: unknown command: spwan; did you mean spawn?\nTry 'blemees --help'.\n",
  });
  expect(await run("queue")).toMatchObject({
    code: 2,
    stderr: "blemees: usage: blemees queue ID\nTry 'blemees help queue'.\n",
  });
  const { stderr } = await run("queue", "--json");
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: "usage", message: "usage: blemees queue ID" },
  });
});

test("without a terminal the help is printed instead of the screen, under both names", async () => {
  expect(await run()).toEqual({ code: 0, stderr: "", stdout: (await run("--help")).stdout });
  const alone = await sm.run(NOWHERE, []);
  expect(alone).toMatchObject({ code: 0, stdout: expect.stringMatching(/^usage: sm \[COMMAND …\]\n/) });
});

test("without a terminal a screen is refused, and no daemon is started for it", async () => {
  for (const args of [["tui"], ["attach", "fixer"]]) {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^blemees: the screen needs a terminal .*; use `blemees tail -f`/);
  }
});

test("completion is for its own name and calls itself", async () => {
  const { stdout } = await run("completion", "bash");
  expect(stdout).toContain("complete -o default -F _blemees blemees");
  expect(stdout).toContain("$(blemees --no-start all --ids");
  expect(stdout).not.toContain("sm --no-start");
});

test("wire speaks the socket protocol, like blemeesctl", async () => {
  const help = await run("wire", "--help");
  expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/^usage: blemees wire /) });
  expect(help.stdout).not.toContain("blemeesctl");
  expect(await run("wire", "stauts")).toMatchObject({
    code: 2,
    stderr: "blemees: unknown command: stauts; did you mean status?\nTry 'blemees wire --help'.\n",
  });
  expect(await run("wire", "status")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^blemees: no daemon at /),
  });
});

test("UI code is not loaded before a screen is opened", async () => {
  for (const modules of await Promise.all(["blemees", "sm"].map(readModulesAtStart))) {
    const heavy = modules.filter((path) => /node_modules\/(marked|lowlight)\/|src\/tui\//.test(path));
    expect(heavy).toEqual([]);
  }
});
