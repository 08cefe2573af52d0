export interface MockChat {
  /** With the /v1 that clients want. */
  readonly url: string;
  /** The body of every request of a conversation, in order. */
  readonly requests: { messages: { role: string; content: unknown }[]; model: string }[];
  close(): Promise<void>;
}

export function startMockChat(options?: { port?: number }): Promise<MockChat>;
