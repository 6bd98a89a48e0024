/** What a script comes to: its shots, and how long its video is. */
export type DramaPlan = { shots: number; seconds: number };

type Line = { text: string };
type Shot = { duration: number; lines: readonly Line[] };
type Scene = { lines: readonly Line[] };

const charactersPerSecond = 15;
const ideographsPerSecond = 4.5;
/** Before and after what is said in a shot, and after each line of it. */
const pauseSeconds = { shot: 0.5, line: 0.3 };
const titleSeconds = 2.5;
const silentSeconds = 2;
const linesPerShot = 2;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

const heading = /^(INT|EXT|EST|I\/E|INT\.?\/EXT)[. ]|^SCENE\b|^第.{1,5}[场幕]/i;
/** A name by itself, as screenplays have it above what is said; or before a colon. */
const cue = /^[\p{Lu}\p{Lo}][\p{Lu}\p{Lo}\p{N} .'’-]{0,39}(\s*\([^)]*\))?$/u;
const spokenAfterColon = /^[\p{L}][\p{L}\p{N} .'’-]{0,39}[:：]\s*(.+)$/u;
const direction = /^\([^)]*\)$/;

/** What a text will about become. What models write of it differs; the bill is what counts. `null` for no text. */
export function planScript(text: string): DramaPlan | null {
  const given = text.trim();
  if (given === "") return null;
  const document = parseDocument(given);
  if (document !== null) return document;
  const { scenes, lines } = readScreenplay(given);
  // A story without dialogue is told.
  if (lines.length === 0) return planScenes([{ lines: splitSentences(given).map((sentence) => ({ text: sentence })) }]);
  const perScene = Math.ceil(lines.length / scenes);
  return planScenes(
    Array.from({ length: scenes }, (_, i) => ({ lines: lines.slice(i * perScene, (i + 1) * perScene) })),
  );
}

/** The video of shots that are known: as long as what is said in each, else as long as it is meant to be. */
export function planShots(shots: readonly Shot[]): DramaPlan {
  const seconds = shots.reduce((sum, shot) => sum + measureShot(shot), titleSeconds);
  return { shots: shots.length, seconds: Math.ceil(seconds) };
}

export function measureShot({ duration, lines }: Shot): number {
  return lines.length === 0 ? duration : lines.reduce((sum, { text }) => sum + measureLine(text), pauseSeconds.shot);
}

/** About how long it takes to say something, pauses included. */
function measureLine(text: string): number {
  const ideographCount = text.match(ideographs)?.length ?? 0;
  return (
    ideographCount / ideographsPerSecond + (text.length - ideographCount) / charactersPerSecond + pauseSeconds.line
  );
}

/** Each scene opens with a shot in which nothing is said. */
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

/** A document of an earlier stage says all of it. */
function parseDocument(text: string): DramaPlan | null {
  if (!text.startsWith("{")) return null;
  try {
    const { object, ...document } = JSON.parse(text);
    if (object === "drama.storyboard") return planShots(document.shots);
    if (object === "drama.script") return planScenes(document.scenes);
    return object === "drama.roles" ? planScenes(document.script.scenes) : null;
  } catch {
    // Half of a document is no document, nor is a story that begins with a brace.
    return null;
  }
}
