import type { GenerationRequest, ObstacleSearch } from "../../../../src/providers/generation.ts";
import { findVoice, voiceNames } from "./speech/voices.ts";
import { findVideoSize } from "./video/video-sizes.ts";

const sideMin = 16;
const sideMax = 4096;
const imagesMax = 10;
const videoSecondsMax = 60;
const speechCharactersMax = 20_000;
const speedMin = 0.25;
const speedMax = 4;

type Obstacle = { param: string; message: string };

/** What the studio does not support, and the field at fault. */
export function findStudioObstacle(
  request: GenerationRequest,
  { inputs }: Pick<ObstacleSearch, "inputs">,
): Obstacle | null {
  if (inputs.some(({ role }) => role === "last-image")) {
    return { param: "last_image", message: "The sandbox does not support `last_image`." };
  }
  const [option] = Object.keys(request.options ?? {});
  if (option !== undefined) return { param: option, message: `The sandbox does not support \`${option}\`.` };
  switch (request.type) {
    case "image":
      if (
        ![request.width, request.height].every((side) => isWithin(side, sideMin, sideMax) && Number.isInteger(side))
      ) {
        return { param: "size", message: `Both sides must be ${sideMin} to ${sideMax} pixels.` };
      }
      return isWithin(request.count, 1, imagesMax)
        ? null
        : { param: "n", message: `At most ${imagesMax} images can be made at a time.` };
    case "video":
      if (!isWithin(request.durationSeconds, 1, videoSecondsMax)) {
        return { param: "duration", message: `A video must be 1 to ${videoSecondsMax} seconds long.` };
      }
      return findRatioObstacle(request.aspectRatio);
    case "avatar":
      return findRatioObstacle(request.aspectRatio);
    case "speech":
      return findSpeechObstacle(request);
  }
}

function findRatioObstacle(aspectRatio: string): Obstacle | null {
  return findVideoSize(aspectRatio) === null
    ? { param: "aspect_ratio", message: "The aspect ratio must be from 1:4 to 4:1, such as 16:9." }
    : null;
}

function findSpeechObstacle({ voice, speed, text }: GenerationRequest & { type: "speech" }): Obstacle | null {
  if (findVoice(voice) === null) return { param: "voice", message: `The voices are ${voiceNames.join(", ")}.` };
  if (!isWithin(speed, speedMin, speedMax))
    return { param: "speed", message: `The speed must be from ${speedMin} to ${speedMax}.` };
  return text.length > speechCharactersMax
    ? { param: "input", message: `At most ${speechCharactersMax} characters can be spoken.` }
    : null;
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}
