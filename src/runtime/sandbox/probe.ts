// Which adapter works on this machine, found out by trying: what must succeed, what must fail, and a control that the
// same attempts do succeed without it. A sandbox that did not start would otherwise look like a perfect one.
import { access, constants, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../base/coded-error.ts";
import { type Bounds, bwrapHolder, directHolder, type Holder, seatbeltHolder } from "./holders.ts";
import { runLaunch } from "./run.ts";
import { seccompFilter } from "./seccomp.ts";
import { Tree } from "./tree.ts";

/** What the search depends on; another one than this machine's in tests. */
export interface Host {
  platform: string;
  arch: string;
  isRoot: boolean;
  /** Never by PATH: the workspace may be on it. */
  bwrapPaths: readonly string[];
}

export type Probed = { holder: Holder } | { problem: string };

const BWRAP_PATHS = [
  "/usr/bin/bwrap",
  "/usr/local/bin/bwrap",
  "/bin/bwrap",
  "/run/current-system/sw/bin/bwrap",
];
const PROBE_LIMIT_MS = 10_000;
const SECRET = "only to be seen outside";

export function thisHost(): Host {
  const { platform, arch } = process;
  return { platform, arch, isRoot: process.getuid?.() === 0, bwrapPaths: BWRAP_PATHS };
}

const probed = new Map<string, Promise<Probed>>();

/** What holds commands here, looked for once in a process; again after a failure, which somebody may have mended. */
export function findHolder(host: Host): Promise<Probed> {
  const key = JSON.stringify(host);
  const known = probed.get(key) ?? search(host);
  probed.set(key, known);
  void known.then((result) => "problem" in result && probed.delete(key));
  return known;
}

async function search(host: Host): Promise<Probed> {
  if (host.platform === "darwin")
    return judge([seatbeltHolder()], (why) => `sandbox-exec does not work: ${why}`);
  if (host.platform !== "linux") return { problem: `there is no sandbox for ${host.platform}` };
  const filter = seccompFilter(host.arch);
  if (filter === undefined) {
    return {
      problem: `there is no table of system calls for the processor "${host.arch}": only x64 and arm64 have one`,
    };
  }
  let problem = "bubblewrap is not installed: apt install bubblewrap (or dnf, pacman, zypper, apk)";
  for (const path of host.bwrapPaths) {
    if (!(await isExecutable(path))) continue;
    // Root may do without a user namespace, where the kernel or a container refuses them.
    const ways = host.isRoot ? [true, false] : [true];
    const result = await judge(
      ways.map((hasUserNamespace) => bwrapHolder(path, filter, hasUserNamespace)),
      explainBwrap,
    );
    if ("holder" in result) return result;
    problem = result.problem;
  }
  return { problem };
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function judge(holders: readonly Holder[], explain: (why: string) => string): Promise<Probed> {
  let why = "";
  for (const holder of holders) {
    const fault = await tryHolder(holder);
    if (fault === undefined) return { holder };
    why ||= fault;
  }
  return { problem: explain(why) };
}

/** Undefined: it holds. */
async function tryHolder(holder: Holder): Promise<string | undefined> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "demian-probe-"))).catch(messageOf);
  try {
    const root = join(base, "workspace");
    const outside = join(base, "outside");
    const hidden = join(outside, "hidden");
    await mkdir(hidden, { recursive: true });
    await mkdir(root);
    await writeFile(join(hidden, "secret"), SECRET);
    const bounds: Bounds = {
      ...{ root, tree: new Tree(root), isWritable: true, isNetworkDenied: true, writableGit: false },
      ...{ hide: [hidden], maskFiles: [], visible: [outside] },
    };
    const control = await attempt(directHolder("off"), bounds, outside);
    if (control !== "written escaped seen") return `the probe itself failed in ${base}: "${control}"`;
    const held = await attempt(holder, bounds, outside);
    if (held === "written") return undefined;
    return held === "" ? "a command in it cannot write to its workspace" : `it does not hold: "${held}"`;
  } catch (error) {
    return messageOf(error);
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

/** Which of three things a command could do: write in the workspace, write outside, see what is hidden. */
async function attempt(holder: Holder, bounds: Bounds, outside: string): Promise<string> {
  const { adapter } = holder;
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
  const order = {
    ...{
      command,
      cwd: bounds.root,
      env: {},
      timeoutMs: PROBE_LIMIT_MS,
      signal: new AbortController().signal,
    },
    output: () => undefined,
  };
  await runLaunch(await holder.launch(order, bounds), order);
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
    "the container that we run in does not let bubblewrap mount /proc: run it with nested containers allowed",
  ],
  [/seccomp/i, "the kernel has no seccomp filters"],
];

function explainBwrap(why: string): string {
  const known = BWRAP_FAULTS.find(([pattern]) => pattern.test(why))?.[1];
  return known === undefined ? `bubblewrap does not work here: ${why}` : `${known} [${why}]`;
}
