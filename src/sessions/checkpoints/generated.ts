// Files that a program writes, by their names: screens fold them.

const NAMES = new Set([
  "package-lock.json",
  "npm-shrinkwrap.json",
  "yarn.lock",
  "pnpm-lock.yaml",
  "bun.lock",
  "bun.lockb",
  "cargo.lock",
  "go.sum",
  "gemfile.lock",
  "composer.lock",
  "poetry.lock",
  "uv.lock",
  "pdm.lock",
  "pipfile.lock",
  "flake.lock",
  "mix.lock",
  "pubspec.lock",
  "podfile.lock",
  "packages.lock.json",
  "gradle.lockfile",
]);
const ENDINGS =
  /\.(min\.(js|css|mjs)|bundle\.js|map|snap|pb\.(go|cc|h)|g\.dart|designer\.cs)$|_pb2(_grpc)?\.py$|\.pb\.ts$/;
const FOLDERS = /(^|\/)(node_modules|dist|vendor|third_party|__snapshots__|generated|__generated__)\//;

export function isGenerated(path: string): boolean {
  const lower = path.toLowerCase();
  return NAMES.has(lower.slice(lower.lastIndexOf("/") + 1)) || ENDINGS.test(lower) || FOLDERS.test(lower);
}
