import { useEffect, useState } from "react";
import { findLanguage } from "./find-language.ts";
import type { Token } from "./highlight-code.ts";

/** Longer texts are read by programs. */
const charactersMax = 20_000;

const looks: Record<NonNullable<Token["kind"]>, string> = {
  keyword: "text-code-keyword",
  string: "text-code-string",
  number: "text-code-number",
  name: "text-code-name",
  comment: "text-ink-soft",
};

/** Code in the colours of its language, which come a moment later: nobody waits for them. */
export function CodeText({ label, code }: { label: string; code: string }) {
  const [found, setFound] = useState<{ code: string; tokens: Token[] } | null>(null);
  useEffect(() => {
    const language = findLanguage(label, code);
    if (language === null || code.length > charactersMax) return;
    let isLatest = true;
    import("./highlight-code.ts")
      .then(({ highlightCode }) => isLatest && setFound({ code, tokens: highlightCode(code, language) }))
      // Without colours it is the same code.
      .catch(() => {});
    return () => {
      isLatest = false;
    };
  }, [label, code]);
  if (found === null || found.code !== code) return <code>{code}</code>;
  return (
    <code>
      {found.tokens.map(({ kind, text }, index) =>
        kind === null ? (
          text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a token is its place in the code.
          <span key={index} className={looks[kind]}>
            {text}
          </span>
        ),
      )}
    </code>
  );
}
