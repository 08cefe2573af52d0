// Asks at the start of a talk what becomes of files that nobody has decided about. Later there is a screen, and what is
// to be trusted must be loaded before it.
import { realpath } from "node:fs/promises";
import { sanitizeLine } from "../../base/sanitize.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { whyNoTrust } from "../../runtime/config/scope.ts";
import { decideTrust } from "../../runtime/config/trust.ts";
import { listTrustables, type Trustable } from "../../runtime/config/trustable.ts";
import type { Context } from "./command.ts";
import type { Order } from "./order.ts";
import { Screen } from "./screen.ts";
import { Terminal } from "./terminal.ts";
import { shownFile } from "./trust.ts";

const PROMPT = "[y]es, exactly as it is now / [n]ever ask again / [Enter] not now: ";

export async function askTrust(order: Order, context: Context): Promise<void> {
  const files = await undecided(order, context);
  if (files.length === 0) return;
  const { io, output } = context;
  const { stdin, stdout, stderr, env, isShared } = io;
  const screen = new Screen({ stdout, stderr, env, isShared });
  const terminal = new Terminal({ input: stdin, output: stderr, screen, env });
  try {
    for (const file of files) {
      output.ask(shownFile(file, output.talkColumns).join("\n"));
      const said = await terminal.ask({ prompt: PROMPT, isFresh: true });
      // Ctrl-C and Ctrl-D are no answer to this one, nor to those behind it.
      if (said.kind !== "line") return;
      const word = said.text.trim().toLowerCase();
      if (word === "y" || word === "yes") await decide(file, "trusted");
      if (word === "n" || word === "never") await decide(file, "refused");
    }
  } finally {
    terminal.close();
  }
}

/** What cannot be found out here is told by the runtime when it loads. */
async function undecided({ cwd, configPath, flags }: Order, { io, output }: Context): Promise<Trustable[]> {
  const trust = flags["trust"] as { project?: boolean; userTools?: boolean } | undefined;
  try {
    const place = { cwd: await realpath(cwd), env: io.env };
    if ((await whyNoTrust(place)) !== undefined) return [];
    const { config } = await loadConfig({ ...place, ...(configPath === undefined ? {} : { configPath }) });
    const userTools = trust?.userTools === true || config.trust.userTools;
    const { files, faults } = await listTrustables(place, { userTools });
    for (const fault of faults) output.note(`! ${sanitizeLine(fault)}`);
    return files.filter(
      ({ state, scope, isTrustedByConfig }) =>
        (state === "unknown" || state === "changed") &&
        !isTrustedByConfig &&
        !(scope.name === "project" && trust?.project === true),
    );
  } catch {
    // A config with a fault, a directory that is not there: the start itself says so.
    return [];
  }
}

async function decide({ path, sha256, kind, scope }: Trustable, deed: "trusted" | "refused"): Promise<void> {
  await decideTrust(scope.trustDirectory, [{ path, sha256, kind }], deed, Date.now());
}
