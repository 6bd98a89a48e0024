import type { FileId } from "../../lib/ids.ts";
import type { DramaStage } from "../catalog/index.ts";
import type { DramaDocument } from "./drama-documents.ts";

/** A drama that was found good, as it is kept with its task. */
export type DramaRequest = {
  type: "drama";
  /** Where it ends. */
  stage: DramaStage;
  title: string;
  episode: number;
  aspectRatio: string;
  characters: readonly { name: string; referenceFileId: FileId | null }[];
  /** What it begins with: a text, or what an earlier stage made of one. */
  source: { kind: "text"; text: string } | { kind: "document"; document: DramaDocument };
  secondsMax: number;
  isPartialAllowed: boolean;
};

/** What a drama goes through, in order. The film is made of shots and speech, which are made at the same time. */
export const stepNames = ["script", "roles", "storyboard", "shots", "speech", "film"] as const;
export type StepName = (typeof stepNames)[number];

/** Which step makes what a stage is paid for. */
export const stepByStage = {
  script: "script",
  roles: "roles",
  storyboard: "storyboard",
  video: "film",
} as const satisfies Record<DramaStage, StepName>;

/** The stage whose document it is. */
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

/** The ids of files that a drama makes are made beforehand, each for one thing, so that nothing is made twice. */
export const fileSlots = {
  script: 0,
  roles: 1,
  /** The storyboard before its images are drawn. */
  shotList: 2,
  storyboard: 3,
  film: 4,
  subtitles: 5,
  poster: 6,
} as const;
export const fileSlotCount = Object.keys(fileSlots).length;
