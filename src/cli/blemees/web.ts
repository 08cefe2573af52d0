// `sm web`: a link to the dashboard, for a browser on this machine or at the other end of an ssh connection.

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { WebLink } from "../../client/index.ts";
import { formatAge } from "../../client/view/format.ts";
import { defineFlag, readNumberFlag } from "../command.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { findStateDirectory } from "./state-directory.ts";

type Env = BlemeesContext["env"];

export const WEB: BlemeesCommand = {
  name: "web",
  usage: "web",
  summary: "print a one-time link to the dashboard",
  words: [0, 0],
  flags: [
    defineFlag("--port N", "the port on 127.0.0.1 if none is open yet; 0 is any free port (default 7433)"),
    defineFlag("--open", "open the browser too, if there is a display"),
  ],
  examples: ["web", "web --open", "web --port 8080"],
  notes: [
    "The daemon serves the page on 127.0.0.1 only. From another machine, forward the port first:",
    "  ssh -L 7433:127.0.0.1:7433 HOST",
    "The port stays open until the daemon stops, also over crashes and upgrades: tabs reconnect. Afterwards `sm web`",
    "opens it again.",
  ],
  async run(given, context) {
    const port = readNumberFlag(given, "port", { isWhole: true });
    const http = await context.connect();
    const link = await http.webLink(defined({ port }));
    const { output } = context;
    if (port !== undefined && port !== 0 && port !== link.port) {
      output.note(`the daemon already serves on port ${link.port}; --port applies only to the first link`);
    }
    if (context.isJson) await output.json(link);
    else {
      await output.line(link.url);
      for (const line of formatAdvice(link, context.env, Date.now())) output.note(line);
    }
    if (given.flags["open"]) output.note(await openBrowser(link.url, context.env));
    return 0;
  },
};

export function formatAdvice({ port, expires_at_ms }: WebLink, env: Env, nowMs: number): string[] {
  const life = `It works once, within ${formatAge(expires_at_ms - nowMs)}.`;
  if (env["SSH_CONNECTION"] === undefined) return [`Open this link in your browser. ${life}`];
  return [
    "This is an ssh session. On your own machine run this, and leave it open:",
    `  ssh -L ${port}:127.0.0.1:${port} ${sshTarget(env)}`,
    `Then open the link in your browser there. ${life}`,
  ];
}

/** The user may need to add a jump host or port. */
function sshTarget(env: Env): string {
  const user = env["USER"] ?? env["LOGNAME"];
  return `${user === undefined ? "" : `${user}@`}${hostname()}`;
}

/** The command that opens a browser; undefined without a display. */
export function findBrowserCommand(env: Env, platform: NodeJS.Platform): string | undefined {
  if (env["SSH_CONNECTION"] !== undefined) return undefined;
  if (platform === "darwin") return "open";
  return (env["DISPLAY"] ?? "") !== "" || (env["WAYLAND_DISPLAY"] ?? "") !== "" ? "xdg-open" : undefined;
}

/** Arguments are visible to other users, so the browser gets a private file that redirects to the link. */
async function openBrowser(url: string, env: Env): Promise<string> {
  const command = findBrowserCommand(env, process.platform);
  if (command === undefined) return "There is no display to open a browser on.";
  try {
    await start(command, writePage(url, await findStateDirectory(env)));
    // A browser packaged as a snap may not read this file.
    return "Browser opened; if it shows no page, open the link yourself.";
  } catch (error) {
    return `Cannot open a browser (${toMessage(error)}); open the link yourself.`;
  }
}

export function writePage(url: string, directory: string): string {
  const file = join(directory, "open-dashboard.html");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const page = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${url}">\n`;
  writeFileSync(file, "", { mode: 0o600 });
  chmodSync(file, 0o600); // an existing file keeps its mode
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
