// Something that a test triggers, or waits for, at a chosen moment.

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
