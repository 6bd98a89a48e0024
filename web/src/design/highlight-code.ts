import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import yaml from "highlight.js/lib/languages/yaml";
import type { CodeLanguage } from "./find-language.ts";

const grammars = { bash, json, python, typescript, yaml } satisfies Record<CodeLanguage, unknown>;
for (const [name, grammar] of Object.entries(grammars)) highlighter.registerLanguage(name, grammar);

/** `null` for plain text. */
export type Token = { kind: "keyword" | "string" | "number" | "name" | "comment" | null; text: string };

const kinds: Readonly<Record<string, Token["kind"]>> = {
  ...{ keyword: "keyword", literal: "keyword", built_in: "keyword", type: "keyword", meta: "comment" },
  ...{ string: "string", regexp: "string", subst: null, number: "number", symbol: "number", bullet: "number" },
  ...{ attr: "name", attribute: "name", property: "name", variable: "name", params: null, title: "name" },
  ...{ comment: "comment", doctag: "comment" },
};

type Node = string | { scope?: string; children: Node[] };

/** Tokens as a list, so the page renders them without injecting HTML. */
export function highlightCode(code: string, language: CodeLanguage): Token[] {
  const { _emitter: emitter } = highlighter.highlight(code, { language, ignoreIllegals: true });
  const tokens: Token[] = [];
  const collect = (node: Node, kind: Token["kind"]) => {
    if (typeof node === "string") tokens.push({ kind, text: node });
    else for (const child of node.children) collect(child, readKind(node.scope, kind));
  };
  // The library's token tree is internal; its types cover only the HTML output.
  collect((emitter as unknown as { rootNode: Node }).rootNode, null);
  return tokens;
}

function readKind(scope: string | undefined, outer: Token["kind"]): Token["kind"] {
  const kind = kinds[scope?.split(".")[0] ?? ""];
  return kind === undefined ? outer : kind;
}
