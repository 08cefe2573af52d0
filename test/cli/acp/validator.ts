// Checks every frame that an ACP agent sends against the published JSON schema of a version of the protocol.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyMessage } from "@agentclientprotocol/sdk";
import * as z from "zod";
import { ROOT } from "../../support/root.ts";

interface Published {
  $defs: Record<string, z.core.JSONSchema.JSONSchema & { "x-side"?: string; "x-method"?: string }>;
}

export class Validator {
  readonly faults: string[] = [];
  readonly #schema: Published;
  readonly #checks = new Map<string, z.ZodType>();
  /** Methods of our requests, by id. */
  readonly #asked = new Map<unknown, string>();

  constructor(version: "v1" | "v2") {
    const file = join(ROOT, `node_modules/@agentclientprotocol/sdk/schema/${version}/schema.json`);
    this.#schema = JSON.parse(readFileSync(file, "utf8"), (_key, value) => withoutCustom(value));
  }

  /** A message of the client: its answer is checked later. */
  sent(message: AnyMessage): void {
    if ("method" in message && "id" in message) this.#asked.set(message.id, message.method);
  }

  /** A message of the agent. */
  received(message: AnyMessage): void {
    if ("method" in message) {
      this.#check(
        this.#find(message.method, ({ side, isResponse }) => side !== "agent" && !isResponse),
        {
          method: message.method,
          value: message.params,
        },
      );
    } else if ("result" in message) {
      const method = this.#asked.get(message.id) ?? "";
      const name = this.#find(method, ({ side, isResponse }) => side === "agent" && isResponse);
      this.#check(name, { method, value: message.result });
    }
  }

  #find(
    method: string,
    fits: (about: { side: string | undefined; isResponse: boolean }) => boolean,
  ): string | undefined {
    return Object.entries(this.#schema.$defs).find(
      ([name, about]) =>
        about["x-method"] === method &&
        fits({ side: about["x-side"], isResponse: name.endsWith("Response") }),
    )?.[0];
  }

  #check(name: string | undefined, { method, value }: { method: string; value: unknown }): void {
    if (name === undefined) {
      this.faults.push(`${method} is not in the schema`);
      return;
    }
    const check =
      this.#checks.get(name) ?? z.fromJSONSchema({ $ref: `#/$defs/${name}`, $defs: this.#schema.$defs });
    this.#checks.set(name, check);
    const { error } = check.safeParse(value);
    if (error !== undefined) this.faults.push(`${name}: ${JSON.stringify(value)}: ${z.prettifyError(error)}`);
  }
}

/** Without the variants that stand for everything not known (`not`): we send none, and zod cannot check them. */
function withoutCustom(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.filter((one) => !(typeof one === "object" && one !== null && "not" in one));
}
