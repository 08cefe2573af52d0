// The ways to hold a command, each turning a command into what is really executed. None of them decides whether it
// works on this machine: probe.ts does.
import { access } from "node:fs/promises";
import { bwrapArguments, KERNEL_FILES } from "./bwrap.ts";
import { findProtected, isWithin, type ProtectedPlaces, resolvePlace } from "./places.ts";
import { COMMAND_MARKER, type Launch } from "./run.ts";
import { seatbeltProfile } from "./seatbelt.ts";
import { findShell, pipedWords, shellWords, withoutStartup } from "./shell.ts";
import type { Tree } from "./tree.ts";
import type { CommandOrder, SandboxAdapter } from "./types.ts";
import type { Caches } from "./writable.ts";

/** What a command may do, and where. */
export interface Bounds {
  root: string;
  /** Of `root`: remembers what it has seen from one command to the next. */
  tree: Tree;
  isWritable: boolean;
  isNetworkDenied: boolean;
  writableGit: boolean;
  hide: readonly string[];
  maskFiles: readonly string[];
  /** More that may be written where the workspace may. */
  writable?: readonly string[];
  caches?: () => Promise<Caches>;
  /** Below the temporary directory, and yet to be seen. */
  visible?: readonly string[];
}

export interface Holder {
  readonly adapter: SandboxAdapter;
  launch(order: CommandOrder, bounds: Bounds): Promise<Launch>;
}

const TEMPORARY_VARIABLES = ["TMPDIR", "TMP", "TEMP"];
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
const MAC_TEMPORARY = ["/private/tmp", "/private/var/tmp"];

/** No isolation at all. `env-only` says that some was asked for. */
export function directHolder(adapter: "off" | "env-only"): Holder {
  return {
    adapter,
    launch: async (order) => ({
      adapter,
      words: shellWords(await findShell(), order.command),
      cwd: order.cwd,
      env: withoutStartup(order.env),
    }),
  };
}

export function bwrapHolder(bwrap: string, seccomp: Buffer, hasUserNamespace: boolean): Holder {
  const adapter = "linux-bwrap";
  return {
    adapter,
    launch: async (order, bounds) => {
      const [shell, hidden, places, kernelFiles, caches] = await Promise.all([
        findShell(),
        outermost(bounds.hide),
        placesOf(bounds, order),
        existing(KERNEL_FILES),
        bounds.isWritable ? bounds.caches?.() : undefined,
      ]);
      const { visible } = bounds;
      const profile = {
        ...bounds,
        ...(visible === undefined ? {} : { visible }),
        caches: caches?.mounts ?? [],
        hasUserNamespace,
        hidden,
        places,
      };
      const args = bwrapArguments({ ...profile, kernelFiles, cwd: order.cwd, unset: [COMMAND_MARKER] });
      const env = { ...withoutStartup(order.env), ...caches?.env };
      // Theirs is private and always there; any other one cannot be written.
      for (const name of TEMPORARY_VARIABLES) if (env[name] !== undefined) env[name] = "/tmp";
      return {
        adapter,
        words: pipedWords(shell, [bwrap, ...args, ...shellWords(shell, order.command)]),
        cwd: "/",
        env,
        seccomp,
      };
    },
  };
}

export function seatbeltHolder(): Holder {
  const adapter = "macos-sandbox-exec";
  return {
    adapter,
    launch: async (order, bounds) => {
      const [shell, hidden, places, own] = await Promise.all([
        findShell(),
        outermost(bounds.hide),
        placesOf(bounds, order),
        resolveAll(order.env["TMPDIR"] === undefined ? [] : [order.env["TMPDIR"]]),
      ]);
      const temporary =
        bounds.visible === undefined ? [...MAC_TEMPORARY, ...own.map(({ path }) => path)] : [];
      const text = seatbeltProfile({ ...bounds, hidden, places, temporary });
      return {
        adapter,
        words: [SANDBOX_EXEC, "-p", text, ...shellWords(shell, order.command)],
        cwd: order.cwd,
        env: withoutStartup(order.env),
      };
    },
  };
}

async function placesOf(bounds: Bounds, { isOfSubAgent }: CommandOrder): Promise<ProtectedPlaces> {
  const places = await findProtected(bounds.tree, bounds.writableGit, isOfSubAgent);
  for (const { path, kind } of await resolveAll(bounds.maskFiles)) {
    (kind === "file" ? places.maskedFiles : places.maskedDirectories).push(path);
  }
  return places;
}

/** Where they really are; those that do not exist would make bubblewrap fail. */
async function resolveAll(paths: readonly string[]) {
  const found = await Promise.all(paths.map(resolvePlace));
  return found.filter((place) => place !== undefined);
}

/** Without those below another one: in what is empty and read-only no place for them can be made. */
async function outermost(paths: readonly string[]) {
  const all = await resolveAll(paths);
  const unique = all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index);
  return unique.filter(
    ({ path }) => !unique.some((other) => other.path !== path && isWithin(other.path, path)),
  );
}

async function existing(paths: readonly string[]): Promise<string[]> {
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
