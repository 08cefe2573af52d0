// Whether a message can be sent.

export interface Writing {
  text: string;
  isSending: boolean;
  /** A request is pending. */
  isBlocked: boolean;
}

/** Sending now interrupts the turn, which withdraws its requests, so they do not block it. */
export function maySend({ text, isSending, isBlocked }: Writing, isNow: boolean): boolean {
  return !isSending && text.trim() !== "" && (isNow || !isBlocked);
}
