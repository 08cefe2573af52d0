// Masks secrets with a recognizable format in the model's text before it is stored (base/secrets.ts). Streamed text is masked
// by secret-stream.ts.
import { maskSecrets } from "../../../base/secrets.ts";
import type { Hook } from "../types.ts";

export function createMaskSecrets(): Hook {
  return {
    name: "mask-secrets",
    event: "AfterModelResponse",
    kind: "builtin",
    onError: "block",
    run: ({ text = "" }) => {
      const masked = maskSecrets(text);
      return Promise.resolve(masked === text ? {} : { patch: { text: masked } });
    },
  };
}
