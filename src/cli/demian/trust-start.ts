// Asks about files without a trust decision before the screen starts, because they must be loaded before it.

import { realpath } from "node:fs/promises";
import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { explainNoTrust } from "../../runtime/config/scope.ts";
import { decideTrust } from "../../runtime/config/trust.ts";
import { listTrustables, type Trustable } from "../../runtime/config/trustable.ts";
import type { DemianContext } from "./command.ts";
import type { Order } from "./order.ts";
import { Screen } from "./screen.ts";
import { Terminal } from "./terminal.ts";
import { formatFile } from "./trust.ts";

const PROMPT = "[y]es, trust this version / [n]ever ask again / [Enter] not now: ";

export async function askTrust(order: Order, context: DemianContext): Promise<void> {
  const files = await findUndecided(order, context);
  if (files.length === 0) return;
  const { io, output } = context;
  const { stdin, stdout, stderr, env, isShared } = io;
  const screen = new Screen({ stdout, stderr, env, isShared });
  const terminal = new Terminal({ input: stdin, output: stderr, screen, env });
  try {
    for (const file of files) {
      output.ask(formatFile(file, output.talkColumns).join("\n"));
      const said = await terminal.ask({ prompt: PROMPT, isFresh: true });
      // Ctrl-C and Ctrl-D skip this file and the remaining ones.
      if (said.kind !== "line") return;
      const word = said.text.trim().toLowerCase();
      if (word === "y" || word === "yes") await decide(file, "trusted");
      if (word === "n" || word === "never") await decide(file, "refused");
    }
  } finally {
    terminal.close();
  }
}

/** The runtime reports errors when it loads. */
async function findUndecided(
  { cwd, configPath, flags }: Order,
  { io, output }: DemianContext,
): Promise<Trustable[]> {
  const trust = flags["trust"] as { project?: boolean; userTools?: boolean } | undefined;
  try {
    const place = { cwd: await realpath(cwd), env: io.env };
    if ((await explainNoTrust(place)) !== undefined) return [];
    const { config } = await loadConfig({ ...place, ...defined({ configPath }) });
    const userTools = trust?.userTools === true || config.trust.userTools;
    const { files, faults } = await listTrustables(place, {
      userTools,
      instructions: config.instructions.enabled,
    });
    for (const fault of faults) output.note(`! ${sanitizeLine(fault)}`);
    return files.filter(
      ({ state, scope, isTrustedByConfig }) =>
        (state === "unknown" || state === "changed") &&
        !isTrustedByConfig &&
        !(scope.name === "project" && trust?.project === true),
    );
  } catch {
    // An invalid config or a missing directory is reported at startup.
    return [];
  }
}

async function decide(
  { path, sha256, kind, scope }: Trustable,
  action: "trusted" | "refused",
): Promise<void> {
  await decideTrust(scope.trustDirectory, [{ path, sha256, kind }], action, Date.now());
}
