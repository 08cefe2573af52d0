// What tools may reach: the sandbox of commands, and the addresses of `web_fetch`.
import * as z from "zod";
import { DEFAULT_PROCESSES, DEFAULT_TEMPORARY_MB, SANDBOX_MODES } from "../sandbox/types.ts";

const places = z.array(z.string().regex(/^(\/|~\/)[^\0]*$/, "expected a path that begins with / or ~/"));

export const Sandbox = z.strictObject({
  mode: z.enum(SANDBOX_MODES).default("workspace-write").describe("Sandbox mode for commands."),
  network: z.enum(["inherit", "deny"]).default("inherit").describe("Whether commands can use the network."),
  allowEnvOnly: z
    .boolean()
    .default(false)
    .describe("Run commands without a sandbox if none works here. Otherwise they are refused."),
  writableGit: z.boolean().default(false).describe("Let commands write to `.git`."),
  writable: places.default([]).describe("More directories that commands may write to. They must exist."),
  readable: places
    .default([])
    .describe("More files and directories of your home directory that commands may read. They must exist."),
  env: z
    .array(z.string().regex(/^[A-Za-z_]\w*$/, "expected the name of a variable"))
    .default([])
    .describe("More environment variables that commands get, by name."),
  maxProcesses: z
    .int()
    .min(16)
    .max(1_000_000)
    .default(DEFAULT_PROCESSES)
    .describe("Maximum processes and threads of a command."),
  maxMemoryMb: z
    .int()
    .min(64)
    .optional()
    .describe("Maximum memory of a command, in MiB. Default: three quarters of the machine's."),
  maxTemporaryMb: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(DEFAULT_TEMPORARY_MB)
    .describe("Maximum size of a command's `/tmp`, in MiB. It is in memory."),
});

export const WebFetch = z.strictObject({
  allow: z
    .array(z.string().regex(/^[^\s/@]+$/, "expected a host or host:port"))
    .default([])
    .describe("Hosts (`host` or `host:port`) that `web_fetch` may read at a private address."),
});
