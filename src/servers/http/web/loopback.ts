// The loopback port of the daemon: opened at start (`--http`, `--web`) or with the first link to the dashboard, once, and
// closed with the daemon. Keeps the one-time links.
import { CodedError } from "../../../base/coded-error.ts";
import { RateLimit } from "../../../base/rate-limit.ts";
import type { WebLink } from "../../../protocol/wire/http.ts";
import type { Listening } from "../../types.ts";
import type { HttpListening } from "../listen.ts";
import type { HttpContext, HttpLimits, WebDoor } from "../types.ts";
import { createWebFiles, type WebFiles } from "./files.ts";
import { Tickets } from "./tickets.ts";

const DEFAULT_PORT = 7433;
/** Invalid tickets per minute that are answered individually. */
const MAX_WRONG = 20;
const WRONG_WINDOW_MS = 60_000;

export interface LoopbackOptions {
  limits: HttpLimits;
  /** The configured port; absent: the default port, or any free one if that is in use. */
  port: number | undefined;
  /** The dashboard's files. */
  webDirectory: string;
  onOpen?: (port: number) => void;
  now?: () => number;
}

export class Loopback implements Listening, WebDoor {
  readonly context: HttpContext;
  readonly files: () => WebFiles;
  readonly #options: LoopbackOptions;
  readonly #tickets: Tickets;
  readonly #now: () => number;
  readonly #wrong = new RateLimit(MAX_WRONG, WRONG_WINDOW_MS);
  #opening: Promise<HttpListening> | undefined;
  #port: number | undefined;
  #isDismissed = false;

  constructor(context: Omit<HttpContext, "web">, options: LoopbackOptions) {
    this.context = { ...context, web: this };
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#tickets = new Tickets(this.#now);
    this.files = createWebFiles(options.webDirectory);
  }

  get port(): number | undefined {
    return this.#port;
  }

  /** Opens the port if needed; an open one stays, whatever port is requested. */
  open(port = this.#options.port): Promise<HttpListening> {
    if (this.#isDismissed) {
      return Promise.reject(new CodedError("daemon_shutdown", "the daemon is shutting down"));
    }
    this.#opening ??= this.#listen(port).catch((error: unknown) => {
      this.#opening = undefined; // the next attempt may use another port
      throw error;
    });
    return this.#opening;
  }

  async link(wanted?: number): Promise<WebLink> {
    this.files(); // fails if the dashboard was not built
    const { port } = await this.open(wanted);
    const { ticket, expires_at_ms } = this.#tickets.issue();
    this.context.log.info("web.link", { port });
    return { url: `http://127.0.0.1:${port}/#token=${ticket}`, port, expires_at_ms };
  }

  /** Valid tickets always work: otherwise other users of this machine could exhaust the attempts. */
  async enter(ticket: string): Promise<string> {
    if (this.#opening !== undefined && this.#tickets.redeem(ticket)) {
      const { token } = await this.#opening;
      this.context.log.info("web.enter");
      return token;
    }
    if (!this.#wrong.allow(this.#now())) {
      throw new CodedError("too_many_tries", "too many attempts with invalid links; wait a minute");
    }
    this.context.log.warn("web.enter_refused");
    throw new CodedError(
      "unauthorized",
      "this link was already used, has expired or belongs to another daemon; create a new one with `blemees web` (`sm web`)",
    );
  }

  dismiss(): void {
    this.#isDismissed = true;
    void this.#opening?.then(
      (http) => http.dismiss(),
      () => undefined,
    );
  }

  async close(): Promise<void> {
    this.#isDismissed = true;
    const http = await this.#opening?.catch(() => undefined);
    await http?.close();
  }

  async #listen(port: number | undefined): Promise<HttpListening> {
    const { listenOnHttp } = await import("../load.ts");
    const { limits } = this.#options;
    const listen = (at: number): Promise<HttpListening> =>
      listenOnHttp({ ...limits, port: at }, this.context);
    const http = await (port === undefined ? listen(DEFAULT_PORT).catch(() => listen(0)) : listen(port));
    this.#port = http.port;
    this.#options.onOpen?.(http.port);
    return http;
  }
}
