export interface MockResponses {
  /** With the /v1 that codex wants. */
  readonly url: string;
  /** The body of every request for a response, in order. */
  readonly requests: { input: Record<string, unknown>[]; model: string; tools?: unknown[] }[];
  close(): Promise<void>;
}

export interface MockOptions {
  port?: number;
  /** Answers to `#mock:limit` wait for it, and their seconds count from then. */
  limitsBegin?: Promise<void>;
}

export function startMockResponses(options?: MockOptions): Promise<MockResponses>;

/** CODEX_HOME/config.toml for it; the key is in MOCK_KEY. */
export function codexConfigToml(url: string): string;
