type Language = "python" | "typescript";

const widthMax = 88;
const words: Record<Language, Record<string, string>> = {
  python: { true: "True", false: "False", null: "None" },
  typescript: {},
};

/** A JSON value as source code: on one line if it fits, else one field per line. */
export function writeLiteral(value: unknown, language: Language, { indent = 0, before = 0 } = {}): string {
  const short = writeInline(value, language);
  if (indent + before + short.length <= widthMax || typeof value !== "object" || value === null) return short;
  const step = language === "python" ? 4 : 2;
  const inner = indent + step;
  const isList = Array.isArray(value);
  const lines = isList
    ? value.map((item) => writeLiteral(item, language, { indent: inner }))
    : Object.entries(value).map(([field, item]) => {
        const name = writeName(field, language);
        return `${name}: ${writeLiteral(item, language, { indent: inner, before: name.length + 2 })}`;
      });
  const pad = " ".repeat(inner);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return `${open}\n${lines.map((line) => `${pad}${line},`).join("\n")}\n${" ".repeat(indent)}${close}`;
}

function writeInline(value: unknown, language: Language): string {
  if (Array.isArray(value)) return `[${value.map((item) => writeInline(item, language)).join(", ")}]`;
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value);
    return words[language][text] ?? text;
  }
  const fields = Object.entries(value).map(
    ([name, item]) => `${writeName(name, language)}: ${writeInline(item, language)}`,
  );
  const space = language === "typescript" ? " " : "";
  return fields.length === 0 ? "{}" : `{${space}${fields.join(", ")}${space}}`;
}

function writeName(name: string, language: Language): string {
  return language === "typescript" && /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name);
}
