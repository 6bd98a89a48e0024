/** Writes JSON independently of the order of fields. Throws a `RangeError` if the value is nested too deeply. */
export function presentCanonically(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(presentCanonically).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${presentCanonically(field)}`).join()}}`;
}
