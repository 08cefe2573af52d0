// Whether what is written can be sent. Pure.

export interface Writing {
  text: string;
  isSending: boolean;
  /** A request waits for an answer. */
  isBlocked: boolean;
}

/** Sending now interrupts the turn, which takes its requests back with it: they are not in the way. */
export function maySend({ text, isSending, isBlocked }: Writing, isNow: boolean): boolean {
  return !isSending && text.trim() !== "" && (isNow || !isBlocked);
}
