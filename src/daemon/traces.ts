// The collector of traces, from the settings.
import { CodedError } from "../base/coded-error.ts";
import type { ObserverOptions } from "../observe/index.ts";
import type { Config } from "./config.ts";

type Env = Readonly<Record<string, string | undefined>>;

const PATH = "/v1/traces";
/** Names of OpenTelemetry's conventions, by the backend. */
const PROVIDERS = { claude: "anthropic", codex: "openai", "codex-app": "openai" };

/** Undefined: traces are off. Throws if the headers cannot be read. */
export function describeCollector(
  {
    otel_endpoint,
    otel_headers_env,
    otel_content,
  }: Pick<Config, "otel_endpoint" | "otel_headers_env" | "otel_content">,
  env: Env,
  version: string,
): ObserverOptions["traces"] {
  if (otel_endpoint === undefined) return undefined;
  const base = otel_endpoint.replace(/\/+$/, "");
  return {
    url: base.endsWith(PATH) ? base : `${base}${PATH}`,
    headers: readHeaders(env[otel_headers_env] ?? "", otel_headers_env),
    version,
    hasContent: otel_content,
    providers: PROVIDERS,
  };
}

/** The format of OpenTelemetry's own variable: percent-encoded values. */
function readHeaders(text: string, name: string): Record<string, string> {
  const pairs = text.split(",").map((pair) => pair.trim());
  return Object.fromEntries(
    pairs.filter(Boolean).map((pair) => {
      const at = pair.indexOf("=");
      const key = pair.slice(0, at).trim();
      if (at < 1 || !/^[\w-]+$/.test(key))
        throw new CodedError("internal", `${name} must be name=value pairs, separated by commas`);
      return [key, decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}
