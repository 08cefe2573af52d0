export interface MockGemini {
  readonly url: string;
  /** The body of every request of a conversation, in order. */
  readonly requests: { contents: { role: string; parts: Record<string, unknown>[] }[] }[];
  close(): Promise<void>;
}

export function startMockGemini(options?: { port?: number }): Promise<MockGemini>;
