// Something that a test lets happen, or waits for, at a moment of its choice.

export interface Gate {
  open(): void;
  /** Resolves when it is open. */
  passed: Promise<void>;
}

export function gate(): Gate {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), passed };
}
