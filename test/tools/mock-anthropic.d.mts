export interface MockAnthropic {
  readonly url: string;
  /** The body of every message request, in order. */
  readonly requests: { messages: { role: string; content: unknown }[]; model: string }[];
  close(): Promise<void>;
}

export function startMockAnthropic(options?: { port?: number }): Promise<MockAnthropic>;
