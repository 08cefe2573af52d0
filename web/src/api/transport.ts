// One exchange with the daemon by fetch, with the bearer token. What goes wrong has a code and words for people.

export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    more: { status?: number; data?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "ApiError";
    this.code = code;
    this.status = more.status ?? 0;
    this.data = more.data ?? {};
  }
}

export interface Order {
  method?: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

/** How requests leave: in a browser `fetch` on our own origin; `onRefused` hears that the token is no longer taken. */
export interface Transport {
  token: string;
  /** Empty in a browser: the page's own origin. */
  origin?: string;
  fetch?: typeof fetch;
  onRefused?: () => void;
  /** The daemon's own time, to the second, with every reply. */
  onTime?: (daemonMs: number) => void;
}

/** A call that is not a stream is answered within this, or the daemon is held for lost. */
const ANSWER_MS = 30_000;

export async function call<T>(transport: Transport, order: Order): Promise<T> {
  const late = AbortSignal.timeout(ANSWER_MS);
  const signal = order.signal === undefined ? late : AbortSignal.any([order.signal, late]);
  const response = await send(transport, { ...order, signal });
  try {
    return (await response.json()) as T;
  } catch (cause) {
    throw cutError(cause, order.signal);
  }
}

/** Resolves with a reply that is good; its body is still to be read. */
export async function send(transport: Transport, order: Order): Promise<Response> {
  const { method = "GET", body, signal } = order;
  const isSending = method === "POST" || method === "PATCH";
  const request = transport.fetch ?? fetch;
  let response: Response;
  try {
    response = await request(`${transport.origin ?? ""}${pathOf(order)}`, {
      method,
      headers: {
        authorization: `Bearer ${transport.token}`,
        ...(isSending ? { "content-type": "application/json" } : {}),
        ...order.headers,
      },
      ...(isSending ? { body: JSON.stringify(body ?? {}) } : {}),
      ...(signal === undefined ? {} : { signal }),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (cause) {
    throw cutError(cause, order.signal);
  }
  const daemonMs = Date.parse(response.headers.get("date") ?? "");
  if (!Number.isNaN(daemonMs)) transport.onTime?.(daemonMs);
  if (response.ok) return response;
  const error = await refusal(response);
  if (error.code === "unauthorized") transport.onRefused?.();
  throw error;
}

export function cutError(cause: unknown, signal: AbortSignal | undefined): ApiError {
  if (signal?.aborted && signal.reason?.name !== "TimeoutError")
    return new ApiError("aborted", "aborted", { cause });
  return new ApiError("connection_lost", "the daemon does not answer", { cause });
}

async function refusal(response: Response): Promise<ApiError> {
  const { status } = response;
  try {
    const { error } = (await response.json()) as {
      error: { code: string; message: string; data?: Record<string, unknown> };
    };
    return new ApiError(error.code, error.message, { status, ...(error.data ? { data: error.data } : {}) });
  } catch (cause) {
    return new ApiError(status === 401 ? "unauthorized" : "bad_reply", `the daemon answered ${status}`, {
      status,
      cause,
    });
  }
}

function pathOf({ path, query = {} }: Order): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return path;
  return `${path}?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]))}`;
}
