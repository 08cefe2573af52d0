// 20 small coding tasks in a small project, as steps that a scripted model takes with the tools of any agent.

/**
 * @typedef {{ do: "search", text: string } | { do: "read", path: string } | { do: "run", command: string }
 *   | { do: "edit", path: string, from: string, to: string } | { do: "write", path: string, text: string }} Step
 * @typedef {{ prompt: string, files: Record<string, string>, steps: Step[] }} Task
 */

/** Edits replace whole lines, as the patches of some agents require. */
const SUM = (/** @type {number} */ n) => `export const sum${n} = (a, b) => a - b;`;

const filler = (/** @type {string} */ name) =>
  Array.from(
    { length: 30 },
    (_, n) => `/** Step ${n} of ${name}. */\nexport const step${n} = (value) => value + ${n};\n`,
  ).join("\n");

/** @returns {Task[]} */
export function listTasks() {
  return Array.from({ length: 20 }, (_, n) => KINDS[n % KINDS.length]?.(n)).filter(
    (task) => task !== undefined,
  );
}

/** @type {((n: number) => Task)[]} */
const KINDS = [
  (n) => ({
    prompt: `The function sum${n} subtracts. Fix it and run the check.`,
    files: project(n),
    steps: [
      { do: "search", text: `sum${n}` },
      { do: "read", path: `src/sum${n}.js` },
      { do: "edit", path: `src/sum${n}.js`, from: SUM(n), to: SUM(n).replace("-", "+") },
      { do: "run", command: "node check.js" },
    ],
  }),
  (n) => ({
    prompt: `Add a function double${n} to src/steps.js.`,
    files: project(n),
    steps: [
      { do: "read", path: "src/steps.js" },
      {
        do: "edit",
        path: "src/steps.js",
        from: "// end\n",
        to: `export const double${n} = (value) => value * 2;\n// end\n`,
      },
      { do: "run", command: "node check.js" },
    ],
  }),
  (n) => ({
    prompt: `Write a test for sum${n} in test/sum${n}.test.js.`,
    files: project(n),
    steps: [
      { do: "read", path: `src/sum${n}.js` },
      {
        do: "write",
        path: `test/sum${n}.test.js`,
        text: `import { sum${n} } from "../src/sum${n}.js";\nconsole.log(sum${n}(2, 1));\n`,
      },
      { do: "run", command: `node test/sum${n}.test.js` },
    ],
  }),
  (n) => ({
    prompt: `Rename sum${n} to total${n} everywhere.`,
    files: project(n),
    steps: [
      { do: "search", text: `sum${n}` },
      { do: "read", path: `src/sum${n}.js` },
      { do: "read", path: "check.js" },
      { do: "edit", path: `src/sum${n}.js`, from: SUM(n), to: SUM(n).replace("sum", "total") },
      {
        do: "edit",
        path: "check.js",
        from: `import { sum${n} } from "./src/sum${n}.js";`,
        to: `import { total${n} } from "./src/sum${n}.js";`,
      },
      { do: "run", command: "node check.js" },
    ],
  }),
  (n) => ({
    prompt: "Say in README.md how to run the check.",
    files: project(n),
    steps: [
      { do: "read", path: "README.md" },
      { do: "edit", path: "README.md", from: "To do.", to: "Run `node check.js`." },
    ],
  }),
];

/** @param {number} n @returns {Record<string, string>} */
function project(n) {
  return {
    "README.md": `# Project ${n}\n\nTo do.\n`,
    "package.json": `{ "name": "project${n}", "type": "module" }\n`,
    [`src/sum${n}.js`]: `${SUM(n)}\n`,
    "src/steps.js": `${filler("steps")}// end\n`,
    "check.js": `import { sum${n} } from "./src/sum${n}.js";\nconsole.log("checked");\n`,
  };
}

/** Whether a file has what the step put there. @param {Step} step @param {(path: string) => string} read */
export function isApplied(step, read) {
  if (step.do === "edit") return read(step.path).includes(step.to);
  return step.do !== "write" || read(step.path).includes(step.text.trim());
}
