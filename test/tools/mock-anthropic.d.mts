export interface MockAnthropic {
  readonly url: string;
  /** The body of every message request, in order. */
  readonly requests: { messages: { role: string; content: unknown }[]; model: string }[];
  /** The key, or the header of the login, that each of them came with. */
  readonly payers: string[];
  close(): Promise<void>;
}

export interface MockOptions {
  port?: number;
  /** Answers to `#mock:limit` wait for it, and their seconds count from then. */
  limitsBegin?: Promise<void>;
}

export function startMockAnthropic(options?: MockOptions): Promise<MockAnthropic>;
