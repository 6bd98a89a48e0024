/** A process. Each roll starts a new generation. */
export type Member = { state: "starting" | "serving" | "leaving"; generation: number };

export type Next<M extends Member> = { kind: "start"; count: number } | { kind: "leave"; member: M } | { kind: "wait" };

/**
 * Decides the next step towards the wanted number of processes of the newest generation: start missing ones, then replace
 * old ones one at a time, each after its replacement serves.
 */
export function decideNext<M extends Member>(
  members: readonly M[],
  { count, generation }: { count: number; generation: number },
): Next<M> {
  const starting = members.filter(({ state }) => state === "starting").length;
  const serving = members.filter(({ state }) => state === "serving");
  const missing = count - serving.length - starting;
  if (missing > 0) {
    // The first process migrates and initializes the database before the others start.
    if (serving.length > 0) return { kind: "start", count: missing };
    return starting === 0 ? { kind: "start", count: 1 } : { kind: "wait" };
  }
  if (members.some(({ state }) => state === "leaving")) return { kind: "wait" };
  const [oldest] = serving.toSorted((a, b) => a.generation - b.generation);
  if (oldest !== undefined && serving.length > count) return { kind: "leave", member: oldest };
  const hasOld = oldest !== undefined && oldest.generation < generation;
  return hasOld && starting === 0 ? { kind: "start", count: 1 } : { kind: "wait" };
}
