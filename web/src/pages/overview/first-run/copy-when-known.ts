/**
 * Copies a text that is still loading. Browsers allow clipboard writes only during a click, so the write starts with a
 * promise. Returns whether it worked; the page shows the text either way.
 */
export async function copyWhenKnown(text: Promise<string>): Promise<boolean> {
  try {
    const blob = text.then((known) => new Blob([known], { type: "text/plain" }));
    // Without a clipboard nothing else handles a rejection.
    blob.catch(() => {});
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    return true;
  } catch {
    return false;
  }
}
