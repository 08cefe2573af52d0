// Changes when anything does that a runtime is made of: the files of the configuration, of agents and of tools, and the
// trust in them. A new session then gets what stands there now.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Env, homeDir, projectDir, stateDir } from "../state-dir.ts";

export interface StampOrder {
  env: Env;
  /** Real. */
  cwd: string;
  configPath: string | undefined;
}

/** Each has these beside its config.json. */
const FOLDERS = ["agents", "tools"] as const;

export async function configurationStamp({ env, cwd, configPath }: StampOrder): Promise<string> {
  const places = [join(homeDir(env), ".demian"), join(cwd, ".demian")];
  const files = [
    ...places.map((place) => join(place, "config.json")),
    ...(configPath === undefined ? [] : [configPath]),
  ];
  const folders = places.flatMap((place) => FOLDERS.map((folder) => join(place, folder)));
  const listed = await Promise.all([
    ...folders.map((folder) => filesIn(folder)),
    // What else is there changes while sessions work.
    ...[stateDir(env), projectDir(env, cwd)].map((folder) => filesIn(folder, "trust")),
  ]);
  return (await Promise.all([...files, ...listed.flat()].map(stampOf))).join(",");
}

async function filesIn(folder: string, prefix = ""): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.startsWith(prefix))
    .sort()
    .map((name) => join(folder, name));
}

async function stampOf(file: string): Promise<string> {
  const stats = await stat(file).catch(() => undefined);
  return stats === undefined ? "-" : `${file}:${stats.ino}:${stats.size}:${stats.mtimeMs}`;
}
