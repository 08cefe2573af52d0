// Command-line flags that every use of the protocol needs.

export const STREAM_FLAGS = { "--input-format": "stream-json", "--output-format": "stream-json" } as const;

/** Sends permission prompts over the control channel. */
export const PROMPT_FLAGS = { "--permission-prompt-tool": "stdio" } as const;
