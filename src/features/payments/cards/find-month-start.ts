/** Monthly maximums count calendar months in UTC. */
export function findMonthStart(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
}
