// Finds the adapter that works on this machine by trying it: some actions must succeed, others must fail, and a control
// run without the sandbox must succeed in all. Otherwise a sandbox that never starts would look perfect.
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toMessage } from "../../base/coded-error.ts";
import { isExecutable } from "../../base/executable.ts";
import {
  type Bounds,
  createBwrapLauncher,
  createDirectLauncher,
  createSeatbeltLauncher,
  type Launcher,
} from "./launchers.ts";
import { chooseProcessLimit, resolveLimits } from "./limits.ts";
import { runLaunch } from "./run.ts";
import { buildSeccompFilter } from "./seccomp.ts";
import { Tree } from "./tree.ts";

/** Input of the search; replaced in tests. */
export interface Host {
  platform: string;
  arch: string;
  isRoot: boolean;
  /** Never from PATH, which may include the workspace. */
  bwrapPaths: readonly string[];
}

export type ProbeResult = { launcher: Launcher } | { problem: string };

const BWRAP_PATHS = [
  "/usr/bin/bwrap",
  "/usr/local/bin/bwrap",
  "/bin/bwrap",
  "/run/current-system/sw/bin/bwrap",
];
const PROBE_LIMIT_MS = 10_000;
const SECRET = "only to be seen outside";

export function describeHost(): Host {
  const { platform, arch } = process;
  return { platform, arch, isRoot: process.getuid?.() === 0, bwrapPaths: BWRAP_PATHS };
}

const probed = new Map<string, Promise<ProbeResult>>();

/** Searched once per process, and again after a failure, which the user may have fixed. */
export function findLauncher(host: Host): Promise<ProbeResult> {
  const key = JSON.stringify(host);
  const known = probed.get(key) ?? search(host);
  probed.set(key, known);
  void known.then((result) => "problem" in result && probed.delete(key));
  return known;
}

async function search(host: Host): Promise<ProbeResult> {
  if (host.platform === "darwin")
    return tryLaunchers([createSeatbeltLauncher()], (why) => `sandbox-exec does not work: ${why}`);
  if (host.platform !== "linux") return { problem: `demian has no sandbox for ${host.platform}` };
  const filter = buildSeccompFilter(host.arch);
  if (filter === undefined) {
    return {
      problem: `the sandbox does not support the architecture "${host.arch}", only x64 and arm64`,
    };
  }
  let problem = "bubblewrap is not installed: apt install bubblewrap (or dnf, pacman, zypper, apk)";
  for (const path of host.bwrapPaths) {
    if (!(await isExecutable(path))) continue;
    const result = await tryBwrap(path, filter, host);
    if ("launcher" in result) return result;
    problem = result.problem;
  }
  return { problem };
}

/** Root can do without a user namespace, if the kernel or a container refuses them. */
async function tryBwrap(path: string, filter: Buffer, { isRoot }: Host): Promise<ProbeResult> {
  let why = "";
  for (const hasUserNamespace of isRoot ? [true, false] : [true]) {
    for (const hasSizes of [true, false]) {
      const processLimit = await chooseProcessLimit(isRoot, hasUserNamespace);
      const launcher = createBwrapLauncher(path, filter, { hasUserNamespace, hasSizes, processLimit });
      const fault = await tryLauncher(launcher);
      if (fault === undefined) return { launcher };
      why ||= fault;
      // Older than 0.7: "Unknown option --size".
      if (!fault.includes("--size")) break;
    }
  }
  return { problem: explainBwrap(why) };
}

async function tryLaunchers(
  launchers: readonly Launcher[],
  explain: (why: string) => string,
): Promise<ProbeResult> {
  let why = "";
  for (const launcher of launchers) {
    const fault = await tryLauncher(launcher);
    if (fault === undefined) return { launcher };
    why ||= fault;
  }
  return { problem: explain(why) };
}

/** Undefined if it works; otherwise the fault. */
async function tryLauncher(launcher: Launcher): Promise<string | undefined> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "demian-probe-"))).catch(toMessage);
  try {
    const root = join(base, "workspace");
    const outside = join(base, "outside");
    const hidden = join(outside, "hidden");
    await mkdir(hidden, { recursive: true });
    await mkdir(root);
    await writeFile(join(hidden, "secret"), SECRET);
    const bounds: Bounds = {
      ...{ root, tree: new Tree(root), isWritable: true, isNetworkDenied: true, writableGit: false },
      ...{ hide: [hidden], maskFiles: [], visible: [outside], limits: resolveLimits({}) },
    };
    const control = await attempt(createDirectLauncher("off"), bounds, outside);
    if (control !== "written escaped seen") return `the probe itself failed in ${base}: "${control}"`;
    const held = await attempt(launcher, bounds, outside);
    if (held === "written") return undefined;
    return held === "" ? "a command in it cannot write to its workspace" : `it does not isolate: "${held}"`;
  } catch (error) {
    return toMessage(error);
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

/** Which of three actions succeeded: write in the workspace, write outside, read a hidden file. */
async function attempt(launcher: Launcher, bounds: Bounds, outside: string): Promise<string> {
  const { adapter } = launcher;
  const marks = {
    written: join(bounds.root, adapter),
    escaped: join(outside, adapter),
    seen: join(bounds.root, `${adapter}-seen`),
  };
  const command = [
    `echo yes > '${marks.written}'`,
    `echo yes > '${marks.escaped}'`,
    `read -r line < '${outside}/hidden/secret'; echo "$line" > '${marks.seen}'`,
  ].join("\n");
  const request = {
    ...{
      command,
      cwd: bounds.root,
      env: {},
      timeoutMs: PROBE_LIMIT_MS,
      signal: new AbortController().signal,
    },
    output: () => undefined,
  };
  await runLaunch(await launcher.launch(request, bounds), request);
  const could = await Promise.all(
    Object.entries(marks).map(async ([name, path]) => {
      const expected = name === "seen" ? SECRET : "yes";
      return (await readFile(path, "utf8").catch(() => "")).trim() === expected ? [name] : [];
    }),
  );
  return could.flat().join(" ");
}

const BWRAP_FAULTS: readonly [pattern: RegExp, explanation: string][] = [
  [
    /namespace|uid map|gid map/i,
    "the kernel refuses user namespaces: allow them (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces>0; on Ubuntu 24.04 an AppArmor profile for bwrap or kernel.apparmor_restrict_unprivileged_userns=0)",
  ],
  [
    /mount proc/i,
    "this container does not let bubblewrap mount /proc: run it with nested containers allowed",
  ],
  [/seccomp/i, "the kernel has no seccomp filters"],
];

function explainBwrap(why: string): string {
  const known = BWRAP_FAULTS.find(([pattern]) => pattern.test(why))?.[1];
  return known === undefined ? `bubblewrap does not work here: ${why}` : `${known} [${why}]`;
}
