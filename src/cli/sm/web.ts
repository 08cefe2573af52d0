// The command web: a link to the dashboard, for the browser on this machine or at the other end of an ssh.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../base/coded-error.ts";
import type { WebLink } from "../../client/index.ts";
import { duration } from "../duration.ts";
import { type Command, type Context, numberFlag } from "./command.ts";
import { stateDirectory } from "./start-daemon.ts";

type Env = Context["env"];

export const WEB: Command = {
  name: "web",
  usage: "web",
  summary: "a link to the dashboard in your browser; it works once",
  words: [0, 0],
  flags: [
    {
      name: "port",
      value: "N",
      summary: "the port on 127.0.0.1, if none is open yet; 0 is any free one [7433]",
    },
    { name: "open", summary: "start the browser too, where there is a screen" },
  ],
  examples: ["web", "web --open", "web --port 8080"],
  notes: [
    "The page is served by the daemon on 127.0.0.1 only. From another machine, forward the port by ssh first:",
    "  ssh -L 7433:127.0.0.1:7433 HOST",
    "The port stays open until the daemon stops. Then `sm web` opens it again, and tabs on the same port go on.",
  ],
  async run(given, context) {
    const port = numberFlag(given, "port", { isWhole: true });
    const http = await context.connect();
    const link = await http.webLink(port === undefined ? {} : { port });
    const { output } = context;
    if (port !== undefined && port !== 0 && port !== link.port) {
      output.note(`the daemon serves on port ${link.port} already; --port counts only for the first link`);
    }
    if (context.isJson) await output.json(link);
    else {
      await output.line(link.url);
      for (const line of adviceLines(link, context.env, Date.now())) output.note(line);
    }
    if (given.flags["open"]) output.note(await openBrowser(link.url, context.env));
    return 0;
  },
};

/** What to do with the link, where this shell is. */
export function adviceLines({ port, expires_at_ms }: WebLink, env: Env, nowMs: number): string[] {
  const life = `It works once, within ${duration(Math.max(0, expires_at_ms - nowMs))}.`;
  if (env["SSH_CONNECTION"] === undefined) return [`Open this link in your browser. ${life}`];
  return [
    "You are here by ssh. On your own machine run, and leave it open:",
    `  ssh -L ${port}:127.0.0.1:${port} ${whereTo(env)}`,
    `Then open the link in your browser there. ${life}`,
  ];
}

/** As the other side reached us; a jump host or a port of its own it knows better than we. */
function whereTo(env: Env): string {
  const user = env["USER"] ?? env["LOGNAME"];
  return `${user === undefined ? "" : `${user}@`}${hostname()}`;
}

/** How to start a browser; undefined where there is no screen to show it. */
export function browserCommand(env: Env, platform: NodeJS.Platform): string | undefined {
  if (env["SSH_CONNECTION"] !== undefined) return undefined;
  if (platform === "darwin") return "open";
  return (env["DISPLAY"] ?? "") !== "" || (env["WAYLAND_DISPLAY"] ?? "") !== "" ? "xdg-open" : undefined;
}

/** Everybody on the machine sees arguments: the browser gets a file that only we can read, and that leads on. */
async function openBrowser(url: string, env: Env): Promise<string> {
  const command = browserCommand(env, process.platform);
  if (command === undefined) return "There is no screen here to open a browser on.";
  try {
    await start(command, writePage(url, stateDirectory(env)));
    // One that is packed as a snap may not read there.
    return "The browser was started; if it shows no page, open the link yourself.";
  } catch (error) {
    return `The browser could not be started (${messageOf(error)}); open the link yourself.`;
  }
}

export function writePage(url: string, directory: string): string {
  const file = join(directory, "open-dashboard.html");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const page = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${url}">\n`;
  writeFileSync(file, "", { mode: 0o600 });
  chmodSync(file, 0o600); // also one that was there before
  writeFileSync(file, page);
  return file;
}

function start(command: string, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [file], { stdio: "ignore", detached: true });
    child.once("error", reject);
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}
