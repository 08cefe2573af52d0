// The licences of the packages whose code is in dist/, as one text: dist/THIRD-PARTY-NOTICES.txt.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LICENCE_FILE = /^(licen[cs]e|copying|notice|unlicense)/i;

/** Directories of the packages that contribute code to these bundles, relative to the root, sorted. */
export function findBundledPackages(metafiles) {
  const found = new Set();
  for (const output of metafiles.flatMap(({ outputs }) => Object.values(outputs)))
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const directory = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
      if (directory !== undefined && bytesInOutput > 0) found.add(directory);
    }
  return [...found].sort();
}

export function formatNotices(root, directories) {
  const intro = "blemees contains code from the following packages.\n";
  return [intro, ...directories.map((directory) => formatNotice(join(root, directory)))].join(
    `\n${"-".repeat(80)}\n\n`,
  );
}

function formatNotice(directory) {
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const { name, version, license, author, repository } = manifest;
  if (license === undefined) throw new Error(`${name}@${version} names no licence`);
  const files = readdirSync(directory)
    .filter((file) => LICENCE_FILE.test(file))
    .sort()
    .map((file) => readFileSync(join(directory, file), "utf8").replaceAll("\r\n", "\n").trim());
  // Some packages name their licence without a copy of it.
  if (files.length === 0)
    files.push(
      `Licence: ${license}\nAuthor: ${author?.name ?? author}\nSource: ${repository?.url ?? repository}`,
    );
  return `${[`${name} ${version} (${license})`, ...files].join("\n\n")}\n`;
}
