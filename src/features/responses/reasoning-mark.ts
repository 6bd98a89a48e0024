/** What a model thought, and what its vendor signed of it, as it has to come back to it. */
export type Thoughts = { text: string; details: Record<string, unknown>[] | null };

const head = "sluice-1.";

/**
 * The `encrypted_content` of a reasoning item: clients send it back unread, and some of them nothing else of the item.
 * It tells its reader no more than the item itself, so it needs no secret; what was not made here is a vendor's own.
 */
export function writeReasoningMark({ text, details }: Thoughts): string {
  return head + Buffer.from(JSON.stringify(details === null ? { text } : { text, details })).toString("base64url");
}

/** `null` for what is not ours. */
export function readReasoningMark(mark: string): Thoughts | null {
  if (!mark.startsWith(head)) return null;
  try {
    const { text, details } = JSON.parse(Buffer.from(mark.slice(head.length), "base64url").toString()) as {
      text?: unknown;
      details?: unknown;
    };
    if (typeof text !== "string") return null;
    const isDetailed = Array.isArray(details) && details.every((each) => typeof each === "object" && each !== null);
    return { text, details: isDetailed ? details : null };
  } catch {
    return null;
  }
}
