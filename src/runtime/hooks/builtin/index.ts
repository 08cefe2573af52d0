// The hooks that always run. They catch obvious damage and secrets before the user is asked; the security boundary is the
// sandbox.
import type { Hook } from "../types.ts";
import { createBlockDangerousBash } from "./block-dangerous-bash.ts";
import { createInjectEnvInfo } from "./inject-env-info.ts";
import { createMaskSecrets } from "./mask-secrets.ts";
import { createProtectEnvFiles } from "./protect-env-files.ts";

export function createBuiltinHooks(): Hook[] {
  return [createBlockDangerousBash(), createProtectEnvFiles(), createMaskSecrets(), createInjectEnvInfo()];
}
