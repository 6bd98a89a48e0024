import { isFinal, type TaskWarning } from "../tasks/index.ts";
import type { RolesDocument, StoryboardDocument } from "./drama-documents.ts";
import type { MadeFilm } from "./film/film-order.ts";
import { type Filming, hasClip, nameLine } from "./film-shots.ts";

/** Warns of missing shots and lines, if partial films are allowed. */
export function warnOfLost(filming: Filming): TaskWarning[] {
  const { board, lines } = filming;
  const shots = board.shots.filter((shot) => !hasClip(shot, filming)).map(({ id }) => id);
  const unsaid = board.shots
    .filter((shot) => hasClip(shot, filming))
    .flatMap((shot) => shot.lines.map((_, index) => nameLine(shot, index)))
    .filter((name) => {
      const child = lines.get(name);
      return child !== undefined && isFinal(child.state) && child.output.length === 0;
    });
  return [
    ...warn(shots, (names) => `The video omits ${names}, which failed. Only the delivered part is charged.`),
    ...warn(unsaid, (names) => `These lines have no speech and are only captioned: ${names}.`),
  ];
}

/** Warns if the voices took longer than the longest video. */
export function warnOfBeyond({ beyondCount, board }: Filming, secondsMax: number): TaskWarning[] {
  if (beyondCount === 0) return [];
  const shots = beyondCount === 1 ? "shot" : `${beyondCount} shots`;
  const after = board.shots.at(-1)?.id ?? "";
  const message = `The last ${shots} after ${after} did not fit into a video of ${secondsMax} seconds: the voices took longer than estimated.`;
  return [{ code: "shortened", message }];
}

export function warnOfUndrawn({ shots }: StoryboardDocument): TaskWarning[] {
  const undrawn = shots.filter((shot) => shot.image_file_id === null).map(({ id }) => id);
  return warn(undrawn, (names) => `These shots have no image, because generating it failed: ${names}.`);
}

function warn(names: readonly string[], say: (names: string) => string): TaskWarning[] {
  return names.length === 0 ? [] : [{ code: "fewer_outputs", message: say(names.join(", ")) }];
}

const charactersShownMax = 20;

export function warnOfUndrawable({ undrawable }: MadeFilm): TaskWarning[] {
  if (undrawable.length === 0) return [];
  const shown = undrawable.slice(0, charactersShownMax).join(" ");
  const message = `The captions in the video omit these characters, for which there is no font: ${shown}. The subtitle file contains them.`;
  return [{ code: "undrawable_characters", message }];
}

/** Warns if the script is longer than the video. */
export function warnOfShortened(roles: RolesDocument, board: StoryboardDocument, secondsMax: number): TaskWarning[] {
  const written = roles.script.scenes.reduce((sum, { lines }) => sum + lines.length, 0);
  const kept = board.shots.reduce((sum, { lines }) => sum + lines.length, 0);
  if (kept >= written) return [];
  const message = `${written - kept} of ${written} lines did not fit into a video of ${secondsMax} seconds and were left out.`;
  return [{ code: "shortened", message }];
}
