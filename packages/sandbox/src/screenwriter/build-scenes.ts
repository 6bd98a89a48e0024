import { createSceneBuilder } from "./create-scene-builder.ts";
import { isInsidePlace } from "./place-words.ts";
import type { ScriptBlock } from "./read-script.ts";
import type { NameBook } from "./role-names.ts";
import { createScene, type Draft, type DraftScene, isEmpty, startScene } from "./scene-draft.ts";
import { findTime, readTimeToken } from "./time-words.ts";

/** A play has at least one spoken line per this many paragraphs; otherwise it is a story. */
const paragraphsPerLineMax = 3;

/**
 * Groups the blocks of a script into scenes. In a play, paragraphs are action; in a story, the narrator also reads
 * them.
 */
export function buildScenes(blocks: readonly ScriptBlock[], names: NameBook, secondsMax: number): Draft {
  const isPlay = isWrittenAsPlay(blocks);
  const mayMove = !blocks.some(({ kind }) => kind === "heading");
  const builder = createSceneBuilder(names, { mayMove });
  let logline: string | null = null;
  for (const block of blocks) {
    if (builder.isFull(secondsMax)) break;
    switch (block.kind) {
      case "heading":
        builder.open(startScene(block.heading, builder.current(), builder.listPeople()));
        break;
      case "break":
        builder.open(createScene(builder.current()));
        break;
      case "logline":
        logline = block.text;
        if (blocks.length === 1) builder.tell(block.text, { isNarrated: true });
        break;
      case "place":
        if (!isEmpty(builder.current())) builder.open(createScene(null));
        Object.assign(builder.current(), { place: block.text, isSlug: true, isInside: isInsidePlace(block.text) });
        break;
      case "time":
        setTime(builder.current(), block.text);
        break;
      case "speech":
        builder.say(block.speaker, block.text);
        break;
      case "action":
        builder.tell(block.text, { isNarrated: !isPlay });
        break;
      case "point":
        if (!block.isSub && mayMove && !isPlay) builder.open(createScene(builder.current()));
        builder.tell(block.text, { isNarrated: !isPlay });
        break;
    }
  }
  return { logline, scenes: builder.finish() };
}

function isWrittenAsPlay(blocks: readonly ScriptBlock[]): boolean {
  const lines = blocks.filter(({ kind }) => kind === "speech").length;
  const paragraphs = blocks.filter(({ kind }) => kind === "action" || kind === "point").length;
  const hasSlugs = blocks.some((block) => block.kind === "heading" && block.heading.isSlug);
  return lines > 0 && (hasSlugs || lines * paragraphsPerLineMax >= paragraphs);
}

function setTime(scene: DraftScene, words: string): void {
  scene.time = readTimeToken(words) ?? findTime(words) ?? scene.time;
  scene.timeWords = words;
}
