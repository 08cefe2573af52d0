// Launchers turn a command into the process to execute, one per sandbox adapter. probe.ts finds out which one works.

import { access } from "node:fs/promises";
import { defined } from "../../base/values.ts";
import { buildBwrapArguments, KERNEL_FILES } from "./bwrap.ts";
import { findProtected, isWithin, type ProtectedPaths, resolvePath } from "./protected-paths.ts";
import { COMMAND_MARKER, type Launch } from "./run.ts";
import { buildSeatbeltProfile } from "./seatbelt.ts";
import { buildShellArgv, findShell, removeStartupVariables, wrapWithPipe } from "./shell.ts";
import type { Tree } from "./tree.ts";
import type { CommandRequest, SandboxAdapter } from "./types.ts";
import type { Caches } from "./writable.ts";

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
  caches?: () => Promise<Caches>;
  /** Visible although below the temporary directory. */
  visible?: readonly string[];
}

export interface Launcher {
  readonly adapter: SandboxAdapter;
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

export function createBwrapLauncher(bwrap: string, seccomp: Buffer, hasUserNamespace: boolean): Launcher {
  const adapter = "linux-bwrap";
  return {
    adapter,
    launch: async (request, bounds) => {
      const [shell, hidden, protectedPaths, kernelFiles, caches] = await Promise.all([
        findShell(),
        keepOutermost(bounds.hide),
        findProtectedPaths(bounds, request),
        filterExisting(KERNEL_FILES),
        bounds.isWritable ? bounds.caches?.() : undefined,
      ]);
      const { visible } = bounds;
      const profile = {
        ...bounds,
        ...defined({ visible }),
        caches: caches?.mounts ?? [],
        hasUserNamespace,
        hidden,
        protectedPaths,
      };
      const args = buildBwrapArguments({
        ...profile,
        kernelFiles,
        cwd: request.cwd,
        unset: [COMMAND_MARKER],
      });
      const env = { ...removeStartupVariables(request.env), ...caches?.env };
      // The sandbox has a private /tmp; no other temporary directory is writable.
      for (const name of TEMPORARY_VARIABLES) if (env[name] !== undefined) env[name] = "/tmp";
      return {
        adapter,
        words: wrapWithPipe(shell, [bwrap, ...args, ...buildShellArgv(shell, request.command)]),
        cwd: "/",
        env,
        seccomp,
      };
    },
  };
}

export function createSeatbeltLauncher(): Launcher {
  const adapter = "macos-sandbox-exec";
  return {
    adapter,
    launch: async (request, bounds) => {
      const [shell, hidden, protectedPaths, own] = await Promise.all([
        findShell(),
        keepOutermost(bounds.hide),
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
async function keepOutermost(paths: readonly string[]) {
  const all = await resolveAll(paths);
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
