// The settings of the export of traces; part of CONFIG_KEYS.
import * as z from "zod";

export const OTEL_KEYS = {
  otel_endpoint: {
    env: "BLEMEESD_OTEL_ENDPOINT",
    check: z.url({ protocol: /^https?$/ }).optional(),
    defaultText: "off",
    meaning:
      "Send traces of turns and tool calls to this OpenTelemetry collector (OTLP over HTTP, JSON), such as `http://127.0.0.1:4318`.",
  },
  otel_headers_env: {
    env: "BLEMEESD_OTEL_HEADERS_ENV",
    check: z.string().min(1).default("OTEL_EXPORTER_OTLP_HEADERS"),
    meaning: "The environment variable with headers for the collector, as `name=value,name=value`.",
  },
  otel_content: {
    env: "BLEMEESD_OTEL_CONTENT",
    check: z
      .preprocess(
        (value) =>
          value === "true" || value === "1" ? true : value === "false" || value === "0" ? false : value,
        z.boolean(),
      )
      .default(false),
    meaning: "Traces also contain commands, paths of files and texts of errors.",
  },
} as const;
