import { isRule, type ScriptLine } from "./clean-script.ts";
import { findPlace } from "./place-words.ts";
import { dropParentheses, keyOf } from "./role-names.ts";
import { parseSceneHeading, readHeading, type SceneHeading } from "./scene-heading.ts";
import { type CueBook, findInlineCue, isCueLine } from "./script-cues.ts";
import { findLabel, isTransition } from "./script-labels.ts";
import { joinText } from "./story-text.ts";

/** A block of a script, in order. */
export type ScriptBlock =
  | { kind: "heading"; heading: SceneHeading }
  | { kind: "break" }
  | { kind: "place" | "time" | "logline"; text: string }
  | { kind: "speech"; speaker: string; text: string }
  /** A paragraph of action or narration. */
  | { kind: "action"; text: string }
  /** A list item; an indented one belongs to the one before. */
  | { kind: "point"; text: string; isSub: boolean };

const sentenceEnd = /[.!?…。！？؟"”»」』)]$/u;

/** Classifies the lines of a script as headings, speech, action and lists. */
export function readScript(lines: readonly ScriptLine[], book: CueBook, title: string): ScriptBlock[] {
  const blocks: ScriptBlock[] = [];
  const indentMin = Math.min(...lines.filter(({ bullet }) => bullet !== null).map(({ indent }) => indent));
  let open: Extract<ScriptBlock, { kind: "speech" | "action" }> | null = null;
  let isBelowCue = false;
  let isAfterMark = true;

  function put(block: ScriptBlock): void {
    open = block.kind === "speech" || block.kind === "action" ? block : null;
    blocks.push(block);
  }

  for (const [index, line] of lines.entries()) {
    const { text } = line;
    if (line.isAfterBlank) [open, isBelowCue] = [null, false];
    const block = isTitle(lines, index, title) ? null : readMark(line);
    if (block !== undefined) {
      [isBelowCue, isAfterMark, open] = [false, true, null];
      if (block !== null) put(block);
      continue;
    }
    const isBeginning = line.isAfterBlank || isAfterMark;
    isAfterMark = false;
    if (isCueLine({ ...line, isAfterBlank: isBeginning }, book)) {
      put({ kind: "speech", speaker: text.replace(/^@/, ""), text: "" });
      isBelowCue = true;
      continue;
    }
    const cue = findInlineCue(line, book);
    if (cue !== null) {
      put({ kind: "speech", ...cue });
      isBelowCue = cue.text === "";
    } else if (line.bullet !== null) put({ kind: "point", text, isSub: line.indent > indentMin });
    else if (goesOn(open, line, isBelowCue)) extend(open, text);
    else put({ kind: "action", text: dropWholeParentheses(text) });
  }
  return blocks.filter((block) => block.kind !== "speech" || block.text !== "");
}

/** Headings, rules, labels and transitions; `null` for lines to drop, `undefined` for any other. */
function readMark({ text, level }: ScriptLine): ScriptBlock | null | undefined {
  if (isTransition(text)) return null;
  if (isRule(text)) return { kind: "break" };
  const heading = parseSceneHeading(text);
  if (heading !== null) return { kind: "heading", heading };
  if (level > 0) return { kind: "heading", heading: readHeading(text, text, { isSlug: false }) };
  const at = text.slice(0, 40).search(/[:：]/u);
  const kind = at > 0 ? findLabel(text.slice(0, at)) : null;
  if (kind === null) return undefined;
  const said = text.slice(at + 1).trim();
  if (kind === "none" || said === "") return null;
  return { kind, text: said };
}

/** The title above the scenes. */
function isTitle(lines: readonly ScriptLine[], index: number, title: string): boolean {
  const line = lines[index];
  if (line === undefined || index > 0 || lines.length === 1) return false;
  if (keyOf(line.text) === keyOf(title)) return true;
  if (line.level !== 1 || parseSceneHeading(line.text) !== null) return false;
  return findPlace(line.text) === null || lines.slice(1).some(({ level, bullet }) => level > 0 || bullet !== null);
}

function goesOn(
  open: Extract<ScriptBlock, { kind: "speech" | "action" }> | null,
  line: ScriptLine,
  isBelowCue: boolean,
): open is Extract<ScriptBlock, { kind: "speech" | "action" }> {
  if (open === null) return false;
  if (isBelowCue) return true;
  // A finished sentence is a paragraph.
  if (open.kind === "action") return !sentenceEnd.test(open.text);
  // In scripts with inline names, text after a finished sentence is no longer the speaker's.
  return open.text !== "" && !sentenceEnd.test(open.text) && dropWholeParentheses(line.text) === line.text;
}

function extend(open: { text: string }, text: string): void {
  open.text = joinText(open.text, text);
}

/** A line in parentheses is action. */
function dropWholeParentheses(text: string): string {
  const isWhole = /^[(（[【△▲]/u.test(text) && (dropParentheses(text) === "" || /^[△▲]/u.test(text));
  return isWhole ? text.replace(/^[(（[【△▲]\s?/u, "").replace(/[)）\]】]$/u, "") : text;
}
