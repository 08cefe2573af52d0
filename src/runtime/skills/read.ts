// Skills: `skills/NAME/SKILL.md` of the user and of the project, with files beside it. The front matter has a name and a
// description, the text below it tells the model how to do something. A faulty one is skipped and reported.
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toMessage } from "../../base/coded-error.ts";
import { parseFrontMatter } from "../agents/front-matter.ts";
import { LineFault } from "../agents/line-fault.ts";
import { decodeFile } from "../config/bounded-file.ts";
import type { ScopeFile } from "../config/scope.ts";
import { explainHowToTrust, getTrust, type TrustRecords } from "../config/trust.ts";
import { toOneLine } from "../context/one-line.ts";

export interface Skill {
  name: string;
  /** One line. */
  description: string;
  /** What the model is to do. */
  text: string;
  /** Absolute. */
  directory: string;
  /** Other files in its directory, by name. */
  files: readonly string[];
}

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MAX_DESCRIPTION = 300;
const MAX_LISTED_FILES = 50;

/** The user's come first; a project's needs trust, and none replaces another of the same name. */
export async function readSkills(
  scopes: readonly { skills: readonly ScopeFile[]; trust: TrustRecords }[],
  warnings: string[],
): Promise<Skill[]> {
  const skills: Skill[] = [];
  for (const { skills: files, trust } of scopes)
    for (const file of files) {
      const refusal = explainRefusal(file, trust);
      if (refusal === "") continue;
      try {
        if (refusal !== undefined) throw new Error(refusal);
        const skill = await readSkill(file);
        if (skills.some(({ name }) => name === skill.name))
          throw new Error(`there is another skill "${skill.name}"; rename one of them`);
        skills.push(skill);
      } catch (error) {
        const line = error instanceof LineFault ? `:${error.line}` : "";
        warnings.push(`${file.path}${line} is not loaded: ${toMessage(error)}`);
      }
    }
  return skills;
}

/** Undefined: it may be used. Empty: the user refused it, which needs no warning. */
function explainRefusal(file: ScopeFile, trust: TrustRecords): string | undefined {
  if (file.isWritableByOthers) return "it is writable by everyone; run chmod go-w on it";
  if (file.scope.name === "user") return undefined;
  const state = getTrust(trust, file);
  if (state === "trusted") return undefined;
  return state === "refused" ? "" : `it tells the model what to do; ${explainHowToTrust(file.path)}`;
}

async function readSkill(file: ScopeFile): Promise<Skill> {
  const { value, body } = await parseFrontMatter(decodeFile(file));
  const { name = file.stem, description } = value;
  if (name !== file.stem) throw new Error(`its "name" must be that of its directory: ${file.stem}`);
  if (!NAME.test(file.stem)) throw new Error("the name of its directory must be of a-z, 0-9 and -");
  if (typeof description !== "string" || description.trim() === "")
    throw new Error('its front matter needs a "description": one line that says when to use it');
  const directory = dirname(file.path);
  return {
    name: file.stem,
    description: toOneLine(description, MAX_DESCRIPTION),
    text: body.trim(),
    directory,
    files: await listFiles(directory),
  };
}

async function listFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(directory.length + 1))
    .filter((name) => name !== "SKILL.md" && !/(^|\/)\./.test(name))
    .sort()
    .slice(0, MAX_LISTED_FILES);
}
