// The loopback port of one daemon: opened at its start (`--http`, `--web`) or when the first link to the dashboard is
// asked for, at most once, and closed with the daemon. Keeps the one-time links.
import { CodedError } from "../../../base/coded-error.ts";
import { RateLimit } from "../../../base/rate-limit.ts";
import type { WebLink } from "../../../protocol/wire/http.ts";
import type { Listening } from "../../types.ts";
import type { HttpListening } from "../listen.ts";
import type { HttpContext, HttpLimits, WebDoor } from "../types.ts";
import { createWebFiles, type WebFiles } from "./files.ts";
import { Tickets } from "./tickets.ts";

const DEFAULT_PORT = 7433;
/** Tries with a word that is no ticket: so many a minute get an answer of their own. */
const MAX_WRONG = 20;
const WRONG_WINDOW_MS = 60_000;

export interface LoopbackOptions {
  limits: HttpLimits;
  /** The port of the settings; absent: the usual one, or any free one when that is taken. */
  port: number | undefined;
  /** The dashboard's files. */
  webDirectory: string;
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
  #isDismissed = false;

  constructor(context: Omit<HttpContext, "web">, options: LoopbackOptions) {
    this.context = { ...context, web: this };
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#tickets = new Tickets(this.#now);
    this.files = createWebFiles(options.webDirectory);
  }

  /** Opened if it is not; one that is open stays where it is, whatever port is asked for. */
  open(port = this.#options.port): Promise<HttpListening> {
    if (this.#isDismissed) {
      return Promise.reject(new CodedError("daemon_shutdown", "the daemon is shutting down"));
    }
    this.#opening ??= this.#listen(port).catch((error: unknown) => {
      this.#opening = undefined; // the next one may ask for another port
      throw error;
    });
    return this.#opening;
  }

  async link(wanted?: number): Promise<WebLink> {
    this.files(); // a link to nothing is worse than none
    const { port } = await this.open(wanted);
    const { ticket, expires_at_ms } = this.#tickets.issue();
    this.context.log.info("web.link", { port });
    return { url: `http://127.0.0.1:${port}/#token=${ticket}`, port, expires_at_ms };
  }

  /** Right ones always get in: others on this machine could use up any number of tries. */
  async enter(ticket: string): Promise<string> {
    if (this.#opening !== undefined && this.#tickets.redeem(ticket)) {
      const { token } = await this.#opening;
      this.context.log.info("web.enter");
      return token;
    }
    if (!this.#wrong.allow(this.#now())) {
      throw new CodedError("too_many_tries", "too many wrong links were tried; wait a minute");
    }
    this.context.log.warn("web.enter_refused");
    throw new CodedError(
      "unauthorized",
      "this link was used already, is too old or of another daemon; `blemees web` (`sm web`) makes a new one",
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
    return port === undefined ? listen(DEFAULT_PORT).catch(() => listen(0)) : listen(port);
  }
}
