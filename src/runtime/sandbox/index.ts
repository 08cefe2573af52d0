// The sandbox for a session's commands.

import { homedir } from "node:os";
import { checkCwd } from "../../base/child.ts";
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { ToolError } from "../tools/types.ts";
import { planHomes } from "./homes.ts";
import { type Bounds, createDirectLauncher, type Launcher } from "./launchers.ts";
import { describeGaps, describeLimits, type Limits, resolveLimits } from "./limits.ts";
import { describeHost, findLauncher, type Host } from "./probe.ts";
import { isWithin } from "./protected-paths.ts";
import { runLaunch } from "./run.ts";
import { Tree } from "./tree.ts";
import type { CommandRequest, CommandResult, Sandbox, SandboxConfig } from "./types.ts";
import { resolveReadable, resolveWritable } from "./writable.ts";

const KERNEL_PLACES = /^\/(proc|sys|dev(?!\/shm))(\/|$)/;

export interface SandboxPaths {
  /** The workspace, as a real path. */
  root: string;
  /** Directories and files hidden from commands. */
  hide: readonly string[];
  /** Unreadable files, in addition to the environment files of the workspace. */
  maskFiles?: readonly string[];
  /** The user's home; default: that of the process. */
  home?: string;
  /** The user's environment: names directories with programs. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Where caches written by commands are stored; without it, caches are not writable. */
  cacheDirectory?: string;
}

/** Probes what works here: about 40 ms for the first sandbox of a process, nothing for the others. */
export async function createSandbox(
  config: SandboxConfig,
  paths: SandboxPaths,
  host: Host = describeHost(),
): Promise<Sandbox> {
  const isHome = isWithin(paths.root, paths.home ?? homedir());
  const mode = config.mode === "workspace-write" && isHome ? "read-only" : config.mode;
  const choice = await choose(config, paths, host);
  const { launcher } = choice;
  const problem = choice.problem ?? (mode === config.mode ? undefined : describeHomeProblem(paths.root));
  const places = { home: paths.home ?? homedir(), hide: paths.hide };
  const isNetworkDenied = config.network === "deny";
  const isWritable = mode === "workspace-write";
  const writable = await resolveWritable(config.writable ?? [], places);
  const readable = await resolveReadable(config.readable ?? [], places);
  const homes = await planHomes(paths, { isNetworkDenied, isWritable, named: [...writable, ...readable] });
  const limits = resolveLimits(config);
  const bounds: Bounds = {
    limits,
    root: paths.root,
    tree: new Tree(paths.root),
    ...{ isWritable, isNetworkDenied, writable, readable, homes: homes.planned },
    writableGit: config.writableGit,
    hide: [...paths.hide, ...homes.hide],
    maskFiles: paths.maskFiles ?? [],
  };
  return {
    mode,
    adapter: launcher?.adapter,
    ...defined({ problem }),
    ...describeUse(limits, launcher),
    run: (request) => run(request, bounds, launcher, problem),
  };
}

function describeUse(limits: Limits, launcher: Launcher | undefined): Pick<Sandbox, "limits" | "gaps"> {
  const abilities = launcher?.abilities;
  if (abilities === undefined) return {};
  const { processLimit, hasSizes } = abilities;
  return { limits: describeLimits(limits, processLimit), gaps: describeGaps(processLimit, hasSizes) };
}

function describeHomeProblem(root: string): string {
  return `commands cannot write: the workspace ${root} contains your home directory, where they could change what your shell and programs run; start in a project directory`;
}

interface Choice {
  launcher?: Launcher;
  problem?: string;
}

async function choose(config: SandboxConfig, paths: SandboxPaths, host: Host): Promise<Choice> {
  if (config.mode === "off") return { launcher: createDirectLauncher("off") };
  const fault = findRootFault(paths);
  if (fault !== undefined) return { problem: `commands are refused: ${fault}` };
  const found = await findLauncher(host);
  if ("launcher" in found) return found;
  if (config.allowEnvOnly) {
    return {
      launcher: createDirectLauncher("env-only"),
      problem: `commands run without isolation (sandbox.allowEnvOnly): ${found.problem}`,
    };
  }
  const ways = 'or set sandbox.allowEnvOnly to run them without isolation, or sandbox.mode "off"';
  return { problem: `commands are refused, because no sandbox works here: ${found.problem}; ${ways}` };
}

/** A workspace that cannot be sandboxed. */
function findRootFault({ root, hide }: SandboxPaths): string | undefined {
  // Mounted over the sandbox's /proc and /dev, it would expose the host's.
  if (root === "/") return "the workspace is the whole file system; start in a project directory";
  if (KERNEL_PLACES.test(root)) {
    return `the workspace ${root} is a kernel file system; start in a project directory`;
  }
  const own = hide.find((path) => isWithin(root, path) && isWithin(path, root));
  return own === undefined
    ? undefined
    : `the workspace ${root} is hidden from commands; start in another directory`;
}

async function run(
  request: CommandRequest,
  bounds: Bounds,
  launcher: Launcher | undefined,
  problem: string | undefined,
): Promise<CommandResult> {
  if (launcher === undefined) throw new ToolError("sandbox_unavailable", problem ?? "no sandbox works here");
  if (request.command.includes("\0"))
    throw new ToolError("invalid_command", "the command contains a NUL character");
  if (!isWithin(bounds.root, request.cwd)) {
    throw new ToolError("path_outside", `${request.cwd} is not in the workspace ${bounds.root}`);
  }
  try {
    await checkCwd(request.cwd);
  } catch (error) {
    throw new ToolError("not_found", toMessage(error));
  }
  return runLaunch(await launcher.launch(request, bounds), request);
}
