// Sessions in a real repository: a fake agent edits files during its turns.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { keepFoundGit } from "../../../src/git/index.ts";
import { PATIENT } from "../../support/patience.ts";
import { FakeStore, user } from "../fakes.ts";
import { runOf, spawn, textsOf, type World, world } from "../system.ts";

export interface Place {
  dir: string;
  repo: string;
  on: World;
  git(...args: string[]): string;
  write(path: string, text: string): void;
  read(path: string): string;
  /** One turn of session "s": starts with the first call, edits, ends. */
  turn(edit: () => void): Promise<void>;
  /** Sends a message and waits until the agent has it. */
  begin(): Promise<void>;
  /** Ends the turn and waits for its checkpoint. */
  end(): Promise<void>;
  /** Another daemon with the same directories. */
  again(): Promise<World>;
}

export interface PlaceOptions {
  timeoutMs?: number;
  maxFileBytes?: number;
  env?: Record<string, string>;
  isRepository?: boolean;
}

export async function openPlace(options: PlaceOptions = {}): Promise<Place> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "checkpoints-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const repo = join(dir, "repo");
  mkdirSync(repo);
  const env = { PATH: process.env["PATH"] ?? "", HOME: dir, GIT_CONFIG_NOSYSTEM: "1" };
  const name = {
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a",
  };
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: repo, env: { ...env, ...name }, encoding: "utf8" });
  const write = (path: string, text: string) => writeFileSync(join(repo, path), text);
  if (options.isRepository !== false) {
    git("init", "-q", "-b", "main");
    write("a.txt", "one\ntwo\nthree\n");
    write("b.txt", "b\n");
    git("add", "-A");
    git("commit", "-q", "-m", "x");
  }
  const store = new FakeStore();
  const open = () =>
    world({
      store,
      findGit: keepFoundGit({ ...env, ...options.env }),
      checkpoints: {
        root: join(dir, "state", "checkpoints"),
        hidden: [join(dir, "state")],
        env: { ...env, ...options.env },
        timeoutMs: options.timeoutMs ?? PATIENT.timeout,
        maxFileBytes: options.maxFileBytes ?? 1000,
      },
    });
  const on = await open();
  let turns = 0;
  const begin = async () => {
    turns += 1;
    if (turns === 1) await spawn(on, "s", { cwd: repo });
    else await on.manager.input({ session_id: "s", message: user(`turn ${turns}`) });
    await vi.waitFor(() => {
      // An undo stops the agent.
      const runs = on.backend.runs.filter(({ order }) => order.session_id === "s");
      if (runs.flatMap(textsOf).length < turns) throw new Error("not sent yet");
    }, PATIENT);
  };
  const end = async () => {
    runOf(on, "s").result();
    await on.manager.wait({ session_id: "s", until: ["idle"], timeoutMs: PATIENT.timeout });
    // Waits for the checkpoint: both are steps of the session's checkpoints.
    await on.manager.changes("s", { limit: 1 });
  };
  return {
    ...{ dir, repo, on, git, write, begin, end },
    read: (path) => readFileSync(join(repo, path), "utf8"),
    again: open,
    async turn(edit) {
      await begin();
      edit();
      await end();
    },
  };
}

/** A directory with a git that does what the script says; `$real` is the real one. */
export function fakeGit(dir: string, script: string): string {
  const bin = join(dir, "bin");
  mkdirSync(bin, { recursive: true });
  const real = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
  writeFileSync(join(bin, "git"), `#!/bin/sh\nreal=${real}\n${script}\nexec $real "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  return `${bin}:${process.env["PATH"]}`;
}
