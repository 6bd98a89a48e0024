/** A duration with as many digits as matter. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joinParts([`${minutes} min`, Math.floor(seconds % 60), "s"]);
  return joinParts([`${Math.floor(minutes / 60)} h`, minutes % 60, "min"]);
}

function joinParts([whole, rest, unit]: [whole: string, rest: number, unit: string]): string {
  return rest === 0 ? whole : `${whole} ${rest} ${unit}`;
}
