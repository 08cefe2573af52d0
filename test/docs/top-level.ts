// What a module does when it is merely imported. esbuild prints each top-level statement from column 0, and with
// template literals lowered nothing else starts there, so the statements can be separated without a parser.
import { transformSync } from "esbuild";

const DECLARATION = /^(import|export|const|let|var|function|class|async function)\b/;
const CONTINUATION = /^[)\]}]/;
const NOTHING = /^(\/\/|\/\*| \*|$)/;
const INITIALISER = /^(?:export )?(?:const|let|var) [^=]+= (?:new )?([\w$]+)[\w$.]*\(/;
const NODE_IMPORT = /^import \{([^}]+)\} from "node:[^"]+"|^import (?:\* as )?([\w$]+) from "node:[^"]+"/gm;
/** Globals that start something. */
const ACTIVE = ["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "fetch", "require"];

/** Sentences about statements that run at import: calls, loops, conditions, top-level await, I/O in a constant. */
export function findImportEffects(path: string, text: string): string[] {
  let printed: string;
  try {
    printed = transformSync(text, {
      loader: "ts",
      legalComments: "none",
      supported: { "template-literal": false, "top-level-await": false },
    }).code;
  } catch (error) {
    return [`${path}: ${(error as Error).message.replace(/\s+/g, " ")}`];
  }
  const fromNode = new Set([...ACTIVE, ...namesFromNode(printed)]);
  return printed.split("\n").flatMap((line) => {
    if (line.startsWith(" ") || NOTHING.test(line) || CONTINUATION.test(line)) return [];
    if (!DECLARATION.test(line)) return [`${path} runs at import: ${line}`];
    const callee = INITIALISER.exec(line)?.[1];
    return callee !== undefined && fromNode.has(callee) ? [`${path} runs at import: ${line}`] : [];
  });
}

function namesFromNode(printed: string): string[] {
  return [...printed.matchAll(NODE_IMPORT)].flatMap(([, list, single]) =>
    (list ?? single ?? "").split(",").map((name) => name.split(" as ").at(-1)?.trim() ?? ""),
  );
}
