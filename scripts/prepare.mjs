// Installs and builds what is missing, with a message, so that every script works on a fresh clone.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a command with its output shown; exits with its exit code if it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** Installs packages only, for scripts that need no build. */
export function install() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`blemees needs Node 20.19 or newer; this is ${process.versions.node}`);
    process.exit(1);
  }
  const installed = newest([join(root, "node_modules/.package-lock.json")]);
  if (installed < newest([join(root, "package-lock.json"), join(root, "package.json")])) {
    console.error("· installing packages …");
    // Not `npm ci`: it refuses a lock file that lacks other platforms' optional packages, and some registries
    // do not have them. The versions still come from the lock file.
    // The build needs development packages, also with NODE_ENV=production.
    run("npm", ["install", "--include=dev", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]);
  }
}

export function prepare() {
  install();
  const built = [
    "src",
    "web",
    "package.json",
    "scripts/build.mjs",
    "scripts/build-web.mjs",
    "scripts/notices.mjs",
  ];
  const sources = newest(built.map((name) => join(root, name)));
  // Written last: an interrupted build is repeated.
  if (newest([join(root, "dist/web/index.html")]) < sources) {
    console.error("· building …");
    run(process.execPath, ["scripts/build.mjs", "--quiet"]);
  }
}

/** The latest modification time of these files and directories, in ms; 0 if none exists. */
function newest(paths) {
  let latest = 0;
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const stats = statSync(path);
    const time = stats.isDirectory()
      ? newest(readdirSync(path).map((name) => join(path, name)))
      : stats.mtimeMs;
    latest = Math.max(latest, time);
  }
  return latest;
}
