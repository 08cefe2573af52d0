// What the emptied home directory and the limits add to the start of a command of demian, next to the same sandbox without
// them: the home directory readable, except hidden places. In a project of a few hundred directories.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../bundle.mjs";
import { rounds, toRow } from "../rounds.mjs";

const DIRECTORIES = 300;
const TOOLCHAINS = [".cargo/bin", ".rustup", ".nvm/versions", ".local/bin", ".pyenv", "go/bin"];

/** @param {import("../plan.mjs").Context} context */
export async function command({ bench, plan, progress }) {
  progress(`${plan.commands} times each`);
  const parts = ["index", "probe", "run", "tree"].map((name) => `runtime/sandbox/${name}.ts`);
  const ours = await bundle(bench, [...parts, "runtime/hidden-places.ts"]);
  const { createSandbox, describeHost, findLauncher, listHiddenPaths, runLaunch, Tree } = ours;
  // Not below /tmp, which is another one in the sandbox.
  const base = realpathSync(mkdtempSync("/var/tmp/bench-command-"));
  try {
    const [home, root] = [join(base, "home"), join(base, "home/work")];
    for (const path of TOOLCHAINS) mkdirSync(join(home, path), { recursive: true });
    for (let at = 0; at < DIRECTORIES; at++)
      mkdirSync(join(root, `src/${at % 20}/${at}`), { recursive: true });
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    writeFileSync(join(root, ".env"), "KEY=1");
    mkdirSync(join(base, "caches"), { mode: 0o700 });
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home };
    const sandbox = await createSandbox(
      { mode: "workspace-write", network: "inherit", allowEnvOnly: false, writableGit: false },
      { root, home, env, hide: listHiddenPaths(env), cacheDirectory: join(base, "caches") },
    );
    if (sandbox.adapter !== "linux-bwrap") throw new Error(`command: ${sandbox.problem ?? sandbox.adapter}`);
    const { launcher } = await findLauncher(describeHost());
    const bounds = {
      ...{ root, tree: new Tree(root), isWritable: true, isNetworkDenied: false, writableGit: false },
      ...{ hide: listHiddenPaths(env), maskFiles: [] },
    };
    const common = { command: "exit 7", cwd: root, env, timeoutMs: 20_000, output: () => undefined };
    const makeRequest = () => ({ ...common, signal: new AbortController().signal });
    const candidates = [
      { name: "sandbox", run: () => sandbox.run(makeRequest()) },
      {
        name: "before",
        run: async () => {
          const request = makeRequest();
          return runLaunch(await launcher.launch(request, bounds), request);
        },
      },
    ];
    const time = async (/** @type {typeof candidates[0]} */ candidate) => {
      const startedAt = performance.now();
      const { code } = await candidate.run();
      if (code !== 7) throw new Error(`command: ${candidate.name} did not run it`);
      return performance.now() - startedAt;
    };
    await rounds(candidates, 3, time);
    const all = await rounds(candidates, plan.commands, time);
    return [
      toRow(
        {
          id: "command.start",
          measure: "a command of demian",
          store: "",
          unit: "ms",
          reference_name: "without home and limits",
        },
        all["sandbox"] ?? [],
        all["before"],
      ),
    ];
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
