/**
 * Puts a text onto the clipboard that is on its way yet. Browsers allow it only while they know of the click, so the
 * clipboard is told of the text before it is there. Answers whether it worked; the text is on the page in any case.
 */
export async function copyWhenKnown(text: Promise<string>): Promise<boolean> {
  try {
    const blob = text.then((known) => new Blob([known], { type: "text/plain" }));
    // Where there is no clipboard, nobody else waits for it.
    blob.catch(() => {});
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
    return true;
  } catch {
    return false;
  }
}
