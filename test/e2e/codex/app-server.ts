// Another codex on the same CODEX_HOME, like a user's editor or terminal.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type CodexWorld, codexProgram } from "./world.ts";

interface Reply {
  id?: number;
  result?: Record<string, unknown>;
  error?: { message: string };
}

/** Keeps the thread open until the returned function is called. */
export async function holdThread(world: CodexWorld, threadId: string): Promise<() => Promise<void>> {
  const child = spawn(codexProgram(), ["app-server"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: world.home,
      TMPDIR: join(world.home, "tmp"),
      CODEX_HOME: join(world.home, "codex"),
      MOCK_KEY: "sk-mock",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const replies = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last = 0;
  const request = async (method: string, params: object): Promise<void> => {
    const id = ++last;
    child.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    for (;;) {
      const { value, done } = await replies.next();
      if (done === true) throw new Error(`codex ended during ${method}`);
      const reply = JSON.parse(value) as Reply;
      if (reply.id !== id) continue;
      if (reply.error !== undefined) throw new Error(`${method}: ${reply.error.message}`);
      return;
    }
  };
  const capabilities = { experimentalApi: true };
  await request("initialize", { clientInfo: { name: "somebody", version: "1" }, capabilities });
  child.stdin.write('{"method":"initialized"}\n');
  await request("thread/resume", { threadId, excludeTurns: true });
  return async () => {
    const gone = once(child, "exit");
    child.stdin.end();
    await gone;
  };
}
