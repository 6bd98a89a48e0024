/** One process of a gateway. A newer generation has read newer settings. */
export type Member = { state: "starting" | "serving" | "leaving"; generation: number };

export type Next<M extends Member> = { kind: "start"; count: number } | { kind: "leave"; member: M } | { kind: "wait" };

/**
 * What to do so that there are as many processes as wanted, all of the newest generation: whatever is missing is started,
 * then the old ones are replaced one after another, each by one that serves already.
 */
export function decideNext<M extends Member>(
  members: readonly M[],
  { count, generation }: { count: number; generation: number },
): Next<M> {
  const starting = members.filter(({ state }) => state === "starting").length;
  const serving = members.filter(({ state }) => state === "serving");
  const missing = count - serving.length - starting;
  if (missing > 0) {
    // The first one migrates the database and furnishes an empty one: the others find that done.
    if (serving.length > 0) return { kind: "start", count: missing };
    return starting === 0 ? { kind: "start", count: 1 } : { kind: "wait" };
  }
  if (members.some(({ state }) => state === "leaving")) return { kind: "wait" };
  const [oldest] = serving.toSorted((a, b) => a.generation - b.generation);
  if (oldest !== undefined && serving.length > count) return { kind: "leave", member: oldest };
  const hasOld = oldest !== undefined && oldest.generation < generation;
  return hasOld && starting === 0 ? { kind: "start", count: 1 } : { kind: "wait" };
}
