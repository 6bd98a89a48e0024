export type MediaKind = "image" | "audio" | "video";

/** What a file is in truth. */
export type InspectedMedia = {
  kind: MediaKind;
  contentType: string;
  width: number | null;
  height: number | null;
  durationMs: number | null;
};

export type Inspection =
  | { kind: "accepted"; media: InspectedMedia }
  /** The reason continues a sentence that begins with the file; the cause is for the log. */
  | { kind: "refused"; reason: string; cause: unknown };

export function refuse(reason: string, cause?: unknown): Inspection {
  return { kind: "refused", reason, cause };
}
