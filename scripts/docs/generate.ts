// All generated files, as a map from path to text, and the function that writes or compares them. Bundled and run by
// scripts/docs.mjs.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { agentTables } from "./agents.ts";
import { cliPage } from "./cli.ts";
import { configPage } from "./config.ts";
import { demianPage, demianSchemaFile } from "./demian.ts";
import { errorsPage } from "./errors.ts";
import { httpPage, openApiFile } from "./http.ts";
import { keyTables } from "./keys.ts";
import { noticesPage } from "./notices.ts";
import { phaseTables } from "./phases.ts";
import { pythonTypesFile } from "./python.ts";
import { schemaFiles } from "./schemas.ts";
import { fillSections } from "./sections.ts";

/** Directories that contain only generated files: other files in them are removed. */
const OWN_DIRECTORIES = ["schemas"];

export function generate(): Map<string, string> {
  return new Map([
    ["docs/errors.md", errorsPage()],
    ["docs/notices.md", noticesPage()],
    ["docs/config.md", configPage()],
    ["docs/cli.md", cliPage()],
    ["docs/http.md", httpPage()],
    ["docs/demian-reference.md", demianPage()],
    ["schemas/openapi.json", openApiFile()],
    ["clients/python/blemees/types.py", pythonTypesFile()],
    ["schemas/demian-config.json", demianSchemaFile()],
    ...schemaFiles(),
  ]);
}

/** Writes what differs below `root`, or with `isCheck` only names it. Returns the exit code. */
export function writeDocs(root: string, isCheck: boolean): number {
  const files = new Map([...generate(), ...filledPages(root)]);
  const changed = [...files].filter(([path, text]) => readIfThere(join(root, path)) !== text);
  const stale = OWN_DIRECTORIES.flatMap((name) => filesBelow(root, name)).filter((path) => !files.has(path));
  if (isCheck) {
    for (const [path] of changed) console.error(`${path} differs from what \`npm run docs\` writes`);
    for (const path of stale) console.error(`${path} is no longer generated`);
    if (changed.length + stale.length === 0) return 0;
    console.error("run `npm run docs` and commit the result");
    return 1;
  }
  for (const [path, text] of changed) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.error(`wrote ${path}`);
  }
  for (const path of stale) {
    rmSync(join(root, path));
    console.error(`removed ${path}`);
  }
  return 0;
}

/** Pages of which only parts are generated; they must exist. */
function filledPages(root: string): [path: string, text: string][] {
  const pages = [
    ["docs/flows.md", phaseTables()],
    ["docs/ui.md", keyTables()],
    ["docs/operations.md", agentTables()],
  ] as const;
  return pages.map(([path, tables]) => [path, fillSections(readFileSync(join(root, path), "utf8"), tables)]);
}

function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function filesBelow(root: string, directory: string): string[] {
  if (!existsSync(join(root, directory))) return [];
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}
