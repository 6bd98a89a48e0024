/** Estimated shots and length of a script's video. */
export type DramaPlan = {
  shots: number;
  seconds: number;
  /** The longest video, which is put on hold. */
  secondsMax: number;
};

/** As the API limits a drama. An outline says little about its length. */
const margin = 1.5;
const textSecondsMin = 30;

type Line = { text: string };
type Shot = { duration: number; lines: readonly Line[] };
type Scene = { lines: readonly Line[] };

const charactersPerSecond = 15;
const ideographsPerSecond = 4.5;
/** Pauses around the lines of a shot, and after each line. */
const pauseSeconds = { shot: 0.5, line: 0.3 };
const titleSeconds = 2.5;
const silentSeconds = 2;
const linesPerShot = 2;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

const heading = /^(INT|EXT|EST|I\/E|INT\.?\/EXT)[. ]|^SCENE\b|^第.{1,5}[场幕]/i;
/** A speaker's name on its own line, or before a colon. */
const cue = /^[\p{Lu}\p{Lo}][\p{Lu}\p{Lo}\p{N} .'’-]{0,39}(\s*\([^)]*\))?$/u;
const spokenAfterColon = /^[\p{L}][\p{L}\p{N} .'’-]{0,39}[:：]\s*(.+)$/u;
const direction = /^\([^)]*\)$/;

/** An estimate: models write scripts differently, and the actual charge may differ. `null` for no text. */
export function planScript(text: string): DramaPlan | null {
  const given = text.trim();
  if (given === "") return null;
  const document = parseDocument(given);
  if (document !== null) return document;
  const plan = planScenes(listScenes(given));
  return { ...plan, secondsMax: Math.max(plan.secondsMax, textSecondsMin) };
}

function listScenes(text: string): Scene[] {
  const { scenes, lines } = readScreenplay(text);
  // A story without dialogue is narrated.
  if (lines.length === 0) return [{ lines: splitSentences(text).map((sentence) => ({ text: sentence })) }];
  const perScene = Math.ceil(lines.length / scenes);
  return Array.from({ length: scenes }, (_, i) => ({ lines: lines.slice(i * perScene, (i + 1) * perScene) }));
}

/** The video of known shots: by their lines, else by their planned duration. */
export function planShots(shots: readonly Shot[]): DramaPlan {
  const seconds = Math.ceil(shots.reduce((sum, shot) => sum + measureShot(shot), titleSeconds));
  return { shots: shots.length, seconds, secondsMax: Math.ceil(seconds * margin) };
}

export function measureShot({ duration, lines }: Shot): number {
  return lines.length === 0 ? duration : lines.reduce((sum, { text }) => sum + measureLine(text), pauseSeconds.shot);
}

/** Approximate speaking time, including pauses. */
function measureLine(text: string): number {
  const ideographCount = text.match(ideographs)?.length ?? 0;
  return (
    ideographCount / ideographsPerSecond + (text.length - ideographCount) / charactersPerSecond + pauseSeconds.line
  );
}

/** Each scene opens with a shot without lines. */
function planScenes(scenes: readonly Scene[]): DramaPlan {
  return planShots(
    scenes.flatMap(({ lines }) => [
      { duration: silentSeconds, lines: [] },
      ...Array.from({ length: Math.ceil(lines.length / linesPerShot) }, (_, index) => ({
        duration: silentSeconds,
        lines: lines.slice(index * linesPerShot, (index + 1) * linesPerShot),
      })),
    ]),
  );
}

function readScreenplay(text: string): { scenes: number; lines: Line[] } {
  const lines: Line[] = [];
  let scenes = 0;
  let said: string[] | null = null;
  const end = () => {
    if (said !== null && said.length > 0) lines.push({ text: said.join(" ") });
    said = null;
  };
  for (const row of text.split("\n").map((each) => each.trim())) {
    const afterColon = spokenAfterColon.exec(row)?.[1];
    if (row === "") end();
    else if (heading.test(row)) {
      end();
      scenes += 1;
    } else if (said !== null) {
      if (!direction.test(row)) said.push(row);
    } else if (afterColon !== undefined) lines.push({ text: afterColon });
    else if (cue.test(row)) said = [];
  }
  end();
  return { scenes: Math.max(1, scenes), lines };
}

function splitSentences(text: string): string[] {
  return text.split(/(?<=[.!?。！？])\s*/u).filter((sentence) => sentence.trim() !== "");
}

/** A document of an earlier stage contains all shots. */
function parseDocument(text: string): DramaPlan | null {
  if (!text.startsWith("{")) return null;
  try {
    const { object, ...document } = JSON.parse(text);
    if (object === "drama.storyboard") return planShots(document.shots);
    if (object === "drama.script") return planScenes(document.scenes);
    return object === "drama.roles" ? planScenes(document.script.scenes) : null;
  } catch {
    // An incomplete document, or a story that starts with a brace.
    return null;
  }
}
