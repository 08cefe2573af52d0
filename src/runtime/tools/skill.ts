// skill: gives the model the text of a skill, or a file of it. The tool's description lists the skills.
import { readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { isBelow } from "../../base/commands/executables.ts";
import type { Skill } from "../skills/read.ts";
import { defineTool } from "./define.ts";
import { capOutput } from "./output.ts";
import { type ToolDefinition, ToolError } from "./types.ts";

export const SKILL_TOOL = "skill";
const MAX_LIST_CHARS = 8000;
const MAX_FILE_BYTES = 1024 * 1024;

const Input = z.strictObject({
  name: z.string().min(1).describe("A name from the list."),
  file: z
    .string()
    .min(1)
    .optional()
    .describe("A file of the skill, as its text names it. Default: the text."),
});

export function createSkillTool(skills: readonly Skill[]): ToolDefinition {
  return defineTool({
    name: SKILL_TOOL,
    description: describeSkills(skills),
    input: Input,
    metadata: { sideEffect: "none", defaultDecision: "allow" },
    plan: async ({ name, file }) => {
      const skill = findSkill(skills, name);
      const what = file === undefined ? skill.name : `${skill.name}/${file}`;
      return { title: `${SKILL_TOOL}: ${what}`, targets: [{ kind: "other", key: what }] };
    },
    execute: async ({ name, file }, _plan, { keepOutput }) => {
      const skill = findSkill(skills, name);
      const text = file === undefined ? formatSkill(skill) : await readSkillFile(skill, file);
      const { content } = await capOutput(text, keepOutput);
      return { ok: true, content };
    },
  });
}

/** Sent with every request, so names stay and descriptions get shorter when there are many. */
function describeSkills(skills: readonly Skill[]): string {
  const room = Math.floor(MAX_LIST_CHARS / skills.length);
  const lines = skills.map(({ name, description }) => {
    const line = `- ${name}: ${description}`;
    return line.length <= room ? line : `${line.slice(0, Math.max(room - 1, name.length + 2))}…`;
  });
  return [
    "Loads a skill: instructions for a kind of task. Load the one that fits before you start such a task. The skills:",
    ...lines,
  ].join("\n");
}

function findSkill(skills: readonly Skill[], name: string): Skill {
  const skill = skills.find((one) => one.name === name);
  if (skill !== undefined) return skill;
  throw new ToolError(
    "unknown_skill",
    `there is no skill "${name}"; known: ${skills.map((one) => one.name).join(", ")}`,
  );
}

function formatSkill({ name, text, files }: Skill): string {
  const more =
    files.length === 0
      ? []
      : [`[Its files, to be read with ${SKILL_TOOL}(name: "${name}", file): ${files.join(", ")}]`];
  return [text, ...more].join("\n\n");
}

/** Only the files that were listed when it was loaded, and only within its directory. */
async function readSkillFile({ name, directory, files }: Skill, file: string): Promise<string> {
  const known = files.join(", ") || "none";
  if (!files.includes(file))
    throw new ToolError("unknown_file", `the skill ${name} has no file "${file}"; its files: ${known}`);
  const real = await realpath(join(directory, file)).catch(() => "");
  if (!isBelow(real, await realpath(directory)))
    throw new ToolError("unknown_file", `${file} is not in the directory of the skill ${name}`);
  if ((await stat(real)).size > MAX_FILE_BYTES)
    throw new ToolError("too_large", `${file} is larger than ${MAX_FILE_BYTES / 1024} KiB`);
  const bytes = await readFile(real);
  if (bytes.includes(0)) throw new ToolError("binary", `${file} is a binary file`);
  return bytes.toString("utf8");
}
