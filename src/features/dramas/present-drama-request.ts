import type { DramaRequest } from "./drama-request.ts";

/** What a drama was asked for, in the words of its endpoint. What it went on from stands in `script`. */
export function presentDramaRequest(request: { type: "drama" }): Record<string, unknown> {
  // Only this feature makes them.
  const { title, source, stage, characters, episode, aspectRatio, isPartialAllowed } = request as DramaRequest;
  return {
    title,
    script: source.kind === "text" ? source.text : source.document,
    stage,
    ...(characters.length === 0 ? {} : { characters: characters.map(presentCharacter) }),
    episode,
    aspect_ratio: aspectRatio,
    ...(isPartialAllowed ? { allow_partial: true } : {}),
  };
}

function presentCharacter({ name, referenceFileId }: DramaRequest["characters"][number]) {
  return { name, ...(referenceFileId === null ? {} : { reference_file_id: referenceFileId }) };
}
