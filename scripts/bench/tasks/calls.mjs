// A step as a call of the tools that an agent offers.
import { join } from "node:path";

/**
 * @typedef {{ name: string, input: object } | { name: string, text: string }} Call `text`: a tool without a JSON schema
 * @param {import("./list.mjs").Step} step
 * @param {ReadonlySet<string>} tools the names that the agent offers
 * @param {string} cwd
 * @returns {Call}
 */
export function toCall(step, tools, cwd) {
  const isDemian = tools.has("read_file");
  const isCodex = tools.has("exec_command");
  const absolute = (/** @type {string} */ path) => join(cwd, path);
  const shell = (/** @type {string} */ command) =>
    isCodex
      ? { name: "exec_command", input: { cmd: command } }
      : { name: "bash", input: { command, description: "Runs a command" } };
  switch (step.do) {
    case "run":
      return shell(step.command);
    case "search":
      if (isCodex) return shell(`grep -rn ${step.text} .`);
      return { name: "grep", input: { pattern: step.text } };
    case "read":
      if (isDemian) return { name: "read_file", input: { path: step.path } };
      if (isCodex) return shell(`cat ${step.path}`);
      return { name: "read", input: { filePath: absolute(step.path) } };
    case "edit": {
      const change = { oldString: step.from, newString: step.to };
      if (isDemian) return { name: "edit_file", input: { path: step.path, ...change } };
      if (tools.has("edit")) return { name: "edit", input: { filePath: absolute(step.path), ...change } };
      return patch(
        `*** Update File: ${step.path}\n@@\n${prefix("-", step.from)}\n${prefix("+", step.to)}`,
        isCodex,
      );
    }
    case "write":
      if (isDemian) return { name: "write_file", input: { path: step.path, content: step.text } };
      if (tools.has("write"))
        return { name: "write", input: { filePath: absolute(step.path), content: step.text } };
      return patch(`*** Add File: ${step.path}\n${prefix("+", step.text)}`, isCodex);
  }
}

/** @param {string} sign @param {string} text */
function prefix(sign, text) {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => sign + line)
    .join("\n");
}

/** @param {string} body @param {boolean} isCodex @returns {Call} */
function patch(body, isCodex) {
  const text = `*** Begin Patch\n${body}\n*** End Patch`;
  return isCodex ? { name: "apply_patch", text } : { name: "apply_patch", input: { patchText: text } };
}
