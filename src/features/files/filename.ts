const charactersMax = 255;
const nameless = "file";

/** What a file is called by its owner, without what could mean something to a disk, a terminal or a header. */
export function cleanFilename(given: string | undefined): string {
  const plain = (given ?? "")
    .toWellFormed()
    .normalize("NFC")
    // Control characters, separators of paths, and what turns the direction of writing around.
    .replaceAll(/[\p{Cc}/\\\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "")
    .trim();
  const short = [...plain].slice(0, charactersMax).join("");
  return short === "" ? nameless : short;
}

/** A file under another name, with the ending that says what it is. */
export function renameFile(filename: string, name: string): string {
  const [ending = ""] = /\.[a-z0-9]{1,8}$/i.exec(filename) ?? [];
  return `${[...cleanFilename(name)].slice(0, charactersMax - ending.length).join("")}${ending}`;
}

/** RFC 6266: the name in plain ASCII for old clients, and as it is for the others. */
export function presentDisposition(filename: string): string {
  const plain = filename.replaceAll(/[^\x20-\x7e]|["\\%]/gu, "_");
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `inline; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
