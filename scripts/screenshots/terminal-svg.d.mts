export interface Screen {
  text: string;
  seconds: number;
}

export function toAnimatedSvg(screens: readonly Screen[], size: { columns: number; rows: number }): string;
