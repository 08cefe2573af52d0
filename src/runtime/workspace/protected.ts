// What no tool may touch, whatever anybody allowed. Paths are relative to the workspace, with "/"; ask for the
// lexical and for the real path of a file.

/** With the copies that editors leave. */
const SECRET = /^\.env(\..*)?~?$/;
/** Templates that are made to be read. */
const HARMLESS = new Set([".env.example", ".env.sample", ".env.template"]);
const WRITE_PROTECTED = new Set([".git", ".demian", "node_modules"]);
/** Characters that some file systems ignore in names: `.g\u200cit` is `.git` there. */
const IGNORED = /[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff]/g;

/** May not be read, written, searched or listed with its contents: environment files, at any depth. */
export function isSecretPath(path: string): boolean {
  return namesOf(path).some((name) => SECRET.test(name) && !HARMLESS.has(name));
}

/** May not be written: secrets, what git and demian trust, and installed packages. */
export function isWriteProtected(path: string): boolean {
  return isSecretPath(path) || namesOf(path).some((name) => WRITE_PROTECTED.has(name));
}

/** What demian keeps in the workspace: settings, transcripts, outputs. */
export function isOfDemian(path: string): boolean {
  return namesOf(path)[0] === ".demian";
}

function namesOf(path: string): string[] {
  return path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .map((name) => name.normalize("NFKC").replace(IGNORED, "").toLowerCase());
}
