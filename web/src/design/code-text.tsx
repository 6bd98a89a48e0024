import { useEffect, useState } from "react";
import { findLanguage } from "./find-language.ts";
import type { Token } from "./highlight-code.ts";

/** Longer code is not highlighted. */
const charactersMax = 20_000;

const looks: Record<NonNullable<Token["kind"]>, string> = {
  keyword: "text-code-keyword",
  string: "text-code-string",
  number: "text-code-number",
  name: "text-code-name",
  comment: "text-ink-soft",
};

/** Highlighted code. Colours load after the text. */
export function CodeText({ label, code }: { label: string; code: string }) {
  const [found, setFound] = useState<{ code: string; tokens: Token[] } | null>(null);
  useEffect(() => {
    const language = findLanguage(label, code);
    if (language === null || code.length > charactersMax) return;
    let isLatest = true;
    import("./highlight-code.ts")
      .then(({ highlightCode }) => isLatest && setFound({ code, tokens: highlightCode(code, language) }))
      // Without highlighting the code still shows.
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
          // biome-ignore lint/suspicious/noArrayIndexKey: tokens are identified by position.
          <span key={index} className={looks[kind]}>
            {text}
          </span>
        ),
      )}
    </code>
  );
}
