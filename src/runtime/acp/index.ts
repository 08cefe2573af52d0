// `demian acp`: the runtime as an ACP agent over two streams. The rest is loaded on the first call, because all programs
// import this file.
import type { AcpOptions } from "./options.ts";

export type { AcpFlags, AcpOptions } from "./options.ts";

/**
 * Serves until the input ends, the output is closed or the signal aborts, then stops all turns and commands. Rejects if a
 * message was too long.
 */
export async function serveAcp(options: AcpOptions): Promise<void> {
  const { serve } = await import("./serve.ts");
  await serve(options);
}
