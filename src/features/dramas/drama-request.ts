import type { FileId, TaskId } from "../../lib/ids.ts";
import type { DramaStage } from "../catalog/index.ts";
import type { DramaDocument, Look } from "./drama-documents.ts";
import type { SubtitleMode } from "./film/film-order.ts";

/** A validated drama request, as stored with its task. */
export type DramaRequest = {
  type: "drama";
  /** The last stage to run. */
  stage: DramaStage;
  title: string;
  episode: number;
  aspectRatio: string;
  characters: readonly { name: string; referenceFileId: FileId | null }[];
  /** What it starts from: a text, or an earlier stage's document. */
  source: { kind: "text"; text: string } | { kind: "document"; document: DramaDocument };
  /** The longest video, which the hold covers. */
  secondsMax: number;
  isPartialAllowed: boolean;
  /** Absent in the requests of earlier versions: `burned`. */
  subtitles?: SubtitleMode;
  /** Only if the drama makes one shot of an earlier video again. */
  reshoot?: Reshoot;
} & Look;

/** One shot to make; all other parts are those of an earlier video, whose tasks may be deleted by now. */
type Reshoot = {
  fromTaskId: TaskId;
  shotId: string;
  clips: Readonly<Record<string, KeptPart>>;
  lines: Readonly<Record<string, KeptPart>>;
};

/** A clip, image or recording of an earlier video. */
export type KeptPart = { type: GenerationType; fileId: FileId; durationMs: number | null };
type GenerationType = "image" | "video" | "avatar" | "speech";

/** Without fields that are not set. */
export function takeLook({ style, seed }: { [K in keyof Look]: Look[K] | undefined }): Look {
  return { ...(style === undefined ? {} : { style }), ...(seed === undefined ? {} : { seed }) };
}

/** The steps in order. `shots` and `speech` run at the same time and are assembled into `film`. */
export const stepNames = ["script", "roles", "storyboard", "shots", "speech", "film"] as const;
export type StepName = (typeof stepNames)[number];

/** The step that produces a stage's billed output. */
export const stepByStage = {
  script: "script",
  roles: "roles",
  storyboard: "storyboard",
  video: "film",
} as const satisfies Record<DramaStage, StepName>;

/** The stage that produces the document. */
export function nameStage({ object }: DramaDocument): "script" | "roles" | "storyboard" {
  switch (object) {
    case "drama.script":
      return "script";
    case "drama.roles":
      return "roles";
    case "drama.storyboard":
      return "storyboard";
  }
}

/** A drama request in its endpoint's fields. The document it resumed from is in `script`. */
export function presentDramaRequest(request: { type: "drama" }): Record<string, unknown> {
  // Only this feature creates drama requests.
  const { title, source, stage, characters, episode, aspectRatio, isPartialAllowed, subtitles } =
    request as DramaRequest;
  return {
    title,
    script: source.kind === "text" ? source.text : source.document,
    stage,
    ...(characters.length === 0 ? {} : { characters: characters.map(presentCharacter) }),
    episode,
    aspect_ratio: aspectRatio,
    ...(isPartialAllowed ? { allow_partial: true } : {}),
    ...(subtitles === undefined ? {} : { subtitles }),
    ...takeLook(request as DramaRequest),
  };
}

function presentCharacter({ name, referenceFileId }: DramaRequest["characters"][number]) {
  return { name, ...(referenceFileId === null ? {} : { reference_file_id: referenceFileId }) };
}

/** File ids are created up front, one per output, so that a repeated step stores nothing twice. */
export const fileSlots = {
  script: 0,
  roles: 1,
  /** The storyboard without images. */
  shotList: 2,
  storyboard: 3,
  film: 4,
  subtitles: 5,
  poster: 6,
} as const;
export const fileSlotCount = Object.keys(fileSlots).length;
