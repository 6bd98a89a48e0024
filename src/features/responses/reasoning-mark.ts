/** Reasoning text, and the vendor's signed details that must be sent back to it. */
export type Reasoning = { text: string; details: Record<string, unknown>[] | null };

export const reasoningMarkHead = "sluice-1.";

/**
 * The `encrypted_content` of a reasoning item. Clients send it back unread, some without the rest of the item. Not
 * encrypted: it contains no more than the item itself. Values without our prefix are a vendor's.
 */
export function writeReasoningMark({ text, details }: Reasoning): string {
  return (
    reasoningMarkHead +
    Buffer.from(JSON.stringify(details === null ? { text } : { text, details })).toString("base64url")
  );
}

/** `null` if it is not ours. */
export function readReasoningMark(mark: string): Reasoning | null {
  if (!mark.startsWith(reasoningMarkHead)) return null;
  try {
    const { text, details } = JSON.parse(Buffer.from(mark.slice(reasoningMarkHead.length), "base64url").toString()) as {
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
