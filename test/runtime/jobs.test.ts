import { expect, test } from "vitest";
import { formatReports, Jobs, type JobView, MAX_RUNNING_JOBS } from "../../src/runtime/jobs/jobs.ts";
import type { CommandRequest, CommandResult, Sandbox } from "../../src/runtime/sandbox/types.ts";

interface Run {
  order: CommandRequest;
  end(result?: Partial<CommandResult>): void;
}

/** Commands that run until the test ends them, or they are aborted. */
function createJobs() {
  const runs: Run[] = [];
  const ended: JobView[] = [];
  const sandbox: Sandbox = {
    mode: "off",
    adapter: "off",
    run: (order) =>
      new Promise((resolve) => {
        const end = (result: Partial<CommandResult> = { code: 0 }) =>
          resolve({ timedOut: false, aborted: false, adapter: "off", ...result });
        order.signal.addEventListener("abort", () => end({ aborted: true }));
        runs.push({ order, end });
      }),
  };
  const jobs = new Jobs(sandbox, (job) => ended.push(job));
  const start = (command: string) => jobs.start({ command, cwd: "/w", env: {} });
  const say = (at: number, text: string | Buffer) => runs[at]?.order.output(Buffer.from(text));
  return { jobs, runs, ended, start, say };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("the output is read once, from where the last reading ended", () => {
  const { jobs, start, say } = createJobs();
  const { id } = start("npm start");
  expect(jobs.read(id)).toMatchObject({ text: "", skippedBytes: 0, job: { command: "npm start" } });
  say(0, "one\n");
  say(0, "two\n");
  expect(jobs.read(id).text).toBe("one\ntwo\n");
  expect(jobs.read(id).text).toBe("");
  say(0, "three\n");
  expect(jobs.read(id).text).toBe("three\n");
});

test("only the end of a long output is kept, and what is missing is said", () => {
  const { jobs, start, say } = createJobs();
  const { id } = start("yes");
  for (let at = 0; at < 200; at += 1) say(0, "x".repeat(1024));
  expect(jobs.read(id)).toMatchObject({ skippedBytes: (200 - 64) * 1024, job: { outputBytes: 200 * 1024 } });
  expect(jobs.read(id).skippedBytes).toBe(0);
});

test("a character that is cut arrives whole with the next reading", () => {
  const { jobs, start, say } = createJobs();
  const { id } = start("x");
  const bytes = Buffer.from("aé");
  say(0, bytes.subarray(0, 2));
  expect(jobs.read(id).text).toBe("a");
  say(0, bytes.subarray(2));
  expect(jobs.read(id).text).toBe("é");
});

test("its end is reported once to the user and once to the model", async () => {
  const { jobs, runs, ended, start } = createJobs();
  start("npm test\nmore");
  runs[0]?.end({ code: 1 });
  await settle();
  expect(ended).toMatchObject([{ id: 1, end: "exit code 1" }]);
  const reports = jobs.takeReports();
  expect(formatReports(reports)).toBe("[job 1 has ended: exit code 1; tail_job shows its output: npm test]");
  expect(jobs.takeReports()).toEqual([]);
});

test("one that the model kills is not reported to it again, but the user sees it", async () => {
  const { jobs, ended, start } = createJobs();
  start("serve");
  expect(await jobs.kill(1)).toMatchObject({ id: 1, end: "killed" });
  expect(jobs.takeReports()).toEqual([]);
  expect(ended).toHaveLength(1);
  await expect(jobs.kill(2)).rejects.toMatchObject({ code: "unknown_job" });
});

test("one that cannot be started has ended with the reason", async () => {
  const sandbox = {
    mode: "off",
    adapter: "off",
    run: () => Promise.reject(new Error("no shell")),
  } as Sandbox;
  const jobs = new Jobs(sandbox, () => undefined);
  jobs.start({ command: "x", cwd: "/w", env: {} });
  await settle();
  expect(jobs.list()).toMatchObject([{ id: 1, end: "no shell" }]);
});

test("only so many run at once, and of those that have ended the newest are kept", async () => {
  const { jobs, runs, start } = createJobs();
  for (let at = 0; at < MAX_RUNNING_JOBS; at += 1) start(`job ${at}`);
  expect(() => start("one more")).toThrow(/8 jobs are running \(1, 2, .*end one with kill_job/);
  for (const { end } of runs) end();
  await settle();
  for (let at = 0; at < 30; at += 1) {
    start("next");
    runs.at(-1)?.end();
    await settle();
  }
  expect(jobs.list().length).toBeLessThanOrEqual(MAX_RUNNING_JOBS + 10);
  expect(jobs.list().at(-1)?.id).toBe(MAX_RUNNING_JOBS + 30);
});

test("all end with the session, quietly, and none starts after it", async () => {
  const { jobs, runs, ended, start } = createJobs();
  start("a");
  start("b");
  await jobs.close();
  expect(runs.every(({ order }) => order.signal.aborted)).toBe(true);
  expect(jobs.list().every(({ end }) => end === "killed")).toBe(true);
  expect(ended).toEqual([]);
  expect(() => start("c")).toThrow("the session is closed");
});
