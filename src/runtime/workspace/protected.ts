// Paths no tool may touch, whatever the rules say. Relative to the workspace, with "/"; check both the lexical and the
// real path of a file.

/** Also direnv's `.envrc`, and the backup copies of editors. */
const SECRET = /^\.env(rc)?(\..*)?~?$/;
/** Templates without secrets. */
const HARMLESS = new Set(
  [".env", ".envrc"].flatMap((name) => ["example", "sample", "template"].map((kind) => `${name}.${kind}`)),
);
const WRITE_PROTECTED = new Set([".git", ".demian", "node_modules"]);
/** Characters that some file systems ignore in names: `.g\u200cit` is `.git` there. */
const IGNORED = /[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff]/g;

/** Environment files, at any depth: not read, written, searched or listed with their contents. */
export function isSecretPath(path: string): boolean {
  return splitNames(path).some((name) => SECRET.test(name) && !HARMLESS.has(name));
}

/** Not written: secrets, files that git and demian trust, and installed packages. */
export function isWriteProtected(path: string): boolean {
  return isSecretPath(path) || splitNames(path).some((name) => WRITE_PROTECTED.has(name));
}

/** demian's own files in the workspace: settings, transcripts, outputs. */
export function isDemianPath(path: string): boolean {
  return splitNames(path)[0] === ".demian";
}

function splitNames(path: string): string[] {
  return path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .map((name) => name.normalize("NFKC").replace(IGNORED, "").toLowerCase());
}
