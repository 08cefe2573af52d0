/** The directory of the pictures, and the file with the hashes of their sources. */
export const PICTURES: string;
export const LIST: string;
export function takenFrom(): Record<string, string>;
