// The demo backend: an ACP agent with one option of its own.
import * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";
import type { Backend } from "../types.ts";
import { createDemoSpec, type DemianProgram } from "./demian.ts";
import { createAcpBackend } from "./index.ts";
import { AcpOptions } from "./options.ts";
import type { AcpHost } from "./spec.ts";

const Options = AcpOptions.extend({
  /** Milliseconds between two words. */
  pace_ms: z.int().min(0).max(10_000).nullish(),
});

export function createDemoBackend(program: DemianProgram, host: AcpHost): Backend {
  const backend = createAcpBackend(createDemoSpec(program), host);
  const { name } = backend;
  return {
    ...backend,
    options: Options,
    checkOptions: (block) => {
      const checked = Options.safeParse(block);
      if (!checked.success) {
        throw new CodedError("invalid_message", explainIssues(checked.error.issues, `/options/${name}`));
      }
      const { pace_ms, ...rest } = checked.data;
      const options = backend.checkOptions(rest);
      // The pace is part of the model's name, because that is the only thing an agent gets about its model.
      return pace_ms == null ? options : { ...options, model: `demo/demo-scripted@${pace_ms}ms` };
    },
  };
}
