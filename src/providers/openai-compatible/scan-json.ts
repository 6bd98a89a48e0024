const quote = 0x22;
const backslash = 0x5c;
const opening = new Set([0x5b, 0x7b]);
const closing = new Set([0x5d, 0x7d]);
const escapePattern = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;

/** The closing quote of the JSON string that starts at `from`; -1 if it is malformed or goes beyond `to`. */
export function findStringEnd(text: string, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code < 0x20) return -1;
    if (code === backslash) {
      escapePattern.lastIndex = at + 1;
      if (!escapePattern.test(text)) return -1;
      at = escapePattern.lastIndex - 1;
    }
  }
  return -1;
}

/** The end of the list or object whose bracket is at `from`, in a text that may not be JSON; -1 if it has none. */
export function findBracketEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = findStringEnd(text, at + 1, text.length);
      if (at < 0) return -1;
    } else if (opening.has(code)) {
      depth += 1;
    } else if (closing.has(code)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
