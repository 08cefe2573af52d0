/** Where the pictures are, and the file that says what they were taken from. */
export const PICTURES: string;
export const LIST: string;
export function takenFrom(): Record<string, string>;
