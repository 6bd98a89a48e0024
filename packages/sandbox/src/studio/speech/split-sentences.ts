const charactersMax = 240;

/**
 * Splits a text into sentences, and long sentences into parts, so that the first can be heard before the last is made.
 */
export function splitSentences(text: string): string[] {
  const sentences = text.match(/[^.!?。！？؟।\n]+[.!?。！？؟।\n]*[\s"'”’」)]*|[.!?。！？؟।\n]+/gu) ?? [];
  const parts: string[] = [];
  for (const sentence of sentences.flatMap(splitLong)) {
    const last = parts.at(-1);
    // "3.14" and "e.g. this" do not end a sentence: a part that starts with neither a capital nor a space belongs to
    // the one before.
    const belongs = last !== undefined && /[.!?]$/.test(last) && /^[\p{Ll}\d]/u.test(sentence);
    if (belongs && last.length + sentence.length <= charactersMax) parts[parts.length - 1] = last + sentence;
    else parts.push(sentence);
  }
  return parts.map((part) => part.trim()).filter((part) => /[\p{L}\p{N}]/u.test(part));
}

function splitLong(sentence: string): string[] {
  if (sentence.length <= charactersMax) return [sentence];
  const parts: string[] = [];
  let rest = sentence;
  while (rest.length > charactersMax) {
    const window = rest.slice(0, charactersMax);
    const comma = Math.max(...[",", ";", ":", "，", "、", "；", "،"].map((sign) => window.lastIndexOf(sign)));
    const space = window.lastIndexOf(" ");
    const cut = comma > charactersMax / 3 ? comma + 1 : space > charactersMax / 3 ? space + 1 : charactersMax;
    parts.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...parts, rest];
}
