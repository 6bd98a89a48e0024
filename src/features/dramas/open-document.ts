/**
 * Puts a document that was sent as text, as of a file that somebody saved and changed, in place as what it is, so that it
 * is checked like any other. A story that happens to begin with a brace stays a story.
 */
export function openDocument(body: unknown): void {
  const fields = body as { script?: unknown } | null | undefined;
  const text = fields?.script;
  if (!fields || typeof text !== "string" || !/^\s*\{/.test(text)) return;
  try {
    const value: unknown = JSON.parse(text);
    if (isMarked(value)) fields.script = value;
  } catch {
    // No JSON, so no document.
  }
}

function isMarked(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "object")) return false;
  const { object } = value as { object: unknown };
  return typeof object === "string" && object.startsWith("drama.");
}
