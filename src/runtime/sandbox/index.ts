// The door: how the commands of a session are held.
import { homedir } from "node:os";
import { checkCwd } from "../../base/child.ts";
import { messageOf } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import { type Bounds, directHolder, type Holder } from "./holders.ts";
import { isWithin } from "./places.ts";
import { findHolder, type Host, thisHost } from "./probe.ts";
import { runLaunch } from "./run.ts";
import { Tree } from "./tree.ts";
import type { CommandOrder, CommandResult, Sandbox, SandboxConfig } from "./types.ts";
import { prepareCaches, resolveWritable } from "./writable.ts";

const KERNEL_PLACES = /^\/(proc|sys|dev(?!\/shm))(\/|$)/;

export interface SandboxPlace {
  /** The workspace, absolute and real. */
  root: string;
  /** Directories and files that no command may see. */
  hide: readonly string[];
  /** More files that no command may read, next to the environment files of the workspace. */
  maskFiles?: readonly string[];
  /** The user's; default: that of the process. */
  home?: string;
  /** Where caches that commands write are kept; without it they write none. */
  cacheDirectory?: string;
}

/** Finds out what works here: some 40 ms for the first sandbox of a process, nothing for the others. */
export async function createSandbox(
  config: SandboxConfig,
  place: SandboxPlace,
  host: Host = thisHost(),
): Promise<Sandbox> {
  const isHome = isWithin(place.root, place.home ?? homedir());
  const mode = config.mode === "workspace-write" && isHome ? "read-only" : config.mode;
  const choice = await choose(config, place, host);
  const { holder } = choice;
  const problem = choice.problem ?? (mode === config.mode ? undefined : homeProblem(place.root));
  const { root, cacheDirectory } = place;
  const home = place.home ?? homedir();
  const isNetworkDenied = config.network === "deny";
  const writable = await resolveWritable(config.writable ?? [], { home, hide: place.hide });
  const bounds: Bounds = {
    root: place.root,
    tree: new Tree(place.root),
    isWritable: mode === "workspace-write",
    isNetworkDenied,
    writable,
    ...(cacheDirectory === undefined
      ? {}
      : { caches: () => prepareCaches({ home, directory: cacheDirectory, root, isNetworkDenied }) }),
    writableGit: config.writableGit,
    hide: place.hide,
    maskFiles: place.maskFiles ?? [],
  };
  return {
    mode,
    adapter: holder?.adapter,
    ...(problem === undefined ? {} : { problem }),
    run: (order) => run(order, bounds, holder, problem),
  };
}

function homeProblem(root: string): string {
  return `commands may write nothing: the workspace ${root} holds your home directory, where they could change what your shell and your programs run; start in a project directory`;
}

interface Choice {
  holder?: Holder;
  problem?: string;
}

async function choose(config: SandboxConfig, place: SandboxPlace, host: Host): Promise<Choice> {
  if (config.mode === "off") return { holder: directHolder("off") };
  const fault = placeFault(place);
  if (fault !== undefined) return { problem: `commands are refused: ${fault}` };
  const found = await findHolder(host);
  if ("holder" in found) return found;
  if (config.allowEnvOnly) {
    return {
      holder: directHolder("env-only"),
      problem: `commands run without isolation (sandbox.allowEnvOnly): ${found.problem}`,
    };
  }
  const ways = 'or set sandbox.allowEnvOnly to run them without isolation, or sandbox.mode "off"';
  return { problem: `commands are refused, no sandbox works here: ${found.problem}; ${ways}` };
}

/** A workspace in which the rules would mean nothing. */
function placeFault({ root, hide }: SandboxPlace): string | undefined {
  // Laid over the sandbox's own /proc and /dev, it would bring back the host's.
  if (root === "/") return "the workspace is the whole file system; start in a project directory";
  if (KERNEL_PLACES.test(root)) {
    return `the workspace ${root} is made up by the kernel, and no place for files; start in a project directory`;
  }
  const own = hide.find((path) => isWithin(root, path) && isWithin(path, root));
  return own === undefined
    ? undefined
    : `the workspace ${root} is a directory that commands may not see; start elsewhere`;
}

async function run(
  order: CommandOrder,
  bounds: Bounds,
  holder: Holder | undefined,
  problem: string | undefined,
): Promise<CommandResult> {
  if (holder === undefined) throw new ToolError("sandbox_unavailable", problem ?? "no sandbox works here");
  if (order.command.includes("\0"))
    throw new ToolError("invalid_command", "the command has a NUL character in it");
  if (!isWithin(bounds.root, order.cwd)) {
    throw new ToolError("path_outside", `${order.cwd} is not in the workspace ${bounds.root}`);
  }
  try {
    await checkCwd(order.cwd);
  } catch (error) {
    throw new ToolError("not_found", messageOf(error));
  }
  return runLaunch(await holder.launch(order, bounds), order);
}
