/** `3s`, `12m`, `5h`, `3d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const units: [number, string][] = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "m"],
  ];
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / size)}${name}`;
}
