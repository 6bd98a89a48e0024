const head = "sluice-summary-1.";

/** The `encrypted_content` of a compaction item. Not encrypted: it contains only the caller's own conversation. */
export function writeCompactionMark(summary: string): string {
  return head + Buffer.from(summary).toString("base64url");
}

/** The message that replaces a compaction item; `null` if a vendor wrote the item. */
export function readCompactionMark(mark: unknown): string | null {
  if (typeof mark !== "string" || !mark.startsWith(head)) return null;
  const summary = Buffer.from(mark.slice(head.length), "base64url").toString();
  return `Summary of the conversation so far:\n\n${summary}`;
}
