// Launchers turn a command into the process to execute, one per sandbox adapter. probe.ts finds out which one works.

import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { toMessage } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import { buildBwrapArguments, KERNEL_FILES } from "./bwrap.ts";
import type { HomeView } from "./home.ts";
import type { Limits, ProcessLimit } from "./limits.ts";
import { createProcessGroup } from "./process-group.ts";
import {
  findProtected,
  isWithin,
  type ProtectedPaths,
  resolvePath,
  resolvePathNow,
} from "./protected-paths.ts";
import { COMMAND_MARKER, type Launch } from "./run.ts";
import { buildSeatbeltProfile } from "./seatbelt.ts";
import { buildShellArgv, findShell, limitProcess, removeStartupVariables, wrapWithPipe } from "./shell.ts";
import type { Tree } from "./tree.ts";
import type { CommandRequest, SandboxAdapter } from "./types.ts";

/** What commands may access. */
export interface Bounds {
  root: string;
  /** Of `root`; caches its listings between commands. */
  tree: Tree;
  isWritable: boolean;
  isNetworkDenied: boolean;
  writableGit: boolean;
  hide: readonly string[];
  maskFiles: readonly string[];
  /** Additional writable directories, if the workspace is writable. */
  writable?: readonly string[];
  readable?: readonly string[];
  /** Home directories, which commands see as planned; outer ones first. */
  homes?: readonly HomeView[];
  /** Default: none. */
  limits?: Limits;
  /** Visible although below the temporary directory. */
  visible?: readonly string[];
}

/** What bubblewrap and the kernel can do here. */
export interface Abilities {
  hasUserNamespace: boolean;
  /** Can limit the size of temporary directories. */
  hasSizes: boolean;
  processLimit: ProcessLimit;
}

export interface Launcher {
  readonly adapter: SandboxAdapter;
  readonly abilities?: Abilities;
  launch(request: CommandRequest, bounds: Bounds): Promise<Launch>;
}

const TEMPORARY_VARIABLES = ["TMPDIR", "TMP", "TEMP"];
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
const MAC_TEMPORARY = ["/private/tmp", "/private/var/tmp"];

/** No isolation. `env-only` means that some was requested. */
export function createDirectLauncher(adapter: "off" | "env-only"): Launcher {
  return {
    adapter,
    launch: async (request) => ({
      adapter,
      words: buildShellArgv(await findShell(), request.command),
      cwd: request.cwd,
      env: removeStartupVariables(request.env),
    }),
  };
}

export function createBwrapLauncher(bwrap: string, seccomp: Buffer, abilities: Abilities): Launcher {
  const adapter = "linux-bwrap";
  const { hasUserNamespace, hasSizes, processLimit } = abilities;
  return {
    ...{ adapter, abilities },
    launch: async (request, bounds) => {
      const hidden = keepOutermost(bounds.hide);
      const [shell, protectedPaths, kernelFiles] = await Promise.all([
        findShell(),
        findProtectedPaths(bounds, request),
        filterExisting(KERNEL_FILES),
      ]);
      const profile = {
        ...bounds,
        ...{ hasUserNamespace, protectedPaths },
        hidden: hidden.filter((one) => isVisible(one.path, bounds)),
      };
      const { limits } = bounds;
      const args = buildBwrapArguments({
        ...profile,
        kernelFiles,
        temporaryBytes: hasSizes ? limits?.temporaryBytes : undefined,
        cwd: request.cwd,
        unset: [COMMAND_MARKER],
      });
      const env = addHomeVariables(removeStartupVariables(request.env), bounds.homes);
      // The sandbox has a private /tmp; no other temporary directory is writable.
      for (const name of TEMPORARY_VARIABLES) if (env[name] !== undefined) env[name] = "/tmp";
      const setUp = limitProcess(shell, processLimit.kind === "rlimit" ? limits?.processes : undefined);
      const group = await createGroup(processLimit, limits);
      return {
        adapter,
        words: wrapWithPipe(shell, [bwrap, ...args, ...buildShellArgv(shell, request.command, setUp)], group),
        cwd: "/",
        ...{ env, seccomp, limits, group },
      };
    },
  };
}

async function createGroup(limit: ProcessLimit, limits: Limits | undefined): Promise<string | undefined> {
  if (limit.kind !== "group" || limits === undefined) return undefined;
  return createProcessGroup(limit.parent, limits.processes).catch((cause: unknown) => {
    const what = `the command was not run: its control group could not be created in ${limit.parent}`;
    throw new ToolError("sandbox_failed", `${what}: ${toMessage(cause)}`);
  });
}

export function createSeatbeltLauncher(): Launcher {
  const adapter = "macos-sandbox-exec";
  return {
    adapter,
    launch: async (request, bounds) => {
      const hidden = keepOutermost(bounds.hide);
      const [shell, protectedPaths, own] = await Promise.all([
        findShell(),
        findProtectedPaths(bounds, request),
        resolveAll(request.env["TMPDIR"] === undefined ? [] : [request.env["TMPDIR"]]),
      ]);
      const temporary =
        bounds.visible === undefined ? [...MAC_TEMPORARY, ...own.map(({ path }) => path)] : [];
      const text = buildSeatbeltProfile({ ...bounds, hidden, protectedPaths, temporary });
      return {
        adapter,
        words: [SANDBOX_EXEC, "-p", text, ...buildShellArgv(shell, request.command)],
        cwd: request.cwd,
        env: removeStartupVariables(request.env),
      };
    },
  };
}

/** Whether a path has to be hidden: in an emptied home directory most things are absent. */
function isVisible(path: string, { homes = [], root, writable = [], readable = [] }: Bounds): boolean {
  if (!homes.some((home) => isWithin(home.path, path))) return true;
  const mounted = homes.flatMap((home) => [...home.readable, ...home.shared]);
  return [root, ...writable, ...readable, ...mounted].some(
    (one) => isWithin(one, path) || isWithin(path, one),
  );
}

/** Programs installed by commands come last, so that they replace none. */
function addHomeVariables(
  env: Record<string, string>,
  homes: readonly HomeView[] = [],
): Record<string, string> {
  const added: Record<string, string> = Object.assign({}, ...homes.map((home) => home.env));
  const base = added["PYTHONUSERBASE"];
  const path = env["PATH"];
  if (base === undefined || path === undefined) return { ...env, ...added };
  return { ...env, ...added, PATH: [path, join(base, "bin")].join(delimiter) };
}

async function findProtectedPaths(bounds: Bounds, { isOfSubAgent }: CommandRequest): Promise<ProtectedPaths> {
  const protectedPaths = await findProtected(bounds.tree, bounds.writableGit, isOfSubAgent);
  for (const { path, kind } of await resolveAll(bounds.maskFiles)) {
    (kind === "file" ? protectedPaths.maskedFiles : protectedPaths.maskedDirectories).push(path);
  }
  return protectedPaths;
}

/** Real paths; missing ones are dropped, because bubblewrap would fail. */
async function resolveAll(paths: readonly string[]) {
  const found = await Promise.all(paths.map(resolvePath));
  return found.filter((entry) => entry !== undefined);
}

/** Drops paths below another one: no mount point can be created in an empty, read-only directory. */
function keepOutermost(paths: readonly string[]) {
  const all = paths.map(resolvePathNow).filter((entry) => entry !== undefined);
  const unique = all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index);
  return unique.filter(
    ({ path }) => !unique.some((other) => other.path !== path && isWithin(other.path, path)),
  );
}

async function filterExisting(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return found.flat();
}
