export function gridOf(count: number): string {
  if (count <= 2) return "grid gap-4 md:grid-cols-2";
  return count === 3 ? "grid gap-4 md:grid-cols-2 xl:grid-cols-3" : "grid gap-4 md:grid-cols-2 xl:grid-cols-4";
}
