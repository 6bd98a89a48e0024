const charactersMax = 255;
const nameless = "file";

/** Removes characters that could mean something to a disk, a terminal or a header. */
export function cleanFilename(given: string | undefined): string {
  const plain = (given ?? "")
    .toWellFormed()
    .normalize("NFC")
    // Control characters, path separators, line separators and bidirectional marks.
    .replaceAll(/[\p{Cc}/\\\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "")
    .trim();
  const short = [...plain].slice(0, charactersMax).join("");
  return short === "" ? nameless : short;
}

/** Renames a file but keeps its extension. */
export function renameFile(filename: string, name: string): string {
  const [ending = ""] = /\.[a-z0-9]{1,8}$/i.exec(filename) ?? [];
  return `${[...cleanFilename(name)].slice(0, charactersMax - ending.length).join("")}${ending}`;
}

/** RFC 6266: an ASCII name for old clients, and the UTF-8 name for others. */
export function presentDisposition(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/gu, "_");
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `inline; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
