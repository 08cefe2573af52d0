// One connection to a server: connects, lists what it offers, and calls it. Knows no sessions and no retries
// (connection.ts). Every request has a time limit and can be cancelled.

import type { Client, Transport } from "@modelcontextprotocol/client";
import { waitAtMost } from "../../base/child.ts";
import { toMessage } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import { awaitUnlessAborted } from "../abort.ts";
import type { McpServerConfig } from "../config/mcp-servers.ts";
import { createLimitedFetch } from "./http.ts";
import { limitOffer, MAX_RESOURCES, type RawOffer } from "./offer.ts";
import { formatBlock, formatResource, formatToolResult } from "./result.ts";
import { StdioTransport } from "./stdio.ts";
import type { McpOffer, McpResult } from "./types.ts";

export interface ClientOrder {
  /** With its variables filled in. */
  config: McpServerConfig;
  /** The workspace. */
  cwd: string;
  /** For its process. */
  env: Readonly<Record<string, string>>;
  /** One of its lists has changed. */
  onChanged(): void;
  /** It is gone, once; not after `close`. */
  onGone(fault: string): void;
}

export interface CallLimits {
  signal: AbortSignal;
  timeoutMs: number;
  progress?(text: string): void;
}

export interface McpClient {
  /** "name version" */
  readonly version: string | undefined;
  list(limits: CallLimits): Promise<McpOffer>;
  callTool(name: string, input: unknown, limits: CallLimits): Promise<McpResult>;
  /** The prompt's messages as text. */
  getPrompt(name: string, given: Record<string, string>, limits: CallLimits): Promise<string>;
  readResource(uri: string, limits: CallLimits): Promise<string>;
  /** Ends the connection, and the process with everything it started. */
  close(): Promise<void>;
}

/** For a call with progress reports. */
const MAX_TOTAL_MS = 3_600_000;
/** As a JSON-RPC code. */
const TIMED_OUT = -32001;
const MAX_PAGES = 20;
const MAX_LISTED = 20_000;
const CLOSE_LIMIT_MS = 1000;

/** Rejects with the reason; then nothing of it is left. */
export async function openClient(order: ClientOrder, limits: CallLimits): Promise<McpClient> {
  const sdk = await import("./sdk.ts");
  const connected = new SdkClient(order, sdk);
  try {
    await awaitUnlessAborted(() => connected.connect(limits), limits.signal);
    return connected;
  } catch (error) {
    const fault = connected.explain(error);
    await connected.close();
    throw new Error(fault, { cause: error });
  }
}

class SdkClient implements McpClient {
  readonly #order: ClientOrder;
  readonly #client: Client;
  readonly #transport: Transport;
  /** Tells an HTTP server that it may forget us. */
  readonly #endSession: () => Promise<unknown> = async () => undefined;
  /** Why the connection ended. */
  #fault: string | undefined;
  /** It broke a limit: a better reason than the error that follows. */
  #limitFault: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(order: ClientOrder, sdk: typeof import("./sdk.ts")) {
    this.#order = order;
    // It may ask us for nothing: no models, no questions to the user, no directories.
    this.#client = new sdk.Client(
      { name: "demian", version: "1" },
      {
        capabilities: {},
        // The default compiles the schemas of the server.
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
      },
    );
    const { config } = order;
    if ("url" in config) {
      const transport = new sdk.StreamableHTTPClientTransport(new URL(config.url), {
        requestInit: { headers: config.headers ?? {} },
        fetch: createLimitedFetch((fault) => {
          this.#limitFault = fault;
          this.#end(fault);
        }),
      });
      this.#endSession = () => transport.terminateSession().catch(() => undefined);
      this.#transport = transport as Transport;
    } else {
      const { command, args = [], env: more, cwd } = config;
      this.#transport = new StdioTransport({
        command,
        args,
        cwd: cwd ?? order.cwd,
        env: { ...order.env, ...more },
      });
    }
    for (const list of ["tools", "prompts", "resources"] as const)
      this.#client.setNotificationHandler(`notifications/${list}/list_changed`, () => order.onChanged());
    this.#client.onclose = () => this.#end("it closed the connection");
  }

  get version(): string | undefined {
    const { name, version } = this.#client.getServerVersion() ?? {};
    return name === undefined ? undefined : `${name} ${version}`;
  }

  async connect({ signal, timeoutMs }: CallLimits): Promise<void> {
    await this.#client.connect(this.#transport, { signal, timeout: timeoutMs });
  }

  async list(limits: CallLimits): Promise<McpOffer> {
    const has = this.#client.getServerCapabilities() ?? {};
    const read = (is: unknown, method: ListMethod) =>
      is === undefined ? { items: [], hasMore: false } : this.#readPages(method, limits);
    const [tools, prompts, resources] = await Promise.all([
      read(has.tools, "tools/list"),
      read(has.prompts, "prompts/list"),
      read(has.resources, "resources/list"),
    ]);
    const raw: RawOffer = {
      tools: tools.items as RawOffer["tools"],
      prompts: prompts.items as RawOffer["prompts"],
      resources: resources.items as RawOffer["resources"],
      instructions: this.#client.getInstructions(),
      hasMore: tools.hasMore,
    };
    return limitOffer(raw, this.#order.config.tools);
  }

  async callTool(name: string, input: unknown, limits: CallLimits): Promise<McpResult> {
    const params = { name, arguments: input };
    return formatToolResult(await this.#request(() => this.#ask("tools/call", params, limits)));
  }

  async getPrompt(name: string, given: Record<string, string>, limits: CallLimits): Promise<string> {
    const params = { name, arguments: given };
    const { messages } = await this.#request(() => this.#ask("prompts/get", params, limits));
    const texts = messages.map(({ role, content }) => {
      const text = formatBlock(content);
      return role === "assistant" ? `[assistant]\n${text}` : text;
    });
    return texts.join("\n\n");
  }

  async readResource(uri: string, limits: CallLimits): Promise<string> {
    const { contents } = await this.#request(() => this.#ask("resources/read", { uri }, limits));
    return contents.map(formatResource).join("\n\n");
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** The transport knows best why a request failed: the process is gone, or sent too much. */
  explain(error: unknown): string {
    const fault = this.#transport instanceof StdioTransport ? this.#transport.fault : this.#limitFault;
    if (fault !== undefined) return fault;
    const { status, code } = isObject(error) ? error : {};
    if (code === "REQUEST_TIMEOUT" || code === TIMED_OUT) return "it did not answer in time";
    if (status === 401 || status === 403 || (error instanceof Error && error.name === "UnauthorizedError"))
      return `it refused the login (HTTP ${typeof status === "number" ? status : 401}); put a token into "headers" in its configuration`;
    const { cause } = isObject(error) ? error : {};
    const more = cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "";
    return `${toMessage(error)}${more}`.slice(0, 500);
  }

  async #close(): Promise<void> {
    // Polite, and optional for the server.
    if (this.#fault === undefined) await waitAtMost(CLOSE_LIMIT_MS, this.#endSession());
    await this.#client.close().catch(() => undefined); // Already closed.
    await this.#transport.close().catch(() => undefined); // It is closed twice if it was never connected.
  }

  #end(fault: string): void {
    if (this.#fault !== undefined || this.#closing !== undefined) return;
    this.#fault = (this.#transport instanceof StdioTransport ? this.#transport.fault : undefined) ?? fault;
    void this.close();
    this.#order.onGone(this.#fault);
  }

  async #readPages(method: ListMethod, limits: CallLimits): Promise<{ items: unknown[]; hasMore: boolean }> {
    const most = method === "resources/list" ? MAX_RESOURCES : MAX_LISTED;
    const items: unknown[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const found: Record<string, unknown> = await this.#request(() => this.#ask(method, params, limits));
      const [list] = method.split("/");
      items.push(...(found[list ?? ""] as unknown[]));
      cursor = typeof found["nextCursor"] === "string" ? found["nextCursor"] : undefined;
      if (cursor === undefined) return { items, hasMore: false };
      if (items.length >= most) break;
    }
    return { items, hasMore: true };
  }

  #ask<M extends Method>(method: M, params: Record<string, unknown>, limits: CallLimits) {
    const { signal, timeoutMs, progress } = limits;
    return this.#client.request(
      { method, params },
      {
        signal,
        timeout: timeoutMs,
        maxTotalTimeout: MAX_TOTAL_MS,
        ...(progress === undefined
          ? {}
          : {
              resetTimeoutOnProgress: true,
              onprogress: ({ progress: done, total, message }) =>
                progress(`${message ?? `${done}${total === undefined ? "" : ` of ${total}`}`}\n`),
            }),
      },
    );
  }

  async #request<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      const fault = this.explain(error);
      // The server was restarted, or is gone: the next call connects again.
      const { status } = isObject(error) ? error : {};
      if (error instanceof TypeError || typeof status === "number") this.#end(fault);
      throw new Error(fault, { cause: error });
    }
  }
}

type ListMethod = "tools/list" | "prompts/list" | "resources/list";
type Method = ListMethod | "tools/call" | "prompts/get" | "resources/read";
