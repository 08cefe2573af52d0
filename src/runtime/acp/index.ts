// `demian acp`: the runtime as an ACP agent over two streams. The door of this folder; everything else is loaded when
// it is called, because programs that never speak ACP import this too.
import type { AcpOptions } from "./options.ts";

export type { AcpFlags, AcpOptions } from "./options.ts";

/**
 * Serves until the input ends, nobody reads the output, or the signal aborts. Then no turn and no command runs any more.
 * Rejects, after the same end, when a message was too long to be read.
 */
export async function serveAcp(options: AcpOptions): Promise<void> {
  const { serve } = await import("./serve.ts");
  await serve(options);
}
