export interface MockAnthropic {
  readonly url: string;
  /** The body of every message request, in order. */
  readonly requests: { messages: { role: string; content: unknown }[]; model: string }[];
  /** The key, or the header of the login, that each of them came with. */
  readonly payers: string[];
  close(): Promise<void>;
}

export function startMockAnthropic(options?: { port?: number }): Promise<MockAnthropic>;
