// Messages as they are in sessions of agents, made of the files of this repository and its packages. Always the same ones.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const PLACES = ["src", "test", "docs", "scripts", "node_modules"];
const MAX_FILE_CHARS = 200_000;
const MAX_DEPTH = 9;
const CHINESE = "检索历史会话中的所有消息并返回最好的结果修复登录页面的错误请看测试文件数据库";

/** Between 0 and 1. @param {number} seed */
export function createRandom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

export function createTexts() {
  const random = createRandom(20_261_119);
  const files = PLACES.flatMap((place) => listFiles(join(ROOT, place), MAX_DEPTH));
  for (let at = files.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [files[at], files[other]] = [files[other] ?? "", files[at] ?? ""];
  }
  const prose = createReader(files.filter((file) => file.endsWith(".md")));
  const code = createReader(files.filter((file) => !file.endsWith(".md")));
  const hex = () => Math.floor(random() * 2 ** 48).toString(16);
  return {
    /** The shares and lengths of a coding session: mostly calls of tools and what they return. */
    next() {
      const kind = random();
      if (kind < 0.01) return user(CHINESE.slice(Math.floor(random() * 20)).repeat(3));
      if (kind < 0.06) return user(prose(60 + random() * 400));
      if (kind < 0.36) return agent(`${prose(100 + random() * 800)} ${hex()}`);
      if (kind < 0.64) {
        const word =
          code(60)
            .split(/\W+/)
            .find((one) => one.length > 4) ?? "main";
        return call(
          `cd /home/me/p${Math.floor(random() * 50)} && grep -rn ${word} src/ | head -${Math.floor(random() * 90)}`,
        );
      }
      return result(
        `${code(200 + random() ** 2 * 3_500)}\n${hex()}-${hex()} ${Math.floor(random() * 100_000)}ms\n`,
      );
    },
  };
}

/** @param {string} text */
const user = (text) => ({
  text,
  frame: { type: "agent.notice", backend: "x", level: "info", category: "input_delivered", text },
});
/** @param {string} text */
const agent = (text) => ({
  text,
  frame: { type: "agent.message", backend: "x", role: "assistant", content: [{ type: "text", text }] },
});
/** @param {string} command */
const call = (command) => ({
  text: `Bash\n${command}`,
  frame: { type: "agent.tool_use", backend: "x", tool_use_id: "t", name: "Bash", input: { command } },
});
/** @param {string} output */
const result = (output) => ({
  text: output,
  frame: { type: "agent.tool_result", backend: "x", tool_use_id: "t", output },
});

/** Continues where the last text ended. @param {string[]} files */
function createReader(files) {
  let file = -1;
  let text = "";
  let at = 0;
  return (/** @type {number} */ length) => {
    while (at >= text.length) {
      file = (file + 1) % files.length;
      text = readFileSync(files[file] ?? "", "utf8").slice(0, MAX_FILE_CHARS);
      at = 0;
    }
    const part = text.slice(at, at + Math.floor(length));
    at += part.length;
    return part;
  };
}

/** @param {string} directory @param {number} depth @returns {string[]} */
function listFiles(directory, depth) {
  if (depth === 0) return [];
  return readdirSync(directory, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return entry.name.startsWith(".") ? [] : listFiles(path, depth - 1);
      const isText =
        /\.(?:js|ts|mjs|cjs|md|json|txt|css)$/.test(entry.name) && !/\.min\.|\.map$/.test(entry.name);
      return entry.isFile() && isText ? [path] : [];
    });
}
